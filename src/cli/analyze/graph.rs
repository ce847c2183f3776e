//! The unit graph as a picture shows it: units and the secrets they name, and what one has to do with the other.

use std::collections::{BTreeMap, BTreeSet};

use globset::Glob;

use crate::model::secret_ref::SecretRef;
use crate::unit::Compiled;
use crate::unit::plan::{
    ConnectorUnit, EdgeKind, EngineUnit, EnvUnit, Kind, Off, OffState, OutboundRule, Plan, RouteUnit,
    Standing, UnitName,
};
use crate::unit::value::Setting;

/// The picture's content.
#[derive(Debug, Default)]
pub struct Graph {
    /// By name.
    pub nodes: Vec<Node>,
    /// By what they mean and where they go, each once.
    pub links: Vec<Link>,
}

/// One thing in the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `inbox.connector`, `secret mail/me`, `any connector`.
    pub id: String,
    /// Its kind; a secret without a unit has that of secrets.
    pub kind: Kind,
    /// A second line: "imap · reviewed".
    pub note: String,
    /// How it stands.
    pub state: State,
    /// Why it is off.
    pub why: Option<String>,
    /// Counts as a column of its own, left to right.
    pub column: usize,
}

/// How a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Takes part.
    On,
    /// Disabled, masked, or a condition does not hold.
    Off,
    /// Has errors, or needs something that is off.
    Bad,
    /// Named, and not there.
    Missing,
}

/// What one node has to do with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Index of the node that says it.
    pub from: usize,
    /// Index of the node it names.
    pub to: usize,
    /// What it means.
    pub means: Means,
}

/// The meaning of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Means {
    /// Cases of the one come to the other.
    Cases,
    /// A value names it.
    Uses,
    /// It reads this secret.
    Secret,
    /// `requires`.
    Requires,
    /// `wants`.
    Wants,
    /// `part_of`.
    PartOf,
    /// `after`, or `before` the other way round.
    After,
    /// `conflicts`.
    Conflicts,
}

impl Means {
    /// All, in the order of a legend.
    pub const ALL: [Self; 8] = [
        Self::Cases,
        Self::Uses,
        Self::Secret,
        Self::Requires,
        Self::Wants,
        Self::PartOf,
        Self::After,
        Self::Conflicts,
    ];

    /// The word in legends and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::Uses => "uses",
            Self::Secret => "secret",
            Self::Requires => "requires",
            Self::Wants => "wants",
            Self::PartOf => "part_of",
            Self::After => "after",
            Self::Conflicts => "conflicts",
        }
    }
}

impl Node {
    /// It is a unit, rather than a bare secret or what stands for several.
    #[must_use]
    pub fn is_unit(&self) -> bool {
        !self.id.starts_with('$') && !self.id.contains(' ')
    }
}

impl State {
    /// The word in legends and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
            Self::Bad => "bad",
            Self::Missing => "missing",
        }
    }
}

/// Stands for all connectors before a route that takes cases of any.
const ANY: &str = "any connector";

/// Columns, left to right.
const LEFT: usize = 0;
const CONNECTORS: usize = 1;
const ROUTES: usize = 2;
const ENGINES: usize = 3;
const ENVS: usize = 4;
const RIGHT: usize = 5;

impl Graph {
    /// Everything there is.
    #[must_use]
    pub fn new(compiled: &Compiled) -> Self {
        let mut draft = Draft::default();
        let plan = &compiled.plan;
        for (name, off) in plan.standings() {
            draft.unit(&name, off, note(plan, &name));
        }
        for edge in &compiled.references {
            draft.reference(&edge.from, &edge.to, edge.kind);
        }
        draft.cases(plan);
        draft.secrets(plan);
        draft.finish()
    }

    /// Without what takes no part and has to do with nothing that does, and without runtimes nobody names.
    #[must_use]
    pub fn essential(self) -> Self {
        let mut linked = BTreeSet::new();
        for link in &self.links {
            let on = |at: usize| self.nodes.get(at).is_some_and(|node| node.state != State::Off);
            if on(link.from) || on(link.to) {
                linked.extend([link.from, link.to]);
            }
        }
        self.keep(|at, node| {
            linked.contains(&at) || (!matches!(node.state, State::Off) && node.kind != Kind::Runtime)
        })
    }

