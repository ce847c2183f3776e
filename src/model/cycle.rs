//! Cycle summaries: what one pass of a runtime did, as a type shared by writer and reader.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// The shape's version; renaming or removing a field raises it.
pub const SUMMARY_VERSION: u32 = 1;

/// Why a cycle ran. Recorded for people; a cycle is never told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// First after the start.
    Startup,
    /// Its time had come.
    Timer,
    /// Somebody wrote something that it may want to look at.
    WakeUp,
    /// A person asked for it.
    Manual,
    /// A unit failed whose `on_failure` names this one.
    OnFailure,
}

/// One error of a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleError {
    /// The unit it belongs to.
    pub unit: String,
    /// `network`, `auth`, …
    pub class: String,
    /// The whole chain in one line, secrets masked.
    pub message: String,
}

/// What a sync loop did in one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncSummary {
    /// Pages committed.
    pub pages: u64,
    /// Items never seen before that became work.
    pub new_items: u64,
    /// Known items whose content changed.
    pub updated_items: u64,
    /// Items seen before.
    pub seen_items: u64,
    /// Our own actions read back.
    pub own_items: u64,
    /// There before the connector was switched on.
    pub baseline_items: u64,
    /// Held for the user because they could not be read.
    pub quarantined_items: u64,
    /// Cases opened.
    pub cases_made: u64,
    /// Items that joined a case.
    pub cases_joined: u64,
    /// The connector's remarks.
    pub notes: Vec<String>,
}

/// What ingest did: new cases routed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngestSummary {
    /// Given to an engine's queue.
    pub queued: u64,
    /// Recorded without work: no reply wanted.
    pub dismissed: u64,
    /// Parked: no route, quarantined, engine not available.
    pub parked: u64,
}

/// What the worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSummary {
    /// Leases of dead workers taken back.
    pub reaped: u64,
    /// Cases taken.
    pub claimed: u64,
    /// Drafts made.
    pub drafts: u64,
    /// Runs that came to "nothing to do".
    pub nothing_to_do: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Cases parked.
    pub parked: u64,
}

/// What review did: queue kept in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewSummary {
    /// Drafts waiting for a person now.
    pub open: u64,
    /// Drafts approved by rule (`outbound = "auto"`).
    pub auto_approved: u64,
}

/// What the outbound runtime did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboundSummary {
    /// Sent, with receipt.
    pub sent: u64,
    /// Asked about and found.
    pub confirmed: u64,
    /// Tried again later.
    pub retried: u64,
    /// Not known whether sent.
    pub uncertain: u64,
    /// Left to the user.
    pub held: u64,
    /// Given up.
    pub dead: u64,
    /// Would have been sent, were this not a rehearsal.
    pub rehearsed: u64,
}

/// What the scheduler did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerSummary {
    /// Timers that take part.
    pub timers: u64,
    /// Cases opened because their time had come.
    pub cases_made: u64,
    /// Missed times that get no case, as their units say.
    pub passed_over: u64,
}

/// What the rotation runtime did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationSummary {
    /// Secrets that are to be replaced some day.
    pub secrets: u64,
    /// Replaced.
    pub rotated: u64,
    /// Could not be replaced: the old value stays.
    pub failed: u64,
    /// What a person has to do, with the command: "`mail/work` ends in 3d: workagent secret rotate mail/work".
    pub notes: Vec<String>,
}

/// What the pending runtime did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSummary {
    /// Parked cases whose time had come.
    pub woken: u64,
    /// Still parked.
    pub parked: u64,
}

/// What the onboarding runtime saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnboardingSummary {
    /// What is to be done next, each with its command; the most pressing first.
    pub next: Vec<String>,
}

/// What a channel did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelSummary {
    /// Notices told.
    pub told: u64,
    /// Things that wait to be told.
    pub waiting: u64,
    /// Messages taken.
    pub heard: u64,
    /// Messages that were taken before.
    pub repeated: u64,
    /// Decisions made.
    pub decided: u64,
    /// Messages that were refused: of somebody else, wrong, late.
    pub refused: u64,
    /// How it stands, for people: "paired with @me:example.org".
    pub notes: Vec<String>,
}

