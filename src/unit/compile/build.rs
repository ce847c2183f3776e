//! Typed units → plan.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use super::Look;
use crate::diag::SourceMap;
use crate::unit::canon::{self, Canonical};
use crate::unit::graph::{Units, off::place};
use crate::unit::kinds::{
    channel, condition, connector, daemon, engine, env, route, runtime, secret, target, timer,
};
use crate::unit::plan::{
    Edge, EngineUnit, EnvUnit, Kind, Off, OffState, Plan, RouteUnit, Standing, TargetUnit, UnitName,
};
use crate::unit::registry::Registry;
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// What the units come to.
pub(super) struct Built {
    /// The plan.
    pub plan: Plan,
    /// The canonical form of each unit that is on.
    pub canonical: BTreeMap<UnitName, Arc<str>>,
    /// Every name that a unit gives.
    pub references: Vec<Arc<Edge>>,
    /// Why the daemon unit does not count, if it does not.
    pub daemon_off: Option<Off>,
}

/// Builds the plan. `paths` are the units' main files, `kept` those that run by their last good version.
pub(super) fn plan(
    look: &Look,
    registry: &Registry,
    sources: &SourceMap,
    (paths, kept): (BTreeMap<UnitName, PathBuf>, BTreeMap<UnitName, Off>),
) -> Built {
    let Look { units, off, templates: _ } = look;
    let canonical: BTreeMap<UnitName, &Canonical> = units
        .iter()
        .filter(|(name, _)| !off.contains_key(*name))
        .map(|(name, unit)| (name.clone(), unit.canonical(registry)))
        .collect();
    let hash = canon::hash(units, &canonical, off);
    let references = references(units, sources);
    let on = |name: &UnitName| units.contains_key(name) && !off.contains_key(name);
    let edges = references.iter().filter(|edge| on(&edge.from) && on(&edge.to)).cloned().collect();
    let parts = Parts { units, off };

    let envs = parts.kind(Kind::Env, |unit| Some(env::build(unit)));
    let active_envs = actives(&envs);
    let engines = parts.made(Kind::Engine, |unit| {
        let still = |engine: &EngineUnit| engine.env.iter().all(|env| is_of(&active_envs, env));
        unit.part(still, || engine::build(unit, registry, &active_envs))
    });
    let routes = parts.made(Kind::Route, |unit| {
        let still = |route: &RouteUnit| route.env.iter().all(|env| is_of(&active_envs, env));
        unit.part(still, || Some(route::build(unit, &active_envs)))
    });
    let by_name = parts.kind(Kind::Runtime, |unit| Some(runtime::build(unit)));
    let mut runtimes = BTreeMap::new();
    for (name, standing) in by_name {
        // Where two units name one runtime, the one that is on counts.
        match runtimes.entry(parts.runtime_word(&name)) {
            Entry::Vacant(place) => {
                place.insert(standing);
            }
            Entry::Occupied(mut place) => {
                if let Standing::Active(_) = standing {
                    place.insert(standing);
                }
            }
        }
    }
    let daemon_name = super::daemon_name();
    let daemon_off = parts.off.get(&daemon_name).cloned();
    let sound = units.get(&daemon_name).filter(|_| daemon_off.is_none());
    let daemon = sound
        .and_then(|unit| unit.part(|_| true, || Some(daemon::build(|table| unit.settings(table).clone()))));
    let daemon = daemon.unwrap_or_else(|| Arc::new(daemon::build(|_| Settings::default())));
    let members = target::members(units, off, &engines);
    let targets = parts.made(Kind::Target, |unit| {
        let mine = members.get(&unit.name.name).map(Vec::as_slice).unwrap_or_default();
        unit.part(|target: &TargetUnit| target.members == mine, || Some(target::build(unit, mine.to_vec())))
    });
    let conditions = units
        .values()
        .filter(|unit| on(&unit.name))
        .map(|unit| (unit.name.clone(), condition::build(unit, sources)))
        .filter(|(_, conditions)| !conditions.is_empty())
        .collect();
    let plan = Plan {
        daemon,
        connectors: parts.kind(Kind::Connector, |unit| connector::build(unit, registry)),
        engines,
        envs,
        routes,
        runtimes,
        channels: parts.kind(Kind::Channel, |unit| channel::build(unit, registry)),
        timers: parts.kind(Kind::Timer, |unit| Some(timer::build(unit))),
        secrets: parts.kind(Kind::Secret, |unit| Some(secret::build(unit))),
        targets,
        conditions,
        kept,
        sources: paths,
        edges,
        hash,
    };
    let canonical =
        canonical.into_iter().map(|(name, canonical)| (name, Arc::clone(&canonical.text))).collect();
    Built { plan, canonical, references, daemon_off }
}

struct Parts<'a> {
    units: &'a Units,
    off: &'a BTreeMap<UnitName, Off>,
}

impl Parts<'_> {
    /// All units of a kind: on, or off with the reason.
    fn kind<T: Send + Sync + 'static>(
        &self,
        kind: Kind,
        build: impl Fn(&Typed) -> Option<T>,
    ) -> BTreeMap<String, Standing<T>> {
        self.made(kind, |unit| unit.part(|_| true, || build(unit)))
    }

    fn made<T>(&self, kind: Kind, make: impl Fn(&Typed) -> Option<Arc<T>>) -> BTreeMap<String, Standing<T>> {
        let mut out = BTreeMap::new();
        for unit in self.units.values().filter(|unit| unit.name.kind == kind) {
            let standing = match self.off.get(&unit.name) {
                Some(why) => Standing::Off(why.clone()),
                None => match make(unit) {
                    Some(made) => Standing::Active(made),
                    // A unit without errors that cannot be built is a fault of ours; it still must not stop the rest.
                    None => Standing::Off(Off {
                        state: OffState::BadSetting,
                        reason: "its values do not fit together".to_owned(),
                        place: None,
                    }),
                },
            };
            out.insert(unit.name.name.clone(), standing);
        }
        out
    }

    /// The runtime that a runtime unit is about; its own name where it does not say.
    fn runtime_word(&self, name: &str) -> String {
        let unit = self.units.get(&UnitName { name: name.to_owned(), kind: Kind::Runtime });
        unit.and_then(|unit| unit.settings("runtime").text("runtime")).unwrap_or(name).to_owned()
    }
}

/// The environment is the one of now.
fn is_of(envs: &BTreeMap<String, Arc<EnvUnit>>, env: &Arc<EnvUnit>) -> bool {
    envs.get(&env.name).is_some_and(|now| Arc::ptr_eq(now, env))
}

fn actives<T>(all: &BTreeMap<String, Standing<T>>) -> BTreeMap<String, Arc<T>> {
    let active = |(name, standing): (&String, &Standing<T>)| match standing {
        Standing::Active(unit) => Some((name.clone(), Arc::clone(unit))),
        Standing::Off(_) => None,
    };
    all.iter().filter_map(active).collect()
}

/// Every name that a unit gives, sorted.
fn references(units: &Units, sources: &SourceMap) -> Vec<Arc<Edge>> {
    let mut edges = Vec::new();
    for unit in units.values().filter(|unit| !unit.masked) {
        for reference in unit.named() {
            edges.push(Arc::new(Edge {
                from: unit.name.clone(),
                to: reference.target.clone(),
                kind: reference.edge,
                place: place(reference.span, sources),
            }));
        }
    }
    edges.sort();
    edges
}
