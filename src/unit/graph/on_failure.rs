//! Who is kicked when a unit fails: what is said of it, and the timers that are there for nothing else.

use std::collections::BTreeSet;

use super::{Unit, Units};
use crate::diag::Finding;
use crate::unit::check::never_kicked;
use crate::unit::decode::Reference;
use crate::unit::kinds::{runtime, timer};
use crate::unit::plan::{EdgeKind, Kind, UnitName};
use crate::unit::typed::Typed;

/// What is wrong with one `on_failure`.
pub(super) fn look(unit: &Typed, reference: &Reference, target: &Typed) -> Option<Finding> {
    let span = reference.span;
    let can_fail = match unit.name.kind {
        Kind::Connector | Kind::Engine => true,
        Kind::Runtime => runtime::is_driven(unit),
        _ => false,
    };
    let can_run = match target.name.kind {
        Kind::Connector | Kind::Timer => true,
        Kind::Runtime => runtime::is_driven(target),
        _ => false,
    };
    if !can_fail {
        Some(never_kicked::never_fails(&unit.name, span))
    } else if unit.name == target.name {
        Some(never_kicked::itself(span))
    } else if !can_run {
        Some(never_kicked::no_kick(&target.name, span))
    } else {
        None
    }
}

/// Timers that have neither a time nor a unit that kicks them.
pub(super) fn idle_timers(units: &Units) -> Vec<(UnitName, Finding)> {
    let present = || units.values().filter(|unit| !unit.masked);
    let named: BTreeSet<&UnitName> = present()
        .flat_map(|unit: &Unit| &unit.references)
        .filter(|reference| reference.edge == EdgeKind::OnFailure)
        .map(|reference| &reference.target)
        .collect();
    let timers = present().filter(|unit| unit.name.kind == Kind::Timer && !unit.broken);
    let idle = timers.filter(|unit| !named.contains(&unit.name));
    idle.filter_map(|unit| Some((unit.name.clone(), timer::without_time(unit)?))).collect()
}
