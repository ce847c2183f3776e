//! Runs: attempts of engines, what they asked for, cost and came to.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::ids::{CaseId, RunId};
use super::item::Item;
use super::time::Timestamp;

/// What an engine is given. It holds no credential and no way to send.
#[derive(Clone, Debug, Serialize)]
pub struct EngineRequest {
    /// The case.
    pub case: CaseId,
    /// The connector the case came from.
    pub connector: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// The user's instruction for this route, trusted.
    pub instruction: String,
    /// The thread, oldest first; foreign text. The last one is to be answered.
    pub items: Vec<Item>,
    /// How many items the case holds; when there are more than `items`, the oldest are left out.
    pub items_total: u32,
    /// What a person said when rejecting an earlier draft, trusted.
    pub notes: Vec<String>,
    /// The session in which this engine worked on the case before, for engines that can go on in one.
    pub session: Option<String>,
    /// Where the exact prompt is left for the record; `engine::prompt::build` leaves what it makes.
    #[serde(skip)]
    pub prompt: PromptSlot,
}

/// Where the exact prompt of a run is left for the record. Clones are the same slot; the last prompt counts.
#[derive(Clone, Debug, Default)]
pub struct PromptSlot(Arc<Mutex<Option<String>>>);

impl PromptSlot {
    /// This is what the engine was told.
    pub fn leave(&self, prompt: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(prompt);
    }

    /// What was left.
    #[must_use]
    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Until the first sign of life.
    pub first_event: Duration,
    /// Between signs of life.
    pub idle: Duration,
    /// In all.
    pub total: Duration,
}

/// What an engine came to. A draft comes only from a structured place.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOutcome {
    /// What it decided.
    pub result: EngineResult,
    /// What it cost.
    pub usage: Usage,
    /// Remarks for the reviewer: denied tools, text cut for the prompt.
    pub remarks: Vec<String>,
    /// Labels that it proposes for the case.
    pub labels: Vec<String>,
    /// What else it proposes to do at the far side; what is not offered is dropped later, with a word.
    pub effects: Vec<Effect>,
    /// Who did it, and where.
    pub facts: RunFacts,
}

impl EngineOutcome {
    /// Nothing but a decision: no cost known, no remarks.
    #[must_use]
    pub fn of(result: EngineResult) -> Self {
        Self {
            result,
            usage: Usage::default(),
            remarks: Vec::new(),
            labels: Vec::new(),
            effects: Vec::new(),
            facts: RunFacts::default(),
        }
    }
}

/// What a run tells of itself, for the record and for the next run of the case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The engine's own session, in which it can go on.
    pub session: Option<String>,
    /// The model that answered, where it says so.
    pub model: Option<String>,
    /// The program and its version: "claude 2.1.332".
    pub program: Option<String>,
}

/// What an engine decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineResult {
    /// A proposed reply; empty only where effects stand beside it.
    Reply(String),
    /// Nothing to answer, with its reason.
    NothingToDo(String),
    /// It needs to know something from the user.
    Question(String),
}

/// Tokens and money of a run, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read in all, those from and into a cache included.
    pub input_tokens: Option<u64>,
    /// Tokens written, reasoning included.
    pub output_tokens: Option<u64>,
    /// Of the tokens read, those that came from a cache.
    #[serde(default)]
    pub cache_read_tokens: Option<u64>,
    /// Of the tokens read, those that went into a cache.
    #[serde(default)]
    pub cache_write_tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub cost_micro_usd: Option<u64>,
    /// Where the cost figure comes from: `engine`, `price`, `plan` (a plan pays, the figure is what it would cost
    /// otherwise), empty.
    pub cost_source: String,
}

/// Why a run gave no outcome. The table of retry, fall-back and cool-down hangs on this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunFailure {
    /// Ended well, said nothing.
    Empty,
    /// The answer was cut by an output limit.
    Cut,
    /// The model refused.
    Refused,
    /// Not logged in, key missing or wrong.
    Auth,
    /// Program or model not found, server not running, unit wrong.
    Config,
    /// Money ran out.
    Billing,
    /// A plan's limit, until then if known.
    UsageLimit(Option<Timestamp>),
    /// Too fast, until then.
    RateLimited(Timestamp),
    /// The far side is overloaded.
    Overloaded,
    /// The connection failed or was cut.
    Network,
    /// The request itself was refused.
    BadRequest,
    /// We ended it: nothing came in time.
    TimeoutIdle,
    /// We ended it: it took too long in all.
    TimeoutTotal,
    /// We ended it: stop or cancel.
    Cancelled,
    /// The process ended badly: exit code or signal.
    Exit,
    /// Output of an unknown shape, over the caps.
    Protocol,
    /// It went round in circles and ended itself.
    Loop,
    /// It used up the turns that it may take.
    TurnLimit,
    /// It used up the money that one run may cost.
    BudgetLimit,
}

impl RunFailure {
    /// The stable word, also used in a route's `on` list.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Cut => "cut",
            Self::Refused => "refused",
            Self::Auth => "auth",
            Self::Config => "config",
            Self::Billing => "billing",
            Self::UsageLimit(_) => "usage-limit",
            Self::RateLimited(_) => "rate-limited",
            Self::Overloaded => "overloaded",
            Self::Network => "network",
            Self::BadRequest => "bad-request",
            Self::TimeoutIdle => "timeout-idle",
            Self::TimeoutTotal => "timeout-total",
            Self::Cancelled => "cancelled",
            Self::Exit => "exit",
            Self::Protocol => "protocol",
            Self::Loop => "loop",
            Self::TurnLimit => "turn-limit",
            Self::BudgetLimit => "budget-limit",
        }
    }

    /// Words a route may name in `on`.
    pub const WORDS: [&'static str; 19] = [
        "empty",
        "cut",
        "refused",
        "auth",
        "config",
        "billing",
        "usage-limit",
        "rate-limited",
        "overloaded",
        "network",
        "bad-request",
        "timeout-idle",
        "timeout-total",
        "cancelled",
        "exit",
        "protocol",
        "loop",
        "turn-limit",
        "budget-limit",
    ];
}

/// A run that gave no outcome.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{detail}")]
pub struct EngineError {
    /// What kind.
    pub failure: RunFailure,
    /// For people, secrets already masked: "exit status 3: not logged in".
    pub detail: String,
    /// What was paid all the same.
    pub usage: Usage,
}

/// One attempt of one engine on one case, as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The case.
    pub case: CaseId,
    /// The engine unit.
    pub engine: String,
    /// From 1, counted over restarts.
    pub attempt: u32,
    /// `running`, `reply`, `nothing-to-do`, `question`, `interrupted`, or a failure's word.
    pub outcome: String,
    /// For people.
    pub detail: String,
    /// What it cost.
    pub usage: Usage,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The plan generation it ran under.
    pub generation: i64,
    /// What it told of itself.
    #[serde(default)]
    pub facts: RunFacts,
    /// SHA-256 of what it was told, secrets masked: 64 hex digits. `None`: it was told nothing, or before this was kept.
    #[serde(default)]
    pub prompt_hash: Option<String>,
}