    /// Only what can be reached from one node along the links, in either direction. `None`: there is no such node.
    #[must_use]
    pub fn around(self, id: &str) -> Option<Self> {
        let start = self.nodes.iter().position(|node| node.id == id)?;
        let mut near = BTreeSet::from([start]);
        for forward in [true, false] {
            let mut seen = BTreeSet::from([start]);
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                for link in &self.links {
                    let (here, there) = if forward { (link.from, link.to) } else { (link.to, link.from) };
                    if here == at && seen.insert(there) {
                        open.push(there);
                    }
                }
            }
            near.extend(seen);
        }
        Some(self.keep(|at, _| near.contains(&at)))
    }

    fn keep(self, wanted: impl Fn(usize, &Node) -> bool) -> Self {
        let mut places = BTreeMap::new();
        let mut nodes = Vec::new();
        for (at, node) in self.nodes.into_iter().enumerate() {
            if wanted(at, &node) {
                places.insert(at, nodes.len());
                nodes.push(node);
            }
        }
        let moved = |link: &Link| {
            Some(Link { from: *places.get(&link.from)?, to: *places.get(&link.to)?, means: link.means })
        };
        Self { links: self.links.iter().filter_map(moved).collect(), nodes }
    }
}

#[derive(Default)]
struct Draft {
    nodes: BTreeMap<String, Node>,
    links: BTreeSet<(String, String, Means)>,
}

impl Draft {
    fn unit(&mut self, name: &UnitName, off: Option<&Off>, note: String) {
        let state = match off.map(|off| off.state) {
            None => State::On,
            Some(OffState::BadSetting | OffState::Dependency) => State::Bad,
            Some(_) => State::Off,
        };
        let column = match name.kind {
            Kind::Connector | Kind::Timer => CONNECTORS,
            Kind::Route => ROUTES,
            Kind::Engine => ENGINES,
            Kind::Env | Kind::Runtime => ENVS,
            Kind::Secret | Kind::Daemon => RIGHT,
            Kind::Target | Kind::Channel => LEFT,
        };
        let note = off.map_or(note, |off| off.state.word().to_owned());
        let id = name.to_string();
        let why = off.map(|off| off.reason.clone());
        self.nodes.insert(id.clone(), Node { id, kind: name.kind, note, state, why, column });
    }

    fn missing(&mut self, name: &UnitName) {
        if !self.nodes.contains_key(&name.to_string()) {
            self.unit(name, None, "not there".to_owned());
            if let Some(node) = self.nodes.get_mut(&name.to_string()) {
                (node.state, node.why) = (State::Missing, Some("there is no such unit".to_owned()));
            }
        }
    }

    fn reference(&mut self, from: &UnitName, to: &UnitName, kind: EdgeKind) {
        self.missing(from);
        self.missing(to);
        let means = match kind {
            EdgeKind::Uses if to.kind == Kind::Secret => Means::Secret,
            EdgeKind::Uses => Means::Uses,
            EdgeKind::Wants | EdgeKind::WantedBy => Means::Wants,
            EdgeKind::Requires => Means::Requires,
            EdgeKind::PartOf => Means::PartOf,
            EdgeKind::Conflicts => Means::Conflicts,
            EdgeKind::After | EdgeKind::Before => Means::After,
            // Nothing in a picture of who waits for whom.
            EdgeKind::OnFailure => return,
        };
        let (from, to) =
            if matches!(kind, EdgeKind::Before | EdgeKind::WantedBy) { (to, from) } else { (from, to) };
        self.links.insert((from.to_string(), to.to_string(), means));
    }

    /// From each connector to the routes that name it.
    fn cases(&mut self, plan: &Plan) {
        for route in active(&plan.routes) {
            let id = format!("{}.route", route.name);
            let patterns = &route.matches.connector;
            if patterns.is_empty() || patterns.iter().any(|pattern| pattern == "*") {
                let (note, why) = ("takes cases of all".to_owned(), None);
                let (id_any, kind) = (ANY.to_owned(), Kind::Connector);
                let node = Node { id: id_any, kind, note, state: State::On, why, column: CONNECTORS };
                self.nodes.insert(ANY.to_owned(), node);
                self.links.insert((ANY.to_owned(), id, Means::Cases));
                continue;
            }
            for pattern in patterns {
                let Ok(glob) = Glob::new(pattern) else { continue };
                let glob = glob.compile_matcher();
                for name in plan.connectors.keys().filter(|name| glob.is_match(name)) {
                    self.links.insert((format!("{name}.connector"), id.clone(), Means::Cases));
                }
            }
        }
    }

