//! What is logged, and how that is changed while the daemon runs.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

/// `log-level --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLevelsView {
    /// By the unit files or the command line: `info,inbox.connector=debug`.
    pub usual: String,
    /// Changed by hand, oldest first.
    pub by_hand: Vec<LogLevelView>,
}

/// A change by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLevelView {
    /// Of this unit only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// A level, or a filter.
    pub level: String,
    /// Until then; else until the daemon ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLevelBody {
    /// Of this unit only, with or without its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// A level, or a filter; `None`: back to the usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// For so many seconds; else until the daemon ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_s: Option<u64>,
}
