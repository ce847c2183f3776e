//! What travels over the control socket, and what `--json` prints. Stable: a field may be added, renaming or removing
//! one raises [`API_VERSION`].

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub mod channels;
pub mod cost;
pub mod digest;
pub mod log;
mod pause;
mod review;
pub mod secrets;
pub mod trust;
pub mod units;

pub use self::pause::{PauseBody, ResumeBody};
pub use self::review::{
    AnswerBody, ApproveBody, Approved, AttachmentView, DeferBody, EditBody, EffectView, HiddenView,
    ProposeBody, Proposed, Reason, RejectBody, ReleaseBody, ReviewQuery, ReviewView, TakeOverBody,
};
use super::health::Health;
use crate::model::case::Case;
use crate::model::limits::JOURNAL_ROWS_SHOWN_MAX;
use crate::model::pause::Pauses;
use crate::model::routing::Explanation;
use crate::model::time::Timestamp;
use crate::store::{Counts, JournalRow};

/// The version both ends must share.
pub const API_VERSION: u32 = 1;

/// The header that carries [`API_VERSION`], both ways.
pub const API_HEADER: &str = "workagent-api";

/// An error as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiError {
    /// A stable word: `usage`, `not-found`, `refused`, `too-large`, `wire-mismatch`, `bug`, or an error class.
    pub class: String,
    /// For people, secrets masked.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The program's version.
    pub version: String,
    /// [`API_VERSION`].
    pub api: u32,
    /// The daemon's process.
    pub pid: u32,
}

impl Hello {
    /// This process.
    #[must_use]
    pub fn ours() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), api: API_VERSION, pid: std::process::id() }
    }
}

/// Real sends, or pretended ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Approved replies are sent.
    Live,
    /// Real reads, pretended sends.
    Rehearsal,
}

/// `status --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatusView {
    /// [`API_VERSION`].
    pub api: u32,
    /// The daemon's version.
    pub version: String,
    /// A daemon runs. If not, this is what unit files and record say by themselves.
    #[serde(default)]
    pub running: bool,
    /// The daemon's process.
    #[serde(default)]
    pub pid: Option<u32>,
    /// The plan generation that runs.
    pub generation: i64,
    /// Whether sends are real.
    pub mode: Mode,
    /// The global stop is on.
    pub paused: bool,
    /// All stops, those of single units too, with their ends.
    #[serde(default)]
    pub pauses: Pauses,
    /// Since when the daemon runs.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// The moment this was written; ages count from here.
    pub now: Timestamp,
    /// Every unit, connectors first, then by name.
    pub units: Vec<UnitView>,
    /// The record at a glance.
    pub counts: CountsView,
    /// Errors in unit files.
    pub findings: u64,
    /// Since when there are any.
    #[serde(default)]
    pub findings_since: Option<Timestamp>,
    /// The generation that the daemon is pinned to, edits notwithstanding.
    #[serde(default)]
    pub pinned: Option<i64>,
    /// The target that was isolated.
    #[serde(default)]
    pub target: Option<String>,
    /// The stores of secrets in use, the default first.
    #[serde(default)]
    pub secret_stores: Vec<secrets::StoreView>,
    /// Where caps on money stand.
    #[serde(default)]
    pub budgets: Vec<cost::BudgetView>,
    /// Anything else a person should know: "replies are held: 2".
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What became of a unit's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadState {
    /// Read and understood.
    Loaded,
    /// Named by another unit, not there.
    NotFound,
    /// Has errors.
    BadSetting,
    /// Switched off for good.
    Masked,
}

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActiveState {
    /// Does nothing: disabled, masked, broken.
    Inactive,
    /// Being started.
    Activating,
    /// Runs.
    Active,
    /// Being replaced.
    Reloading,
    /// Being stopped.
    Deactivating,
    /// Stopped by errors.
    Failed,
}

/// One unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitView {
    /// `inbox.connector`.
    pub unit: String,
    /// For people.
    #[serde(default)]
    pub description: String,
    /// What became of its file.
    pub load: LoadState,
    /// What it does.
    pub active: ActiveState,
    /// It is meant to run.
    pub enabled: bool,
    /// Why it is as it is, one line.
    #[serde(default)]
    pub reason: Option<String>,
    /// Where the reason stands, `FILE:LINE:COLUMN`.
    #[serde(default)]
    pub place: Option<String>,
    /// It runs its last good version; this is what is wrong with the present one, with the place.
    #[serde(default)]
    pub kept: Option<String>,
    /// How it is, judged at [`StatusView::now`].
    #[serde(default)]
    pub health: Option<Health>,
    /// Since when it is so: active, off, or failing.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// A try is going on since.
    #[serde(default)]
    pub running_since: Option<Timestamp>,
    /// Last try that came to an end, however it ended. "Really polled", not a connection test and not a look at
    /// whether refused credentials were replaced.
    #[serde(default)]
    pub last_try: Option<Timestamp>,
    /// Last try that went well.
    #[serde(default)]
    pub last_success: Option<Timestamp>,
    /// Last time something new came.
    #[serde(default)]
    pub last_new_item: Option<Timestamp>,
    /// Last connection test, apart from real polls.
    #[serde(default)]
    pub last_probe: Option<ProbeView>,
    /// When it is due next.
    #[serde(default)]
    pub next_due: Option<Timestamp>,
    /// Its own pace, where it has one; what "late" is measured by. Travels as whole seconds.
    #[serde(default, rename = "every_s", with = "seconds")]
    pub every: Option<Duration>,
    /// What is promised of a connector's replies after a lost answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<String>,
    /// Tries in a row that failed.
    #[serde(default)]
    pub failures_in_a_row: u32,
    /// Times its loop had to be begun again after a fault of workagent itself (a panic).
    #[serde(default)]
    pub restarts: u32,
    /// The last error, while it matters.
    #[serde(default)]
    pub last_error: Option<ErrorView>,
    /// An engine that gets no case for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestView>,
    /// Further lines, secrets masked: "IMAP IDLE since 5m", "3 runs today of 20".
    #[serde(default)]
    pub details: Vec<String>,
}

