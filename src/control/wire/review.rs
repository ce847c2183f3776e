//! What travels of drafts, and of decisions on drafts and sends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::draft::Draft;
use crate::model::ids::{ActionId, DraftId};
use crate::model::item::Item;
use crate::model::time::Timestamp;

/// `?deferred=true`
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ReviewQuery {
    /// Deferred ones too.
    #[serde(default)]
    pub deferred: bool,
    /// At most so many, those that wait longest; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A draft with what a person needs to decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewView {
    /// The draft.
    pub draft: Draft,
    /// The thread, oldest first.
    pub items: Vec<Item>,
    /// Why it went to this engine.
    pub route: Option<String>,
    /// Undo window after approval; `None` when the connector is off.
    pub hold: Option<Duration>,
    /// Why it cannot be approved now.
    pub blocked: Option<String>,
}

/// A new text for a draft.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EditBody {
    /// Of the version that was edited.
    pub hash: String,
    /// The new text.
    pub body: String,
    /// What shall happen besides, each as `close` or `label: bug`; absent: as before. Only what the item offers.
    #[serde(default)]
    pub effects: Option<Vec<String>>,
}

/// An approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApproveBody {
    /// Of the version that was seen.
    pub hash: String,
    /// Who: `terminal`, a channel's name.
    pub by: String,
    /// Although the thread moved on.
    #[serde(default)]
    pub stale_ok: bool,
}

/// What an approval made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// The outbound action.
    pub action: ActionId,
    /// The global stop is on: nothing leaves before `resume`.
    #[serde(default)]
    pub paused: bool,
}

/// A rejection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RejectBody {
    /// For the engine's next try, or for the record.
    pub note: String,
    /// Have the engine try again with the note; else the case is dismissed.
    pub retry: bool,
}

/// A deferral.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DeferBody {
    /// Out of the list until then.
    pub until: Timestamp,
}

/// A decision on a held action.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReleaseBody {
    /// It did arrive: record it as sent. Else: send it.
    pub was_sent: bool,
}

/// A reason for the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// For people.
    pub reason: String,
}

/// `POST /v1/cases/{id}/propose`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposeBody {
    /// The whole text of the reply.
    pub body: String,
    /// Who wrote it: "an agent over MCP".
    pub by: String,
    /// For the reviewer.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// The draft that waits now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// Its id.
    pub draft: DraftId,
}
