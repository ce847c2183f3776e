//! Orders to the units as a whole, and what came of them: reload, start, stop, restart, isolate.

use serde::{Deserialize, Serialize};

/// How a reload or an order to a unit ended. Closed: there is no other way for it to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReloadOutcome {
    /// All of it is live.
    Applied,
    /// Nothing runs differently: unit files have errors, and nothing else changed.
    Invalid,
    /// Nothing changed that means anything.
    Nothing,
    /// What could be applied is live; some units could not.
    AppliedWithFailures,
}

impl ReloadOutcome {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Invalid => "invalid",
            Self::Nothing => "nothing to do",
            Self::AppliedWithFailures => "applied with failures",
        }
    }

    /// The exit code of `workagent reload`.
    #[must_use]
    pub fn exit(self) -> u8 {
        match self {
            Self::Applied => 0,
            Self::Invalid => 1,
            Self::Nothing => 3,
            Self::AppliedWithFailures => 4,
        }
    }
}

/// What happened to one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It is new and runs.
    Added,
    /// It runs with new settings.
    Changed,
    /// It was off and runs now.
    Started,
    /// It ran and is off now: disabled, masked, stopped, its condition, or what it needs.
    Stopped,
    /// It was begun anew as asked.
    Restarted,
    /// Its files are gone.
    Removed,
    /// Its new version has errors; the last good one goes on.
    Kept,
    /// It has errors and no good version: off.
    Failed,
    /// A key of it cannot change while the daemon runs.
    NeedsRestart,
}

impl Change {
    /// The unit is not as its file says.
    #[must_use]
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Kept | Self::Failed | Self::NeedsRestart)
    }

    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Started => "started",
            Self::Stopped => "stopped",
            Self::Restarted => "restarted",
            Self::Removed => "removed",
            Self::Kept => "kept",
            Self::Failed => "failed",
            Self::NeedsRestart => "needs restart",
        }
    }
}

/// One unit that a reload touched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeView {
    /// `inbox.connector`.
    pub unit: String,
    /// What happened.
    pub change: Change,
    /// Why, one line: `schedule.every`, an unknown key with its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where that stands, `FILE:LINE:COLUMN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// `reload --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReloadView {
    /// How it ended.
    pub outcome: ReloadOutcome,
    /// Nothing was done: this is what would happen.
    pub dry_run: bool,
    /// The generation that runs now.
    pub generation: i64,
    /// The one that ran before.
    pub previous: i64,
    /// The generation that plans are pinned to, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<i64>,
    /// Units that it touched, by name.
    pub changes: Vec<ChangeView>,
    /// Units that it left as they were.
    pub unchanged: u64,
    /// Errors in unit files.
    pub errors: u64,
    /// Warnings in unit files.
    pub warnings: u64,
    /// From the first look at the files until it is live, in milliseconds.
    pub took_ms: u64,
}

/// A directory of unit files, as the daemon watches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedDir {
    /// As in the search path.
    pub dir: String,
    /// `watched`, `polled`, `missing` (where it would appear is watched), `unreadable`.
    pub mode: String,
}

/// An order to one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitOrder {
    /// Take a stop back, or try again at once.
    Start,
    /// Off until started again or the daemon restarts.
    Stop,
    /// Begin anew with the same settings.
    Restart,
    /// Forget failures and their waits.
    ResetFailed,
}

impl UnitOrder {
    /// As the path and the command line have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::ResetFailed => "reset-failed",
        }
    }
}
