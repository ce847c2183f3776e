//! How far a connector is trusted to send by itself.

use serde::{Deserialize, Serialize};

use crate::model::auto::Agreement;

/// A connector that may send, and how a person decided about its drafts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustView {
    /// Its unit's name without the kind.
    pub connector: String,
    /// It sends by itself: `outbound = "auto"`.
    pub auto: bool,
    /// `[auto] kinds`
    pub kinds: Vec<String>,
    /// `[auto] recipients`
    pub recipients: Vec<String>,
    /// `[auto] show_one_in`
    pub show_one_in: Option<u64>,
    /// `[auto] after`
    pub after: u64,
    /// `[auto] agreement`
    pub agreement: u64,
    /// Of the newest decisions, those about drafts that `[auto]` speaks of.
    pub record: Agreement,
    /// Why nothing goes by itself yet, for people; `None`: the record is good enough.
    pub not_yet: Option<String>,
    /// All of the newest decisions, by kind of case, in the order of the alphabet.
    pub by_kind: Vec<KindRecord>,
}

/// The decisions about one kind of case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindRecord {
    /// `mail`, `issue`.
    pub kind: String,
    /// What was decided.
    pub record: Agreement,
}