/// One runtime's part of an app cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeSummary {
    /// A connector's sync loop.
    Sync(SyncSummary),
    /// Ingest.
    Ingest(IngestSummary),
    /// Worker.
    Worker(WorkerSummary),
    /// Review.
    Review(ReviewSummary),
    /// Outbound.
    Outbound(OutboundSummary),
    /// Pending.
    Pending(PendingSummary),
    /// Onboarding.
    Onboarding(OnboardingSummary),
    /// Scheduler.
    Scheduler(SchedulerSummary),
    /// Rotation.
    Rotation(RotationSummary),
    /// A channel's loop.
    Channel(ChannelSummary),
    /// Switched off, broken, or not there yet: did nothing, and why.
    Disabled {
        /// The reason: `disabled: [install] enabled = false (inbox.connector.toml:12:1)`. Shared: it is the same in
        /// each cycle.
        reason: Arc<str>,
    },
}

impl RuntimeSummary {
    /// A pass that began or ended jobs: by that, another one may find work that it could not take.
    #[must_use]
    pub fn moved_jobs(&self) -> bool {
        match self {
            Self::Worker(WorkerSummary { reaped: _, claimed, drafts, nothing_to_do, failed, parked }) => {
                claimed + drafts + nothing_to_do + failed + parked > 0
            }
            Self::Outbound(OutboundSummary {
                sent,
                confirmed,
                retried,
                uncertain,
                held,
                dead,
                rehearsed,
            }) => sent + confirmed + retried + uncertain + held + dead + rehearsed > 0,
            _ => false,
        }
    }

    /// Adds the counts of a further pass of the same runtime; gauges take the newer value.
    pub fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Sync(a), Self::Sync(b)) => {
                a.pages += b.pages;
                a.new_items += b.new_items;
                a.updated_items += b.updated_items;
                a.seen_items += b.seen_items;
                a.own_items += b.own_items;
                a.baseline_items += b.baseline_items;
                a.quarantined_items += b.quarantined_items;
                a.cases_made += b.cases_made;
                a.cases_joined += b.cases_joined;
                a.notes.extend(b.notes.iter().cloned());
            }
            (Self::Ingest(a), Self::Ingest(b)) => {
                a.queued += b.queued;
                a.dismissed += b.dismissed;
                a.parked += b.parked;
            }
            (Self::Worker(a), Self::Worker(b)) => {
                a.reaped += b.reaped;
                a.claimed += b.claimed;
                a.drafts += b.drafts;
                a.nothing_to_do += b.nothing_to_do;
                a.failed += b.failed;
                a.parked += b.parked;
            }
            (Self::Review(a), Self::Review(b)) => {
                a.open = b.open;
                a.auto_approved += b.auto_approved;
            }
            (Self::Outbound(a), Self::Outbound(b)) => {
                a.sent += b.sent;
                a.confirmed += b.confirmed;
                a.retried += b.retried;
                a.uncertain += b.uncertain;
                a.held += b.held;
                a.dead += b.dead;
                a.rehearsed += b.rehearsed;
            }
            (Self::Pending(a), Self::Pending(b)) => {
                a.woken += b.woken;
                a.parked = b.parked;
            }
            (Self::Onboarding(a), Self::Onboarding(b)) => a.next.clone_from(&b.next),
            (Self::Scheduler(a), Self::Scheduler(b)) => {
                a.timers = b.timers;
                a.cases_made += b.cases_made;
                a.passed_over += b.passed_over;
            }
            (Self::Rotation(a), Self::Rotation(b)) => {
                a.secrets = b.secrets;
                a.rotated += b.rotated;
                a.failed += b.failed;
                a.notes.clone_from(&b.notes);
            }
            (Self::Channel(a), Self::Channel(b)) => {
                a.told += b.told;
                a.waiting = b.waiting;
                a.heard += b.heard;
                a.repeated += b.repeated;
                a.decided += b.decided;
                a.refused += b.refused;
                a.notes.clone_from(&b.notes);
            }
            // Passes of one runtime give one kind of summary.
            (_, _) => {}
        }
    }
}

/// One pass of one runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleRecord {
    /// The unit, `inbox.connector` or `worker.runtime`.
    pub unit: Arc<str>,
    /// What it did.
    pub summary: RuntimeSummary,
    /// What went wrong.
    pub errors: Vec<CycleError>,
}

/// One pass over all runtimes: the record of `run --once`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleSummary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// The plan generation.
    pub generation: i64,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Runtime by runtime, in the order of the way through the house.
    pub runtimes: Vec<CycleRecord>,
}