impl UnitView {
    /// A loaded, enabled, running unit about which nothing else is known; for `..UnitView::active(name)`.
    #[must_use]
    pub fn active(unit: impl Into<String>) -> Self {
        Self {
            unit: unit.into(),
            description: String::new(),
            load: LoadState::Loaded,
            active: ActiveState::Active,
            enabled: true,
            reason: None,
            place: None,
            kept: None,
            health: None,
            since: None,
            running_since: None,
            last_try: None,
            last_success: None,
            last_new_item: None,
            last_probe: None,
            next_due: None,
            every: None,
            replies: None,
            failures_in_a_row: 0,
            restarts: 0,
            last_error: None,
            rest: None,
            details: Vec::new(),
        }
    }
}

/// Why an engine gets no case, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestView {
    /// Until then.
    pub until: Timestamp,
    /// "usage-limit: resets at 15:00": the failure's word and what it said, secrets masked.
    pub reason: String,
    /// The whole account rests, and so every engine that uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

/// A span as a whole number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        span.map(|span| span.as_secs()).serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_secs))
    }
}

/// A connection test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeView {
    /// When.
    pub at: Timestamp,
    /// It went well.
    pub ok: bool,
    /// What it said.
    pub text: String,
}

/// An error as shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorView {
    /// When it came last, where this daemon saw it.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// `network`, `auth`, …
    pub class: String,
    /// The chain in one line, secrets masked.
    pub message: String,
}

/// Counts for a glance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountsView {
    /// Cases by state.
    pub cases: BTreeMap<String, u64>,
    /// Outbound actions by state.
    pub actions: BTreeMap<String, u64>,
    /// Drafts that wait for a person now.
    pub drafts_open: u64,
    /// Since when the oldest of them waits.
    #[serde(default)]
    pub oldest_draft_at: Option<Timestamp>,
    /// Since when the oldest queued case waits.
    #[serde(default)]
    pub oldest_queued_at: Option<Timestamp>,
}

impl From<Counts> for CountsView {
    fn from(counts: Counts) -> Self {
        let cases = counts.cases.iter().map(|(state, count)| (state.word().to_owned(), *count)).collect();
        let actions = counts.actions.iter().map(|(state, count)| (state.word().to_owned(), *count)).collect();
        Self {
            cases,
            actions,
            drafts_open: counts.drafts_open,
            oldest_draft_at: counts.oldest_draft_at,
            oldest_queued_at: counts.oldest_queued_at,
        }
    }
}

/// `?state=…&limit=…`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ListQuery {
    /// Only in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// At most so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Only with this label, which an engine proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl ListQuery {
    /// Rows when nothing else is asked for.
    const LIMIT_DEFAULT: usize = 50;
    /// Rows at most.
    pub(crate) const LIMIT_MAX: usize = 10_000;

    /// The request's path with its query.
    #[must_use]
    pub fn path(&self, base: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        if let Some(limit) = self.limit {
            query.append_pair("limit", &limit.to_string());
        }
        if let Some(label) = &self.label {
            query.append_pair("label", label);
        }
        format!("{base}?{}", query.finish())
    }

    /// The number of rows asked for, within bounds.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(Self::LIMIT_DEFAULT).min(Self::LIMIT_MAX)
    }
}

/// `?after=…&limit=…`
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct JournalQuery {
    /// Only lines after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// The newest so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

impl JournalQuery {
    /// Lines when nothing else is asked for.
    const LIMIT_DEFAULT: usize = 100;

    /// The number of lines asked for, within bounds.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(Self::LIMIT_DEFAULT).min(JOURNAL_ROWS_SHOWN_MAX)
    }
}

/// `?run=r12`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PromptQuery {
    /// That run; else the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// What a replay is to be run with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReplayBody {
    /// The engine unit; else the case's own.
    pub engine: Option<String>,
    /// In place of the route's prompt.
    pub prompt: Option<String>,
}

/// `route explain --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteView {
    /// The case.
    pub case: Case,
    /// What the record says about its way to engines, oldest first.
    pub steps: Vec<JournalRow>,
    /// The plan that [`RouteView::now`] goes by.
    pub generation: i64,
    /// Where it would go now.
    pub now: Explanation,
    /// The engine that it would go to gets no case at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestView>,
}

/// `POST /v1/open`: the page, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenView {
    /// With a token that opens it once.
    pub url: String,
    /// Until then.
    pub until: Timestamp,
}

/// Lets go of a connector's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeBody {
    /// The record of sends goes too.
    pub receipts: bool,
}
