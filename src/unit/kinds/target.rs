//! `NAME.target.toml`: a set of units that run together.

use std::collections::BTreeMap;

use crate::unit::graph::Units;
use crate::unit::plan::{EdgeKind, EngineUnit, Kind, Off, Standing, TargetUnit, UnitName};
use crate::unit::schema::KindSpec;
use crate::unit::typed::Typed;

/// Its tables: none of its own.
pub(crate) const SPEC: KindSpec =
    KindSpec { tables: &[], enabled: true, doc: "A set of units that run together." };

/// The target that all units belong to.
const DEFAULT: &str = "default";

/// The target of what needs no network.
const OFFLINE: &str = "offline";

/// The members of each target, sorted: what it wants or requires, who says `wanted_by`, and for two of the targets in
/// the binary what they are there for. Only units that are on.
pub(crate) fn members(
    units: &Units,
    off: &BTreeMap<UnitName, Off>,
    engines: &BTreeMap<String, Standing<EngineUnit>>,
) -> BTreeMap<String, Vec<UnitName>> {
    let is_on = |name: &UnitName| units.contains_key(name) && !off.contains_key(name);
    let mut members: BTreeMap<String, Vec<UnitName>> = BTreeMap::new();
    let mut add = |target: &str, unit: &UnitName| {
        if is_on(unit) {
            members.entry(target.to_owned()).or_default().push(unit.clone());
        }
    };
    let local = |name: &str| match engines.get(name) {
        Some(Standing::Active(engine)) => engine.local,
        _ => false,
    };
    for unit in units.values().filter(|unit| is_on(&unit.name)) {
        let name = &unit.name;
        for reference in &unit.references {
            match reference.edge {
                EdgeKind::Wants | EdgeKind::Requires if name.kind == Kind::Target => {
                    add(&name.name, &reference.target);
                }
                EdgeKind::WantedBy => add(&reference.target.name, name),
                _ => {}
            }
        }
        if !matches!(name.kind, Kind::Target | Kind::Daemon) {
            add(DEFAULT, name);
        }
        let stays = match name.kind {
            Kind::Engine => local(&name.name),
            Kind::Route => unit.settings("route").list("engines").iter().all(|engine| local(engine)),
            Kind::Timer => true,
            _ => false,
        };
        if stays {
            add(OFFLINE, name);
        }
    }
    for list in members.values_mut() {
        list.sort();
        list.dedup();
    }
    members
}

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed, members: Vec<UnitName>) -> TargetUnit {
    TargetUnit { name: typed.name.name.clone(), description: typed.description(), members }
}
