//! What may be asked of the units as a whole. The daemon implements it; a command without a daemon has none.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::server::Fault;
use super::wire::log::LogLevelsView;
use super::wire::units::{ReloadView, UnitOrder, WatchedDir};
use crate::model::log_filter::LogFilter;

/// Who asked for a reload, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The watcher saw a change, or its rescan.
    Watch,
    /// SIGHUP, also from `systemctl --user reload`.
    Signal,
    /// `workagent reload`, or an order to a unit.
    Hand,
    /// The machine woke up or the clock was set.
    Resume,
}

impl Why {
    /// For the log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Watch => "unit files changed",
            Self::Signal => "asked by signal",
            Self::Hand => "asked by hand",
            Self::Resume => "the machine woke up",
        }
    }
}

/// The log of the daemon, which can be asked for more or less while it runs.
pub trait LogLevels: Send + Sync {
    /// What is logged now.
    fn shown(&self) -> LogLevelsView;

    /// Changes what is logged of a unit (its full name), or of all that has no level of its own. `None`: back to the usual.
    fn set(&self, unit: Option<&str>, filter: Option<LogFilter>, span: Option<Duration>);
}

/// The units as a whole.
pub trait Manager: Send + Sync {
    /// How each directory of the search path is watched, low to high.
    fn watched(&self) -> Vec<WatchedDir>;

    /// Reads the unit files again and makes what they say live. One at a time; who asks meanwhile waits for its own.
    fn reload(&self, why: Why, dry_run: bool) -> BoxFuture<'_, Result<ReloadView, Fault>>;

    /// An order to one unit, by its full name or by a name that only one unit has.
    fn order(&self, unit: String, order: UnitOrder) -> BoxFuture<'_, Result<ReloadView, Fault>>;

    /// What is logged, and the way to change it.
    fn log(&self) -> &dyn LogLevels;

    /// The full name of the unit that is meant by a name with or without its kind.
    fn named(&self, unit: &str) -> Result<String, Fault>;

    /// Only the units of a target go on; `default` takes that back.
    fn isolate(&self, target: String) -> BoxFuture<'_, Result<ReloadView, Fault>>;
}
