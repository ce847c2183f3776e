//! The compiler: what was read → plan and findings.

mod build;
mod kept;
mod memory;
mod told;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::budgets;
use super::check::endless_instances;
use super::graph::{self, Units};
use super::layers::{Docs, Effective, Layers};
use super::load::Loaded;
use super::payers;
use super::plan::{Edge, Kind, Off, Plan, UnitName};
use super::registry::Registry;
use super::routes;
use super::typed::Typed;
use super::value::Settings;
use crate::diag::{self, Finding, SourceId, SourceMap, Span};
use crate::model::limits;
use memory::Memory;

/// What values may refer to outside the files. Handed in, never looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileEnv {
    /// `~` and `%h`.
    pub home: Option<PathBuf>,
    /// `%S`: the daemon's state directory.
    pub state_dir: PathBuf,
    /// `%E`: the daemon's configuration directory.
    pub config_dir: Option<PathBuf>,
    /// `%C`: the daemon's cache directory.
    pub cache_dir: Option<PathBuf>,
    /// `%t`: the daemon's runtime directory.
    pub runtime_dir: Option<PathBuf>,
    /// `%u`: the name of the user.
    pub user: Option<String>,
    /// `%H`: the name of this machine.
    pub host: Option<String>,
}

/// The last good version of units: canonical text (see [`Compiled::canonical`]) of what ran before.
pub type LastGood = BTreeMap<UnitName, Arc<str>>;

/// Where a key's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOrigin {
    /// Its table.
    pub table: String,
    /// Its key.
    pub key: String,
    /// The value that counts, as TOML text in one line; secrets are references.
    pub value: String,
    /// Where it stands; `None` is the default of the schema.
    pub span: Option<Span>,
    /// Values in lower layers that it replaces, the nearest first; for a list that was appended to, what it was made of.
    pub shadows: Vec<Span>,
}

/// Where the keys of units come from. Worked out for a unit when it is asked about: a check of a thousand units asks
/// about none.
#[derive(Clone, Debug)]
pub struct Origins {
    registry: Registry,
    units: BTreeMap<UnitName, Arc<Typed>>,
}

impl Origins {
    fn new(registry: Registry, units: BTreeMap<UnitName, Arc<Typed>>) -> Self {
        Self { registry, units }
    }

    /// The keys of one unit, in the order of tables and keys; `None` for a unit that could not be read.
    #[must_use]
    pub fn get(&self, name: &UnitName) -> Option<Arc<[KeyOrigin]>> {
        self.units.get(name).map(|unit| unit.origins(&self.registry))
    }

    /// The checked keys of one table of a unit, whether it is on or not; `None` for a unit that could not be read.
    #[must_use]
    pub fn settings(&self, name: &UnitName, table: &str) -> Option<Settings> {
        self.units.get(name).map(|unit| unit.settings(table).clone())
    }

    /// Those of all units, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&UnitName, Arc<[KeyOrigin]>)> {
        self.units.iter().map(|(name, unit)| (name, unit.origins(&self.registry)))
    }
}

/// Compiles again and again: what did not change since the last time is neither parsed nor typed again. The result is
/// the same as that of [`compile`] on the same input.
#[derive(Debug)]
pub struct Compiler {
    registry: Registry,
    memory: Memory,
}

