//! What the board says of units that no driver speaks for: no-ops, engines between runs, routes, environments.

use std::collections::BTreeMap;

use super::factory::DaemonRuntimeBundle;
use crate::runtime::RuntimeRecord;
use crate::runtime::app_runtime::{AppRuntime, Slot};
use crate::runtime::disabled::DisabledRuntime;
use crate::supervise::{Board, UnitState};
use crate::unit::plan::{Plan, Standing};

/// What stands on the board for one unit.
enum Entry {
    /// A no-op with its reason.
    Off(String),
    /// On, without a driver of its own.
    On,
    /// A driver enters it.
    Driven,
}

/// Enters every unit of a fresh bundle.
pub(super) fn enter_all(bundle: &DaemonRuntimeBundle) {
    for (unit, entry) in entries(&bundle.app, &bundle.plan) {
        match entry {
            Entry::Off(reason) => enter(bundle, &unit, UnitState::Inactive, Some(reason)),
            Entry::On => enter(bundle, &unit, UnitState::Active, None),
            // Its driver enters it again when it starts.
            Entry::Driven => enter(bundle, &unit, UnitState::Activating, None),
        }
    }
}

/// Brings the board of running units to a new bundle: what changed is entered anew, what is gone is taken off, the rest
/// keeps its ages.
pub(super) fn succeed(bundle: &DaemonRuntimeBundle, old: &Plan) {
    let entries = entries(&bundle.app, &bundle.plan);
    bundle.board.retain(|unit| entries.contains_key(unit));
    for (unit, entry) in entries {
        let known = bundle.board.get(&unit);
        match entry {
            Entry::Off(reason) => {
                let same = known.as_ref().is_some_and(|status| status.reason.as_ref() == Some(&reason));
                if !same {
                    enter(bundle, &unit, UnitState::Inactive, Some(reason));
                }
            }
            Entry::On => {
                let was_off = known.is_none_or(|status| status.state == UnitState::Inactive);
                if was_off || changed_engine(&unit, old, &bundle.plan) {
                    enter(bundle, &unit, UnitState::Active, None);
                }
            }
            Entry::Driven => {}
        }
    }
}

/// An engine with other settings: what its last runs were says nothing of it.
fn changed_engine(unit: &str, old: &Plan, new: &Plan) -> bool {
    unit.strip_suffix(".engine").is_some_and(|name| old.engines.get(name) != new.engines.get(name))
}

fn enter(bundle: &DaemonRuntimeBundle, unit: &str, state: UnitState, reason: Option<String>) {
    let board: &Board<RuntimeRecord> = &bundle.board;
    board.enter(unit, state, reason, bundle.clock.now());
}

fn entries(app: &AppRuntime, plan: &Plan) -> BTreeMap<String, Entry> {
    let mut all = BTreeMap::new();
    standings(&mut all, "engine", &plan.engines);
    standings(&mut all, "route", &plan.routes);
    standings(&mut all, "env", &plan.envs);
    standings(&mut all, "channel", &plan.channels);
    standings(&mut all, "timer", &plan.timers);
    standings(&mut all, "secret", &plan.secrets);
    standings(&mut all, "target", &plan.targets);
    for slot in &app.sync {
        slotted(&mut all, slot);
    }
    for slot in &app.channels {
        slotted(&mut all, slot);
    }
    slotted(&mut all, &app.ingest);
    slotted(&mut all, &app.worker);
    slotted(&mut all, &app.review);
    slotted(&mut all, &app.outbound);
    slotted(&mut all, &app.pending);
    slotted(&mut all, &app.scheduler);
    slotted(&mut all, &app.onboarding);
    slotted(&mut all, &app.rotation);
    all
}

fn standings<U>(all: &mut BTreeMap<String, Entry>, kind: &str, units: &BTreeMap<String, Standing<U>>) {
    for (name, standing) in units {
        let unit = format!("{name}.{kind}");
        let entry = match standing {
            Standing::Active(_) => Entry::On,
            Standing::Off(off) => Entry::Off(off.told()),
        };
        all.insert(unit, entry);
    }
}

fn slotted<C: crate::supervise::Cycle>(all: &mut BTreeMap<String, Entry>, slot: &Slot<C>) {
    match slot {
        Slot::On(cycle) => {
            all.insert(cycle.unit().to_owned(), Entry::Driven);
        }
        Slot::Off(off) => disabled(all, off),
    }
}

fn disabled(all: &mut BTreeMap<String, Entry>, off: &DisabledRuntime) {
    all.insert(off.unit().to_owned(), Entry::Off(off.off().told()));
}
