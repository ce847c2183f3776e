//! The report of a day: `digest --json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cost::CostRow;
use crate::model::case::CaseState;
use crate::model::ids::CaseId;
use crate::model::time::Timestamp;

/// What is asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DigestQuery {
    /// A local day, `2026-11-30`; today if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
}

/// A day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestView {
    /// `2026-11-30`
    pub day: String,
    /// Its first moment.
    pub from: Timestamp,
    /// The first moment after it, or now while it lasts.
    pub to: Timestamp,
    /// The moment this was written; what waits is of this moment.
    pub now: Timestamp,
    /// Cases to which something happened, grouped as they are to be told; empty groups are left out.
    pub groups: Vec<DigestGroup>,
    /// How often what happened, by the journal's words.
    pub events: BTreeMap<String, u64>,
    /// What runs cost, by engine, dearest first.
    pub costs: Vec<CostRow>,
    /// All of them together.
    pub total: CostRow,
    /// What waits for the user now, with the command that shows it.
    pub waits: Vec<String>,
    /// More happened than was read; the rest of the day is missing.
    #[serde(default)]
    pub cut: bool,
}

/// What became of cases in the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// An answer was sent.
    Sent,
    /// A draft waits for a person.
    Waits,
    /// On its way: new, queued, running, approved.
    UnderWay,
    /// Waits for a time, an answer or the user.
    Parked,
    /// Given up.
    Dead,
    /// Nothing was to be done, or a person said so.
    Done,
}

/// Cases of which the same became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestGroup {
    /// What.
    pub became: Became,
    /// In the order of their first line.
    pub cases: Vec<DigestCase>,
}

/// A case in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestCase {
    /// Its id.
    pub id: CaseId,
    /// The connector its items came from.
    pub connector: String,
    /// Title of its first item.
    pub title: String,
    /// Author of its newest item.
    pub author: String,
    /// As it is now.
    pub state: CaseState,
    /// Why it is parked, dead or dismissed.
    #[serde(default)]
    pub reason: Option<String>,
    /// What happened in the day, oldest first.
    pub lines: Vec<DigestLine>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestLine {
    /// When.
    pub at: Timestamp,
    /// The journal's word.
    pub event: String,
    /// For people.
    pub detail: String,
}
