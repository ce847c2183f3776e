//! A plan with some of its units off: by a condition, by hand, or because another target is wanted.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::{Edge, EdgeKind, Kind, Off, OffState, Plan, RuntimeUnit, Standing, UnitName};

impl Plan {
    /// This plan with these units off, and with them those that cannot do without them. A route lives on while one of
    /// its engines is on; what is part of a stopped unit stops with it. Units that are off already keep their own
    /// reason; the daemon's own unit cannot be taken out. The hash stays that of the files.
    #[must_use]
    pub fn without(&self, off: &BTreeMap<UnitName, Off>) -> Self {
        let mut cascade = Cascade::new(self);
        cascade.take_out(off.clone());
        let off = cascade.off;
        let mut plan = self.clone();
        plan.edges.retain(|edge| !off.contains_key(&edge.from) && !off.contains_key(&edge.to));
        plan.conditions.retain(|name, _| !off.contains_key(name));
        plan.kept.retain(|name, _| !off.contains_key(name));
        for (name, why) in off {
            plan.switch_off(&name, why);
        }
        plan
    }

    /// Whether a unit takes part. The daemon's own always does.
    #[must_use]
    pub fn is_on(&self, unit: &UnitName) -> bool {
        fn active<T>(all: &BTreeMap<String, Standing<T>>, name: &str) -> bool {
            matches!(all.get(name), Some(Standing::Active(_)))
        }
        let name = unit.name.as_str();
        match unit.kind {
            Kind::Daemon => true,
            Kind::Connector => active(&self.connectors, name),
            Kind::Engine => active(&self.engines, name),
            Kind::Env => active(&self.envs, name),
            Kind::Route => active(&self.routes, name),
            Kind::Runtime => self.runtime(name).is_some(),
            Kind::Channel => active(&self.channels, name),
            Kind::Timer => active(&self.timers, name),
            Kind::Secret => active(&self.secrets, name),
            Kind::Target => active(&self.targets, name),
        }
    }

    /// All units that are on, but for the daemon's own.
    pub fn on(&self) -> impl Iterator<Item = UnitName> + '_ {
        fn of<T>(kind: Kind, all: &BTreeMap<String, Standing<T>>) -> impl Iterator<Item = UnitName> {
            all.iter().filter_map(move |(name, standing)| match standing {
                Standing::Active(_) => Some(UnitName { name: name.clone(), kind }),
                Standing::Off(_) => None,
            })
        }
        let runtimes = self.runtimes.values().filter_map(|standing| match standing {
            Standing::Active(unit) => Some(UnitName { name: unit.name.clone(), kind: Kind::Runtime }),
            Standing::Off(_) => None,
        });
        of(Kind::Connector, &self.connectors)
            .chain(of(Kind::Engine, &self.engines))
            .chain(of(Kind::Env, &self.envs))
            .chain(of(Kind::Route, &self.routes))
            .chain(runtimes)
            .chain(of(Kind::Channel, &self.channels))
            .chain(of(Kind::Timer, &self.timers))
            .chain(of(Kind::Secret, &self.secrets))
            .chain(of(Kind::Target, &self.targets))
    }

    /// What a target is without: all units that are on, but are neither among its members nor needed or wanted by one of
    /// them. `None`: there is no such target that is on.
    #[must_use]
    pub fn outside(&self, target: &str) -> Option<BTreeMap<UnitName, Off>> {
        let Some(Standing::Active(unit)) = self.targets.get(target) else { return None };
        let root = UnitName { name: target.to_owned(), kind: Kind::Target };
        let mut named: HashMap<&UnitName, Vec<&UnitName>> = HashMap::new();
        for edge in &self.edges {
            if matches!(edge.kind, EdgeKind::Wants | EdgeKind::Requires | EdgeKind::Uses) {
                named.entry(&edge.from).or_default().push(&edge.to);
            }
        }
        let mut inside: BTreeSet<&UnitName> = BTreeSet::from([&root]);
        let mut queue: Vec<&UnitName> = unit.members.iter().chain([&root]).collect();
        while let Some(name) = queue.pop() {
            inside.insert(name);
            let members = match self.targets.get(&name.name).filter(|_| name.kind == Kind::Target) {
                Some(Standing::Active(unit)) => unit.members.as_slice(),
                _ => &[],
            };
            let more = named.get(name).into_iter().flatten().copied().chain(members);
            queue.extend(more.filter(|name| !inside.contains(name)));
        }
        let reason = format!("not in `{root}`");
        let off = |name| (name, Off { state: OffState::Stopped, reason: reason.clone(), place: None });
        Some(self.on().filter(|name| !inside.contains(name)).map(off).collect())
    }

    fn runtime(&self, name: &str) -> Option<(&str, &RuntimeUnit)> {
        self.runtimes.iter().find_map(|(word, standing)| match standing {
            Standing::Active(unit) if unit.name == name => Some((word.as_str(), &**unit)),
            _ => None,
        })
    }

    fn switch_off(&mut self, unit: &UnitName, why: Off) {
        fn put<T>(all: &mut BTreeMap<String, Standing<T>>, name: &str, why: Off) {
            if let Some(standing @ Standing::Active(_)) = all.get_mut(name) {
                *standing = Standing::Off(why);
            }
        }
        let name = unit.name.as_str();
        match unit.kind {
            Kind::Daemon => {}
            Kind::Connector => put(&mut self.connectors, name, why),
            Kind::Engine => put(&mut self.engines, name, why),
            Kind::Env => put(&mut self.envs, name, why),
            Kind::Route => put(&mut self.routes, name, why),
            Kind::Runtime => {
                if let Some(word) = self.runtime(name).map(|(word, _)| word.to_owned()) {
                    put(&mut self.runtimes, &word, why);
                }
            }
            Kind::Channel => put(&mut self.channels, name, why),
            Kind::Timer => put(&mut self.timers, name, why),
            Kind::Secret => put(&mut self.secrets, name, why),
            Kind::Target => put(&mut self.targets, name, why),
        }
    }
}

