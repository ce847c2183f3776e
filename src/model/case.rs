//! Cases: one piece of work and its state machine.

use serde::{Deserialize, Serialize};

use super::ids::CaseId;
use super::time::Timestamp;

/// State of a case: `new → queued → running → review → approved → sent → closed`, and the three side exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseState {
    /// Read, not yet routed.
    New,
    /// Routed; waits for a free engine.
    Queued,
    /// Leased to a worker.
    Running,
    /// A draft waits for a person.
    Review,
    /// An outbound action is on its way.
    Approved,
    /// The receipt is stored.
    Sent,
    /// Done.
    Closed,
    /// Waits for a time, a person or an answer, with a reason.
    Parked,
    /// Given up, with a reason.
    Dead,
    /// A person or a rule said: nothing to do here.
    Dismissed,
}

impl CaseState {
    /// All states, in the order of the way through the house.
    pub const ALL: [Self; 10] = [
        Self::New,
        Self::Queued,
        Self::Running,
        Self::Review,
        Self::Approved,
        Self::Sent,
        Self::Closed,
        Self::Parked,
        Self::Dead,
        Self::Dismissed,
    ];

    /// The stable word for tables, SQL and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Review => "review",
            Self::Approved => "approved",
            Self::Sent => "sent",
            Self::Closed => "closed",
            Self::Parked => "parked",
            Self::Dead => "dead",
            Self::Dismissed => "dismissed",
        }
    }
}

/// The hot row of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its id.
    pub id: CaseId,
    /// The connector its items came from.
    pub connector: String,
    /// Kind of its first item.
    pub kind: String,
    /// Title of its first item.
    pub title: String,
    /// Author of its newest item, for people.
    pub author: String,
    /// State.
    pub state: CaseState,
    /// Why it is parked, dead or dismissed.
    pub reason: Option<String>,
    /// When a parked case wakes; `None` waits for a person.
    pub until: Option<Timestamp>,
    /// The route that took it.
    pub route: Option<String>,
    /// The engine it is queued for.
    pub engine: Option<String>,
    /// Higher first.
    pub priority: i64,
    /// Tries so far, over restarts; a manual retry buys one more.
    pub attempts: u32,
    /// Tries granted on top of the limit: one by each manual retry, and a full set by a new item.
    #[serde(default)]
    pub attempts_extra: u32,
    /// How many items it holds.
    pub items: u32,
    /// When its first item was read.
    pub made_at: Timestamp,
    /// When its state last changed.
    pub changed_at: Timestamp,
    /// Labels that engines proposed; those of the platform are its items'.
    #[serde(default)]
    pub labels: Vec<String>,
}

impl Case {
    /// No try is left under this limit; the counter itself never goes back.
    #[must_use]
    pub fn is_used_up(&self, attempts_max: u32) -> bool {
        self.attempts >= attempts_max.saturating_add(self.attempts_extra)
    }
}

#[cfg(test)]
impl Case {
    /// For tests that look at little of it.
    pub(crate) fn sample(id: i64, state: CaseState) -> Self {
        Self {
            id: CaseId(id),
            connector: "inbox".into(),
            kind: "mail".into(),
            title: format!("case {id}"),
            author: String::new(),
            state,
            reason: None,
            until: None,
            route: None,
            engine: None,
            priority: 0,
            attempts: 0,
            attempts_extra: 0,
            items: 1,
            made_at: Timestamp(0),
            changed_at: Timestamp(0),
            labels: Vec::new(),
        }
    }
}

/// A case taken for a limited time. `token` fences every later write: a lost lease writes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    /// The case as it was taken, `attempts` already counted.
    pub case: Case,
    /// The fencing token.
    pub token: i64,
    /// When it runs out unless extended.
    pub until: Timestamp,
}
