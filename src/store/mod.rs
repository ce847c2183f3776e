//! The only home of SQL. One writer task on one connection with group commit; a read-only pool of two.
//!
//! Every public operation is one transaction. Runtimes look at the store and do what is due.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::model::case::{Case, CaseState, Lease};
use crate::model::draft::{Draft, Envelope};
use crate::model::ids::{ActionId, CaseId, DraftId, RunId};
use crate::model::item::{Cursor, Disposition, Item};
use crate::model::outbound::{ActionState, OutboundAction, Payload, Receipt};
use crate::model::run::{Run, Usage};
use crate::model::time::{Clock, Timestamp};

/// How to open a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The database file; its directory is made (0700), the file is 0600.
    pub path: PathBuf,
    /// `synchronous=NORMAL` instead of FULL.
    pub normal: bool,
    /// Now.
    pub clock: Clock,
}

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Made by a newer program; the file was not touched.
    #[error("the database {path} was made by a newer workagent (schema {found}, this one knows {known})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema number.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// A migration that already ran has another text now.
    #[error("migration {number} of the database {path} is not the one this program knows")]
    Altered {
        /// The file.
        path: PathBuf,
        /// Which.
        number: i64,
    },
    /// The integrity check failed.
    #[error("the database {path} is damaged: {detail}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// Nothing with that id.
    #[error("there is no {what}")]
    NotFound {
        /// "draft d12".
        what: String,
    },
    /// The state does not allow it: "action a3 is sent and cannot be cancelled".
    #[error("{why}")]
    Refused {
        /// For people.
        why: String,
    },
    /// The lease was lost: it ran out and somebody else may have taken the case. Nothing was written.
    #[error("the lease on case {0} was lost")]
    LeaseLost(CaseId),
    /// SQLite or the disk.
    #[error("{doing}")]
    Sql {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: sqlx::Error,
    },
    /// The writer is gone (the store was closed).
    #[error("the store is closed")]
    Closed,
}

/// Wake-ups without data: somebody wrote something that the runtime may want to look at.
#[derive(Debug, Default)]
pub struct Wakeups {
    /// New cases to route.
    pub ingest: Notify,
    /// Queued cases.
    pub worker: Notify,
    /// Drafts came, went or changed.
    pub review: Notify,
    /// Approved actions.
    pub outbound: Notify,
    /// Parked cases.
    pub pending: Notify,
}

/// A handle to the store; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    wakeups: Arc<Wakeups>,
}

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
        /// "route mail-draft: connector matches…", for the journal.
        why: String,
    },
    /// Parked for the user.
    Park {
        /// Why.
        reason: String,
    },
    /// Recorded, nothing to do.
    Dismiss {
        /// Why.
        reason: String,
    },
}

/// Whether a run may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginRun {
    /// It is recorded as running.
    Started(RunId),
    /// The engine's daily number of runs is used up; the case was parked until then and the lease is gone.
    OverBudget {
        /// Midnight in local time.
        until: Timestamp,
    },
}

/// How a run ended, for the record; each moves the case.
#[derive(Clone, Debug, PartialEq)]
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
}

/// What becomes due by time alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Parked cases and deferred drafts.
    Parked,
    /// Approved and uncertain actions.
    Actions,
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

type Result<T> = std::result::Result<T, StoreError>;

#[expect(unused_variables, clippy::todo, reason = "skeleton")]
impl Store {
    /// Opens, checks, migrates (with a backup copy before), starts the writer.
    pub async fn open(options: StoreOptions) -> Result<Self> {
        todo!()
    }
    /// Takes what still waits in the writer, checkpoints, closes.
    pub async fn close(&self) {
        todo!()
    }
    /// Who is woken by writes.
    #[must_use]
    pub fn wakeups(&self) -> &Wakeups {
        &self.wakeups
    }

    // start-up
    /// Returns what a dead predecessor held. The caller holds the instance lock, so every lease is dead.
    pub async fn recover(&self, attempts_max: u32) -> Result<Recovery> {
        todo!()
    }
    /// The number of the plan with this hash: the last one's if the hash is the same, else a new one.
    pub async fn generation(&self, plan_hash: &str) -> Result<i64> {
        todo!()
    }

