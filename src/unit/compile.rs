//! The compiler: what was read → plan and findings.

mod build;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::{
    bad_name, disabled_incomplete, duplicate_key, ignored_file, literal_secret, syntax_error, unknown_kind,
    unreadable, writable_by_others,
};
use super::defaults::Defaults;
use super::graph::{self, Units};
use super::layers::{self, Doc, Effective, Parsed};
use super::load::{Loaded, Notice, Trouble, UnitFile};
use super::parse;
use super::plan::{Edge, Kind, Off, Plan, UnitName};
use super::registry::Registry;
use super::routes;
use super::typed::{Surroundings, Typed};
use crate::diag::{self, Finding, Severity, SourceId, SourceMap, Span};

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

/// Compiles again and again: what did not change since the last time is neither parsed nor typed again. The result is
/// the same as that of [`compile`] on the same input.
#[derive(Debug)]
pub struct Compiler {
    registry: Registry,
}

impl Compiler {
    /// Nothing compiled yet.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self { registry }
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
        let _ = last_good;
        compile(loaded, &self.registry, env)
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
    /// Where each key of a unit comes from, in the order of tables and keys; units that could be read.
    pub origins: BTreeMap<UnitName, Arc<[KeyOrigin]>>,
    /// Every unit named by a unit, also by and to those that are off or not there, sorted; what masked units say is not
    /// among them. [`Plan::edges`] has those between units that take part.
    pub references: Vec<Edge>,
    /// The `daemon` unit itself is off or broken, so `plan.daemon` holds the defaults: a daemon must not start on it.
    pub daemon_off: Option<Off>,
}

/// Compiles what was read. A pure function: no file, network, clock or environment; the order of `loaded` does not
/// matter.
#[must_use]
pub fn compile(loaded: &Loaded, registry: &Registry, env: &CompileEnv) -> Compiled {
    let mut sources = SourceMap::default();
    let (mut findings, unread) = notices(&loaded.notices, &mut sources);
    let files = Effective::of(loaded.files.iter().chain(unread.iter().map(|(file, _)| file)));
    let unread: HashMap<&Path, &Finding> =
        unread.iter().map(|(file, finding)| (file.path.as_path(), finding)).collect();
    let mut parsed = Parsed::default();
    for file in files.all() {
        parsed.add(file, unread.get(file.path.as_path()).copied(), &mut sources);
    }
    findings.append(&mut parsed.findings);
    findings.extend(files.orphans(&parsed));

    let mut defaults = Defaults::default();
    let mut units = Units::new();
    for (name, main) in files.mains.iter().filter(|(name, _)| !name.is_template()) {
        let mut around = Surroundings { registry, env, dirs: &parsed.dirs, defaults: &mut defaults };
        if let Some(unit) = one(name, main, &files, &parsed.docs, &sources, &mut around) {
            units.insert(name.clone(), unit);
        }
    }
    graph::check(&mut units);
    let cycles = graph::cycle::check(&mut units);
    routes::check(&mut units, registry);
    let off = graph::off::find(&units, &cycles, &sources);

    let paths = files.mains.iter().map(|(name, file)| (name.clone(), file.path.clone())).collect();
    let references = build::references(&units, &sources);
    let build::Built { plan, canonical, daemon_off } = build::plan(&units, off, registry, &sources, paths);
    for unit in units.into_values() {
        unit.report.secrets.iter().for_each(|span| sources.hide(*span));
        findings.extend(calm(unit));
    }
    let cut = diag::settle(&mut findings, &sources);
    let origins = BTreeMap::new();
    Compiled { plan, findings, cut, sources, canonical, origins, references, daemon_off }
}

/// One unit: its merged layers typed.
fn one(
    name: &UnitName,
    main: &UnitFile,
    files: &Effective<'_>,
    docs: &HashMap<&Path, Doc>,
    sources: &SourceMap,
    around: &mut Surroundings<'_>,
) -> Option<Typed> {
    let merged = layers::merged(name, main, files, docs)?;
    let broken = !merged.broken.is_empty();
    let mut unit = Typed::new(name.clone(), merged.source, merged.shipped, &merged.root, broken, around);
    if broken {
        // What stands on a broken line was hardly read as it was meant.
        unit.report.findings.retain(|finding| {
            !merged.broken_spans.iter().any(|span| {
                span.source == finding.span.source
                    && parse::same_line(sources.text(span.source), *span, finding.span)
            })
        });
    }
    // The unit is off because of them; they are told with their file.
    unit.report.findings.extend(merged.findings);
    unit.report.findings.extend(merged.broken);
    Some(unit)
}

/// The findings of a unit as they are told: those of a disabled unit become one info, but for the ones that are
/// faults of the file whether it runs or not.
fn calm(unit: Typed) -> Vec<Finding> {
    if unit.enabled && !unit.masked {
        return unit.report.findings;
    }
    let always = [literal_secret::CHECK.code, syntax_error::CHECK.code, duplicate_key::CHECK.code];
    let (mut told, calm): (Vec<Finding>, Vec<Finding>) =
        unit.report.findings.into_iter().partition(|finding| always.contains(&finding.check.code));
    let (infos, problems): (Vec<Finding>, Vec<Finding>) =
        calm.into_iter().partition(|finding| finding.severity == Severity::Info);
    if unit.masked || unit.shipped {
        return told;
    }
    let mut titles: Vec<String> = problems.into_iter().map(|finding| finding.title).collect();
    let mut seen = BTreeSet::new();
    titles.retain(|title| seen.insert(title.clone()));
    if titles.is_empty() {
        told.extend(infos);
    } else {
        told.push(disabled_incomplete::finding(Span::file(unit.source), &titles));
    }
    told
}

/// The findings about what was not read, and the files that nevertheless take their units' places, with the reason.
fn notices(notices: &[Notice], sources: &mut SourceMap) -> (Vec<Finding>, Vec<(UnitFile, Finding)>) {
    let mut notices: Vec<&Notice> = notices.iter().collect();
    notices.sort();
    let (mut findings, mut unread) = (Vec::new(), Vec::new());
    for notice in notices {
        let span = Span::file(sources.add(notice.path.clone(), "".into()));
        let finding = match &notice.trouble {
            Trouble::Ignored(names) => ignored_file::finding(span, names),
            Trouble::UnknownKind(word) => unknown_kind::finding(span, word),
            Trouble::BadName(file) => bad_name::finding(span, file),
            Trouble::WritableByOthers { who, directory } => {
                writable_by_others::finding(span, who, *directory)
            }
            trouble => unreadable::finding(span, trouble),
        };
        if let Some((level, role)) = notice.instead_of.clone() {
            let file =
                UnitFile { level, path: notice.path.clone(), dir: PathBuf::new(), role, text: "".into() };
            unread.push((file, finding.clone()));
        }
        findings.push(finding);
    }
    (findings, unread)
}

/// The daemon unit's name.
fn daemon_name() -> UnitName {
    UnitName { name: super::kinds::daemon::NAME.to_owned(), kind: Kind::Daemon }
}