impl Compiler {
    /// Nothing compiled yet.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self { registry, memory: Memory::default() }
    }

    /// What units can name.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Compiles. A unit whose present files have errors takes part by its version in `last_good`, if it has one that
    /// stands among the others now; it is then in [`Plan::kept`], and the findings are those of the present files.
    /// Disabling, masking and removing need no version without errors: they take effect.
    #[must_use]
    pub fn compile(&mut self, loaded: &Loaded, env: &CompileEnv, last_good: &LastGood) -> Compiled {
        let Self { registry, memory } = self;
        let mut sources = SourceMap::default();
        memory.begin(env);
        let (mut findings, unread) =
            told::notices(&loaded.notices, |path| memory.source(path, &"".into(), &mut sources));
        let files = Effective::of(loaded.files.iter().chain(unread.iter().map(|(file, _)| file)));
        let unread: HashMap<&Path, &Finding> =
            unread.iter().map(|(file, finding)| (file.path.as_path(), finding)).collect();
        let mut docs = Docs::new();
        for file in files.all() {
            let doc = memory.doc(file, unread.get(file.path.as_path()).copied(), &mut sources);
            findings.extend(doc.errors.iter().cloned());
            docs.insert(&file.path, doc);
        }
        findings.extend(files.orphans(&docs));

        let mut units = Units::new();
        let templates = files.templates();
        let mut names = files.units();
        let (mut by_name, mut endless) = (0, BTreeSet::new());
        while let Some(name) = names.pop_first() {
            if let Some(layers) = Layers::of(&name, &files, &docs) {
                let unit = graph::Unit::new(memory.unit(&name, layers, registry, env));
                let called = unit.calls().filter(|target| graph::can_be_made(target, &templates)).cloned();
                for target in called.filter(|target| !units.contains_key(target) && *target != name) {
                    if by_name == limits::INSTANCES_NAMED_MAX {
                        endless.insert(target.template());
                    } else if names.insert(target) {
                        by_name += 1;
                    }
                }
                units.insert(name, unit);
            }
        }
        for template in endless.into_iter().flatten() {
            let doc = files.main(&template).and_then(|main| docs.get(main.path.as_path()));
            findings.extend(doc.map(|doc| endless_instances::finding(&template, Span::file(doc.source))));
        }
        // A template without instances is looked at by itself, or its faults would be told only with the first one.
        let made: BTreeSet<UnitName> = units.keys().filter_map(UnitName::template).collect();
        for name in templates.iter().filter(|name| !made.contains(name)) {
            if let Some(layers) = Layers::of(name, &files, &docs) {
                let unit = graph::Unit::new(memory.unit(name, layers, registry, env));
                unit.report.secrets.iter().for_each(|span| sources.hide(*span));
                findings.extend(told::calm(&unit));
            }
        }
        let present = Look::at(units, templates, registry, &sources);
        for unit in present.units.values() {
            findings.extend(told::calm(unit));
        }
        let (look, kept) =
            kept::second_look(&present, loaded, last_good, (registry, env), memory, &mut sources);
        let look = look.as_ref().unwrap_or(&present);

        for unit in present.units.values().chain(look.units.values()) {
            unit.report.secrets.iter().for_each(|span| sources.hide(*span));
        }
        let path = |name: &UnitName| Some((name.clone(), files.main(name)?.path.clone()));
        let paths = present.units.keys().filter_map(path).collect();
        let built = build::plan(look, registry, &sources, (paths, kept));
        memory.end(&sources);
        let typed = present.units.into_iter().map(|(name, unit)| (name, unit.typed)).collect();
        let origins = Origins::new(registry.clone(), typed);
        let cut = diag::settle(&mut findings, &sources);
        let build::Built { plan, canonical, references, daemon_off } = built;
        Compiled { plan, findings, cut, sources, canonical, origins, references, daemon_off }
    }
}

/// The result of a compile. There is always a plan: broken units are no-ops in it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The plan.
    pub plan: Plan,
    /// All findings, sorted; at most `limits::FINDINGS_PER_FILE_MAX` a file.
    pub findings: Vec<Finding>,
    /// How many findings of a file were cut.
    pub cut: Vec<(SourceId, usize)>,
    /// The files they point into.
    pub sources: SourceMap,
    /// The canonical form of each unit that is on, by its name: a whole unit file in TOML with all layers merged, defaults
    /// filled in, specifiers and relative paths resolved, keys in order, no comments. Compiling these gives the same plan.
    pub canonical: BTreeMap<UnitName, Arc<str>>,
    /// Where each key of a unit comes from; units that could be read.
    pub origins: Origins,
    /// Every unit named by a unit, also by and to those that are off or not there, sorted; what masked units say is not
    /// among them. [`Plan::edges`] has those between units that take part.
    pub references: Vec<Arc<Edge>>,
    /// The `daemon` unit itself is off or broken, so `plan.daemon` holds the defaults: a daemon must not start on it.
    pub daemon_off: Option<Off>,
}

/// Compiles what was read. A pure function: no file, network, clock or environment; the order of `loaded` does not
/// matter.
#[must_use]
pub fn compile(loaded: &Loaded, registry: &Registry, env: &CompileEnv) -> Compiled {
    Compiler::new(registry.clone()).compile(loaded, env, &LastGood::new())
}

/// All units looked at together.
struct Look {
    units: Units,
    templates: BTreeSet<UnitName>,
    off: BTreeMap<UnitName, Off>,
}

impl Look {
    fn at(mut units: Units, templates: BTreeSet<UnitName>, registry: &Registry, sources: &SourceMap) -> Self {
        graph::tie_secrets(&mut units);
        graph::check(&mut units, &templates);
        let cycles = graph::cycle::check(&mut units);
        routes::check(&mut units, registry);
        budgets::check(&mut units, registry);
        payers::check(&mut units);
        let off = graph::off::find(&units, &cycles, sources);
        Self { units, templates, off }
    }
}

/// The daemon unit's name.
pub(crate) fn daemon_name() -> UnitName {
    UnitName { name: super::kinds::daemon::NAME.to_owned(), kind: Kind::Daemon }
}