    // sync
    /// What is remembered of a connector.
    pub async fn sync_state(&self, connector: &str) -> Result<Option<SyncState>> {
        todo!()
    }
    /// Items, cursor and cases in one transaction. Writes nothing if there is nothing new and the cursor is the same.
    pub async fn commit_page(&self, commit: PageCommit) -> Result<PageReport> {
        todo!()
    }

    // ingest
    /// Cases in state `new`, oldest first.
    pub async fn new_cases(&self, limit: usize) -> Result<Vec<CaseFacts>> {
        todo!()
    }
    /// Moves `new` cases on. A case that is not `new` any more is left alone.
    pub async fn admit(&self, admissions: Vec<(CaseId, Admission)>) -> Result<()> {
        todo!()
    }

    // worker
    /// Takes up to `limit` cases queued for `engine`, highest priority first, oldest first; counts the attempt.
    pub async fn claim(&self, engine: &str, limit: usize, lease: Duration) -> Result<Vec<Lease>> {
        todo!()
    }
    /// Extends leases; returns the cases whose lease was lost.
    pub async fn renew(&self, leases: Vec<(CaseId, i64)>, lease: Duration) -> Result<Vec<CaseId>> {
        todo!()
    }
    /// Returns cases whose lease ran out to the queue, or parks them when their attempts are used up.
    pub async fn reap(&self, attempts_max: u32) -> Result<u64> {
        todo!()
    }
    /// The newest items of a case, oldest first.
    pub async fn case_items(&self, case: CaseId, limit: usize) -> Result<Vec<Item>> {
        todo!()
    }
    /// What people said when rejecting drafts of this case, oldest first.
    pub async fn rejection_notes(&self, case: CaseId) -> Result<Vec<String>> {
        todo!()
    }
    /// Records a run as running, within the engine's daily number of runs (since `day_start`).
    pub async fn begin_run(
        &self,
        case: CaseId,
        token: i64,
        engine: &str,
        generation: i64,
        budget: Option<(u32, Timestamp, Timestamp)>,
    ) -> Result<BeginRun> {
        todo!()
    }
    /// Records a run's end and moves the case, in one transaction. A draft for a case into which a new item came
    /// meanwhile is made stale at once.
    pub async fn finish_run(&self, finish: FinishRun) -> Result<Option<DraftId>> {
        todo!()
    }
    /// Gives a claimed case back to the queue; its run, if any, is `interrupted`.
    pub async fn give_back(&self, case: CaseId, token: i64, run: Option<RunId>, why: &str) -> Result<()> {
        todo!()
    }
    /// An engine is not to be used before this moment. Survives restarts.
    pub async fn set_cooldown(&self, engine: &str, until: Timestamp, reason: &str) -> Result<()> {
        todo!()
    }
    /// Cool-downs that are not over, by engine.
    pub async fn cooldowns(&self) -> Result<Vec<(String, Timestamp, String)>> {
        todo!()
    }

    // review
    /// Open drafts, oldest first; deferred ones only if `deferred`.
    pub async fn open_drafts(&self, deferred: bool) -> Result<Vec<Draft>> {
        todo!()
    }
    /// One draft.
    pub async fn draft(&self, id: DraftId) -> Result<Draft> {
        todo!()
    }
    /// The engine's remarks on a draft.
    pub async fn draft_remarks(&self, id: DraftId) -> Result<Vec<String>> {
        todo!()
    }
    /// Why a case went to its engine, as ingest recorded it.
    pub async fn case_route(&self, case: CaseId) -> Result<Option<String>> {
        todo!()
    }
    /// Another text; `hash` is of the version the person saw. Gives the new version.
    pub async fn edit_draft(&self, id: DraftId, hash: &str, body: String) -> Result<Draft> {
        todo!()
    }
    /// Draft `approved`, action made with `not_before = now + hold`, case `approved`, in one transaction.
    /// Refused: "the draft changed", already decided, stale without `stale_ok`.
    pub async fn approve(
        &self,
        id: DraftId,
        hash: &str,
        hold: Duration,
        by: &str,
        stale_ok: bool,
    ) -> Result<ActionId> {
        todo!()
    }
    /// With `retry`: case back to `queued` with the note for the engine and one more attempt; else `dismissed`.
    pub async fn reject(&self, id: DraftId, note: &str, retry: bool) -> Result<()> {
        todo!()
    }
    /// Out of the list until then.
    pub async fn defer(&self, id: DraftId, until: Timestamp) -> Result<()> {
        todo!()
    }