    fn secrets(&mut self, plan: &Plan) {
        let mut found: Vec<(String, bool, SecretRef)> = Vec::new();
        for unit in active(&plan.connectors) {
            let id = format!("{}.connector", unit.name);
            found.extend(unit.settings.secrets().into_iter().map(|secret| (id.clone(), true, secret)));
        }
        for unit in active(&plan.engines) {
            let id = format!("{}.engine", unit.name);
            found.extend(unit.settings.secrets().into_iter().map(|secret| (id.clone(), false, secret)));
        }
        for unit in active(&plan.envs) {
            let id = format!("{}.env", unit.name);
            let secrets = unit.set.values().filter_map(|setting| match setting {
                Setting::Secret(reference) => Some(reference.clone()),
                Setting::Text(_) => None,
            });
            found.extend(secrets.map(|secret| (id.clone(), false, secret)));
        }
        let right: BTreeSet<&SecretRef> =
            found.iter().filter(|(_, left, _)| !left).map(|(_, _, secret)| secret).collect();
        for (user, _, secret) in &found {
            let id = self.secret(plan, secret, if right.contains(secret) { RIGHT } else { LEFT });
            self.links.insert((user.clone(), id, Means::Secret));
        }
    }

    /// The secret unit that stands for the reference, or a node for the bare name.
    fn secret(&mut self, plan: &Plan, secret: &SecretRef, column: usize) -> String {
        if let SecretRef::Stored(name) = secret
            && let Some(Standing::Active(unit)) = plan.secret_unit(name)
        {
            let id = format!("{}.secret", unit.name);
            if let Some(node) = self.nodes.get_mut(&id) {
                node.column = column;
            }
            return id;
        }
        let (id, note) = match secret {
            SecretRef::Stored(name) => (format!("secret {name}"), "in the secret store"),
            SecretRef::Env(name) => (format!("${name}"), "the daemon's environment"),
        };
        let (note, state) = (note.to_owned(), State::On);
        let node = Node { id: id.clone(), kind: Kind::Secret, note, state, why: None, column };
        self.nodes.insert(id.clone(), node);
        id
    }

    fn finish(self) -> Graph {
        let places: BTreeMap<String, usize> =
            self.nodes.keys().enumerate().map(|(at, id)| (id.clone(), at)).collect();
        let link = |(from, to, means): &(String, String, Means)| {
            Some(Link { from: *places.get(from)?, to: *places.get(to)?, means: *means })
        };
        let mut links: Vec<Link> = self.links.iter().filter_map(link).collect();
        links.sort();
        Graph { links, nodes: self.nodes.into_values().collect() }
    }
}

fn active<T>(units: &BTreeMap<String, Standing<T>>) -> impl Iterator<Item = &T> {
    units.values().filter_map(|standing| match standing {
        Standing::Active(unit) => Some(unit.as_ref()),
        Standing::Off(_) => None,
    })
}

fn note(plan: &Plan, name: &UnitName) -> String {
    fn of<T>(units: &BTreeMap<String, Standing<T>>, name: &UnitName, say: impl Fn(&T) -> String) -> String {
        match units.get(&name.name) {
            Some(Standing::Active(unit)) => say(unit),
            _ => String::new(),
        }
    }
    match name.kind {
        Kind::Connector => of(&plan.connectors, name, |unit: &ConnectorUnit| {
            let rule = match unit.outbound {
                OutboundRule::Never => "sends nothing",
                OutboundRule::Reviewed => "reviewed",
                OutboundRule::Auto => "sends by itself",
            };
            format!("{} · {rule}", unit.platform)
        }),
        Kind::Engine => of(&plan.engines, name, |unit: &EngineUnit| {
            let place = if unit.local { "here" } else { "elsewhere" };
            match unit.model.as_str() {
                "" => format!("{} · {place}", unit.engine),
                model => format!("{model} · {place}"),
            }
        }),
        Kind::Route => of(&plan.routes, name, |unit: &RouteUnit| match unit.priority {
            0 if unit.private => "private".to_owned(),
            0 => "route".to_owned(),
            priority if unit.private => format!("priority {priority} · private"),
            priority => format!("priority {priority}"),
        }),
        Kind::Env => of(&plan.envs, name, |unit: &EnvUnit| match unit.set.len() + unit.pass.len() {
            1 => "1 variable".to_owned(),
            count => format!("{count} variables"),
        }),
        kind => kind.word().to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests;
