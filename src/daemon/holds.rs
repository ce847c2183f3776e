//! What people hold back by hand while the daemon runs: units they stopped, and all that is not in the target they
//! isolated. Gone with the daemon.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::time::Timestamp;
use crate::unit::plan::{EdgeKind, Kind, Off, OffState, Plan, UnitName};

/// The target in which everything that is enabled runs.
pub const DEFAULT_TARGET: &str = "default";

/// What is held back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    stopped: BTreeMap<UnitName, Timestamp>,
    target: Option<String>,
}

impl Holds {
    /// Stops a unit, and with it those that are `part_of` it.
    pub fn stop(&mut self, unit: &UnitName, plan: &Plan, now: Timestamp) {
        for part in with_parts(unit, plan) {
            self.stopped.entry(part).or_insert(now);
        }
    }

    /// Takes a stop back, also of its parts.
    pub fn start(&mut self, unit: &UnitName, plan: &Plan) {
        for part in with_parts(unit, plan) {
            self.stopped.remove(&part);
        }
    }

    /// Only the units of a target go on; the default one takes that back.
    pub fn isolate(&mut self, target: &str) {
        self.target = Some(target.to_owned()).filter(|target| target != DEFAULT_TARGET);
    }

    /// The isolated target.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The units of a plan that are held back, with the reason.
    #[must_use]
    pub fn off(&self, plan: &Plan) -> BTreeMap<UnitName, Off> {
        let mut off = BTreeMap::new();
        if let Some(outside) = self.target.as_ref().and_then(|target| plan.outside(target)) {
            off.extend(outside.into_iter().filter(|(unit, _)| runs_by_itself(unit.kind)));
        }
        for (unit, at) in &self.stopped {
            let reason = format!("stopped by hand {at}");
            off.insert(unit.clone(), Off { state: OffState::Stopped, reason, place: None });
        }
        off
    }
}

/// Units that do something without being asked; the rest is used by these.
fn runs_by_itself(kind: Kind) -> bool {
    matches!(kind, Kind::Connector | Kind::Timer | Kind::Channel | Kind::Runtime)
}

/// A unit and those that are part of it, of these in turn.
pub(super) fn with_parts(unit: &UnitName, plan: &Plan) -> BTreeSet<UnitName> {
    closure([unit.clone()].into(), |from| {
        let parts = plan.edges.iter().filter(|edge| edge.kind == EdgeKind::PartOf && edge.to == *from);
        parts.map(|edge| edge.from.clone()).collect()
    })
}

/// Each unit is visited once, so a cycle of edges ends too.
fn closure(first: BTreeSet<UnitName>, next: impl Fn(&UnitName) -> Vec<UnitName>) -> BTreeSet<UnitName> {
    let mut found = first.clone();
    let mut open: Vec<UnitName> = first.into_iter().collect();
    while let Some(unit) = open.pop() {
        open.extend(next(&unit).into_iter().filter(|unit| found.insert(unit.clone())));
    }
    found
}