    // outbound
    /// Actions in this state whose time has come, oldest first.
    pub async fn due_actions(&self, state: ActionState, limit: usize) -> Result<Vec<OutboundAction>> {
        todo!()
    }
    /// `approved → sending`, with the payload if there is none yet; gives the action as it is to be sent, or `None`
    /// when it is not `approved` any more (cancelled meanwhile).
    pub async fn mark_sending(&self, id: ActionId, payload: Payload) -> Result<Option<OutboundAction>> {
        todo!()
    }
    /// `→ sent`, case `sent`.
    pub async fn mark_sent(&self, id: ActionId, receipt: Receipt) -> Result<()> {
        todo!()
    }
    /// `→ approved`, not before `at`: surely not sent.
    pub async fn mark_not_sent(&self, id: ActionId, at: Timestamp, why: &str) -> Result<()> {
        todo!()
    }
    /// `→ uncertain`, to be asked about at `at`.
    pub async fn mark_uncertain(&self, id: ActionId, at: Timestamp, why: &str) -> Result<()> {
        todo!()
    }
    /// `→ held` for the user.
    pub async fn mark_held(&self, id: ActionId, why: &str) -> Result<()> {
        todo!()
    }
    /// `→ dead`, case `dead`.
    pub async fn mark_dead(&self, id: ActionId, why: &str) -> Result<()> {
        todo!()
    }
    /// A person takes it back: from `approved` or `held` only; the case is dismissed.
    pub async fn cancel_action(&self, id: ActionId) -> Result<()> {
        todo!()
    }
    /// A person says of a held one: send it (again), or it was sent.
    pub async fn release_action(&self, id: ActionId, was_sent: bool) -> Result<()> {
        todo!()
    }
    /// All actions, newest first, optionally in one state.
    pub async fn actions(&self, state: Option<ActionState>, limit: usize) -> Result<Vec<OutboundAction>> {
        todo!()
    }

    // pending
    /// Parked cases with a time that has come go back to `new`; `sent` cases untouched since `sent_before` are closed.
    pub async fn wake_due(&self, sent_before: Timestamp) -> Result<u64> {
        todo!()
    }
    /// The earliest moment at which something becomes due by time alone: parked, action, lease, deferred draft.
    pub async fn next_due(&self, what: Due) -> Result<Option<Timestamp>> {
        todo!()
    }

    // people
    /// Cases, newest change first, optionally in one state.
    pub async fn cases(&self, state: Option<CaseState>, limit: usize) -> Result<Vec<Case>> {
        todo!()
    }
    /// The whole record of one case.
    pub async fn case_record(&self, id: CaseId) -> Result<CaseRecord> {
        todo!()
    }
    /// A person wants another try of a parked or dead case: one more attempt, not a fresh set.
    pub async fn retry_case(&self, id: CaseId) -> Result<()> {
        todo!()
    }
    /// A person says: nothing to do here. Open drafts are superseded.
    pub async fn dismiss_case(&self, id: CaseId, why: &str) -> Result<()> {
        todo!()
    }
    /// Counts.
    pub async fn counts(&self) -> Result<Counts> {
        todo!()
    }
    /// A flag that survives restarts (`paused`).
    pub async fn flag(&self, name: &str) -> Result<Option<String>> {
        todo!()
    }
    /// Sets or removes a flag.
    pub async fn set_flag(&self, name: &str, value: Option<&str>) -> Result<()> {
        todo!()
    }
}