/// Takes units out, and after each those that need it.
pub(in crate::unit) struct Cascade<'a> {
    plan: &'a Plan,
    on: BTreeSet<UnitName>,
    /// Edges by the unit that they lead to.
    into: HashMap<&'a UnitName, Vec<&'a Edge>>,
    /// Of each route how many engines are on.
    engines: HashMap<&'a UnitName, usize>,
    /// What was taken out.
    pub off: BTreeMap<UnitName, Off>,
}

impl<'a> Cascade<'a> {
    /// Nothing is taken out yet.
    pub fn new(plan: &'a Plan) -> Self {
        let mut into: HashMap<&UnitName, Vec<&Edge>> = HashMap::new();
        let mut engines: HashMap<&UnitName, BTreeSet<&UnitName>> = HashMap::new();
        for edge in &plan.edges {
            into.entry(&edge.to).or_default().push(edge);
            if is_choice(edge) {
                engines.entry(&edge.from).or_default().insert(&edge.to);
            }
        }
        let engines = engines.into_iter().map(|(route, of)| (route, of.len())).collect();
        Self { plan, on: plan.on().collect(), into, engines, off: BTreeMap::new() }
    }

    /// It is on, and was not taken out.
    pub fn is_on(&self, unit: &UnitName) -> bool {
        self.on.contains(unit) || unit.kind == Kind::Daemon
    }

    /// Takes units out, each with its own reason, then those that need them. Nothing happens to one that is off already.
    pub fn take_out(&mut self, units: impl IntoIterator<Item = (UnitName, Off)>) {
        let mut queue: VecDeque<(UnitName, Off)> = units.into_iter().collect();
        while let Some((name, why)) = queue.pop_front() {
            if !self.on.remove(&name) {
                continue;
            }
            let mut counted = BTreeSet::new();
            for edge in self.into.get(&name).into_iter().flatten().copied() {
                let lost = match edge.kind {
                    EdgeKind::Uses if is_choice(edge) => {
                        let left = self.engines.entry(&edge.from).or_insert(0);
                        // A route may name one engine twice.
                        if counted.insert(&edge.from) {
                            *left = left.saturating_sub(1);
                        }
                        *left == 0
                    }
                    EdgeKind::Requires | EdgeKind::Uses => true,
                    EdgeKind::PartOf => why.state == OffState::Stopped,
                    _ => false,
                };
                if lost {
                    queue.push_back((edge.from.clone(), lost_by(edge, &why)));
                }
            }
            self.off.insert(name, why);
        }
    }

    /// The plan it works on.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }
}

/// One of several that can do the same.
fn is_choice(edge: &Edge) -> bool {
    edge.kind == EdgeKind::Uses && edge.from.kind == Kind::Route && edge.to.kind == Kind::Engine
}

fn lost_by(edge: &Edge, why: &Off) -> Off {
    let place = Some(edge.place.clone());
    if edge.kind == EdgeKind::PartOf {
        let reason = format!("part of `{}`, which is stopped", edge.to);
        return Off { state: OffState::Stopped, reason, place };
    }
    let reason = format!("needs `{}`, which is off ({})", edge.to, why.state.word());
    Off { state: OffState::Dependency, reason, place }
}

#[cfg(test)]
mod tests;
