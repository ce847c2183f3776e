//! What may be asked of the units as a whole. The daemon implements it; a command without a daemon has none.

use futures_util::future::BoxFuture;

use super::server::Fault;
use super::wire::units::{ReloadView, UnitOrder, WatchedDir};

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

/// The units as a whole.
pub trait Manager: Send + Sync {
    /// How each directory of the search path is watched, low to high.
    fn watched(&self) -> Vec<WatchedDir>;

    /// Reads the unit files again and makes what they say live. One at a time; who asks meanwhile waits for its own.
    fn reload(&self, why: Why, dry_run: bool) -> BoxFuture<'_, Result<ReloadView, Fault>>;

    /// An order to one unit, by its full name or by a name that only one unit has.
    fn order(&self, unit: String, order: UnitOrder) -> BoxFuture<'_, Result<ReloadView, Fault>>;

    /// Only the units of a target go on; `default` takes that back.
    fn isolate(&self, target: String) -> BoxFuture<'_, Result<ReloadView, Fault>>;
}
