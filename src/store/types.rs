//! What the operations take and give.

use serde::{Deserialize, Serialize};

use crate::model::case::{Case, CaseState};
use crate::model::draft::{Draft, Envelope};
use crate::model::ids::{CaseId, RunId};
use crate::model::item::{Cursor, Disposition, Item};
use crate::model::outbound::{ActionState, OutboundAction};
use crate::model::run::{Run, RunFacts, Usage};
use crate::model::time::Timestamp;

/// A page to be committed.
#[derive(Clone, Debug)]
pub struct PageCommit {
    /// The connector unit's name.
    pub connector: String,
    /// `Connector::identity`.
    pub identity: String,
    /// Items, with dispositions.
    pub items: Vec<Item>,
    /// `None` keeps the old one.
    pub cursor: Option<Cursor>,
    /// The plan generation.
    pub generation: i64,
}

/// What became of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageReport {
    /// Never seen, now work (`Work` or `NoReply`).
    pub new_items: u64,
    /// Known key or identity, other revision.
    pub updated_items: u64,
    /// Known, nothing new.
    pub seen_items: u64,
    /// Ours: by disposition, or because a key or identity equals a marker or receipt of our outbound actions.
    pub own_items: u64,
    /// Baseline.
    pub baseline_items: u64,
    /// Quarantined.
    pub quarantined_items: u64,
    /// Cases opened.
    pub cases_made: u64,
    /// Items that joined a case (which then is `new` again unless it is running or approved; its open draft is stale).
    pub cases_joined: u64,
}

/// What is remembered of a connector's sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncState {
    /// Whose cursor it is.
    pub identity: String,
    /// The cursor.
    pub cursor: Option<Cursor>,
    /// When the last item that became work was committed.
    pub last_new_item_at: Option<Timestamp>,
    /// Items in the ledger, baseline included.
    pub items_known: u64,
    /// Of these, baseline: never worked on.
    pub items_baseline: u64,
}

/// A new case with what routes look at.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseFacts {
    /// The case.
    pub case: Case,
    /// Its newest item.
    pub newest: Item,
    /// Disposition of the newest item, after own-mark checks.
    pub disposition: Disposition,
    /// An earlier item of this case that looked automatic came within a day (loop guard).
    pub automatic_before: bool,
    /// Something was sent to the author's address before.
    pub answered: bool,
}

/// Where a connector sends, and whether without a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WayOut {
    /// The connector unit's name.
    pub connector: String,
    /// [`Connector::destination`](crate::platform::Connector::destination).
    pub destination: String,
    /// Its rule is `outbound = "auto"`.
    pub auto: bool,
}

/// What ingest decided about a new case.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// To an engine's queue.
    Queue {
        /// The route's name.
        route: String,
        /// The engine unit.
        engine: String,
        /// Higher first.
        priority: i64,
        /// Why it is not the route's first engine: "fell back from claude: disabled"; said in the draft.
        instead: Option<String>,
        /// "route mail-draft: connector matches…", for the journal.
        why: String,
    },
    /// Parked: for the user, or until then.
    Park {
        /// Why.
        reason: String,
        /// When it is looked at once more.
        until: Option<Timestamp>,
    },
    /// Recorded, nothing to do.
    Dismiss {
        /// Why.
        reason: String,
    },
}

/// Over which runs a cap goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapScope {
    /// Those of the engine since a moment.
    Engine,
    /// Those of all engines since a moment.
    All,
    /// Those of the case.
    Case,
    /// Those of the case on the engine.
    EngineCase,
}

/// A cap on money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Over which runs.
    pub scope: CapScope,
    /// From when on they count; says nothing for a case.
    pub since: Timestamp,
    /// When there is money again; `None` never.
    pub until: Option<Timestamp>,
    /// Millionths of a US dollar.
    pub micro_usd_max: u64,
    /// For people: "today", "this month", "for this case".
    pub span: &'static str,
}

impl Cap {
    /// Whose cap it is, for people.
    #[must_use]
    pub fn of<'a>(&self, engine: &'a str) -> &'a str {
        match self.scope {
            CapScope::Engine | CapScope::EngineCase => engine,
            CapScope::All | CapScope::Case => "the budget of all engines",
        }
    }
}

/// What a run may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The engine's number of runs, since when they count, and the moment from which there are new ones.
    pub runs: Option<(u32, Timestamp, Timestamp)>,
    /// The most it can cost, or why nobody knows.
    pub reserve: Result<u64, String>,
    /// What must hold with that.
    pub caps: Vec<Cap>,
}

impl Default for Allowance {
    /// Free and without limits.
    fn default() -> Self {
        Self { runs: None, reserve: Ok(0), caps: Vec::new() }
    }
}

/// What one run cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCost {
    /// When it began.
    pub started_at: Timestamp,
    /// The engine unit.
    pub engine: String,
    /// The case.
    pub case: CaseId,
    /// The route on which the case is now.
    pub route: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What it counts for against budgets.
    pub spent_micro_usd: u64,
}

