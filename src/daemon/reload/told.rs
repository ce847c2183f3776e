//! What is told of a reload or an order: to who gave it, and to the service manager.

use crate::bundle::RunningBundle;
use crate::control::wire::units::{ReloadOutcome, ReloadView};
use crate::unit::plan::UnitName;

/// What an order came to: faults of unit files that it has nothing to do with are no failure of it.
pub(super) fn only_about(mut view: ReloadView, name: &UnitName) -> ReloadView {
    let name = name.to_string();
    view.changes.retain(|view| view.unit == name || !view.change.is_fault());
    view.outcome = match () {
        () if view.changes.iter().any(|view| view.change.is_fault()) => ReloadOutcome::AppliedWithFailures,
        () if view.changes.is_empty() => ReloadOutcome::Nothing,
        () => ReloadOutcome::Applied,
    };
    view
}

/// For `systemctl status`.
pub(in crate::daemon) fn status_line(running: &RunningBundle, errors: u64) -> String {
    let bundle = running.bundle();
    let line = format!("{} unit files, generation {}", bundle.plan.sources.len(), bundle.generation);
    match errors {
        0 => line,
        1 => format!("{line}, 1 error in them"),
        errors => format!("{line}, {errors} errors in them"),
    }
}