/// Whether a run may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginRun {
    /// It is recorded as running.
    Started(RunId),
    /// Runs or money are used up; the case was parked and the lease is gone.
    OverBudget {
        /// When there is a new budget; `None`: the user is asked.
        until: Option<Timestamp>,
        /// For people.
        reason: String,
    },
}

/// How a run ended, for the record; each moves the case.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on its way to the writer; never kept in numbers"
)]
pub enum RunEnd {
    /// A draft: case to `review`; an older open draft is superseded.
    Draft {
        /// The connector that would send it.
        connector: String,
        /// Who gets it.
        envelope: Envelope,
        /// The text.
        body: String,
        /// "template", "local (claude was down)".
        made_by: String,
        /// For the reviewer.
        remarks: Vec<String>,
    },
    /// Case to `closed`.
    NothingToDo {
        /// The engine's reason.
        reason: String,
    },
    /// Case to `parked` without a time; the question is the reason.
    Question {
        /// The engine's question.
        text: String,
    },
    /// No outcome.
    Failed {
        /// The failure's word.
        word: String,
        /// For people, masked.
        detail: String,
        /// What becomes of the case.
        next: AfterFailure,
    },
}

/// What becomes of a case after a failed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// `parked`, woken at `until`; `None`: waits for the user.
    Park {
        /// Why.
        reason: String,
        /// When it wakes.
        until: Option<Timestamp>,
    },
    /// `parked` until then; the engine was not fit to work, so it does not count as a try of the case.
    Wait {
        /// Why.
        reason: String,
        /// When it wakes.
        until: Timestamp,
    },
    /// Back to `queued` for another engine (declared fall-back).
    Requeue {
        /// The engine unit.
        engine: String,
        /// Why.
        reason: String,
    },
    /// `dead`.
    Dead {
        /// Why.
        reason: String,
    },
}

/// A run's end, fenced.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishRun {
    /// The case.
    pub case: CaseId,
    /// The lease's token.
    pub token: i64,
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub end: RunEnd,
    /// What it cost.
    pub usage: Usage,
    /// What it told of itself.
    pub facts: RunFacts,
    /// The labels of the case from here on; `None`: as they were.
    pub labels: Option<Vec<String>>,
    /// What it counts for against budgets, in millionths of a US dollar; `None`: all that was set aside for it.
    pub spent_micro_usd: Option<u64>,
    /// The plan generation.
    pub generation: i64,
}

/// A draft that no engine of ours made.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The case.
    pub case: CaseId,
    /// How many items the case held when it was looked at.
    pub items: u32,
    /// The connector that would send it.
    pub connector: String,
    /// Where that sends now; empty while it is off.
    pub destination: String,
    /// Who gets it.
    pub envelope: Envelope,
    /// The text.
    pub body: String,
    /// Who wrote it.
    pub by: String,
    /// For the reviewer.
    pub remarks: Vec<String>,
    /// The plan generation.
    pub generation: i64,
}

/// What start-up found of a dead predecessor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// `running` cases returned to the queue (their runs are `interrupted`).
    pub requeued: u64,
    /// `running` cases parked because their attempts are used up.
    pub parked: u64,
    /// `sending` actions that are now `uncertain`.
    pub uncertain: u64,
}

/// One line of a case's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRow {
    /// When.
    pub at: Timestamp,
    /// `item`, `routed`, `claimed`, `run`, `draft`, `edited`, `approved`, `sending`, `sent`, `uncertain`, `parked`…
    pub event: String,
    /// For people.
    pub detail: String,
}

/// A plan under its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRow {
    /// The number.
    pub generation: i64,
    /// Hash over all units, 64 hex digits.
    pub hash: String,
    /// When it was applied first.
    pub at: Timestamp,
}

/// The unbroken record of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// The case.
    pub case: Case,
    /// Oldest first.
    pub items: Vec<Item>,
    /// Oldest first.
    pub runs: Vec<Run>,
    /// Oldest first.
    pub drafts: Vec<Draft>,
    /// Oldest first.
    pub actions: Vec<OutboundAction>,
    /// Oldest first, at most `limits::JOURNAL_ROWS_SHOWN_MAX`.
    pub journal: Vec<JournalRow>,
    /// The plans that runs and drafts were made under, by generation: hash of all units, and when it was applied first.
    #[serde(default)]
    pub plans: Vec<PlanRow>,
}

/// What becomes due by time alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due<'a> {
    /// Parked cases.
    Parked,
    /// Deferred drafts.
    Drafts,
    /// Approved and uncertain actions, without those of some connectors.
    Actions(&'a [&'a str]),
    /// Leases that run out.
    Leases,
}

/// Counts for a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Cases by state, every state named.
    pub cases: Vec<(CaseState, u64)>,
    /// Actions by state, every state named.
    pub actions: Vec<(ActionState, u64)>,
    /// Drafts that wait for a person now.
    pub drafts_open: u64,
    /// The oldest waiting draft.
    pub oldest_draft_at: Option<Timestamp>,
    /// The oldest queued case.
    pub oldest_queued_at: Option<Timestamp>,
}
