//! What the commands about unit files have in common: what lies on the search path and what it means, which unit a
//! word names, and where changes are written.

pub mod flag;
pub mod names;
pub mod write;

use std::path::{Path, PathBuf};

use super::context::Context;
use super::error::CliError;
use crate::catalog::CATALOG;
use crate::daemon::{assembly, exit};
use crate::diag::mask::Masked;
use crate::diag::{Finding, Severity, SourceMap, Span};
use crate::unit::files::{self, UnitFiles};
use crate::unit::load::{Loaded, Role, Target, UnitFile};
use crate::unit::plan::{Kind, Off, OffState, Plan, Standing, UnitName};
use crate::unit::search::{SearchEnv, SearchPath};
use crate::unit::{self, CompileEnv, Compiled};

/// The unit files as they lie there now, and what they mean. No daemon is asked.
pub struct UnitSet {
    /// Where they come from.
    pub search: SearchPath,
    /// What was read.
    pub loaded: Loaded,
    /// What it means.
    pub compiled: Compiled,
    /// For short paths.
    pub home: Option<PathBuf>,
    own_dir: Option<PathBuf>,
    runtime_dir: Option<PathBuf>,
    env: CompileEnv,
}

/// Where a change is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// The directory.
    pub dir: PathBuf,
    /// Its rank on the search path.
    pub level: usize,
}

impl UnitSet {
    /// Reads and compiles.
    #[must_use]
    pub fn read(context: &Context<'_>) -> Self {
        let search_env = SearchEnv::read(&context.environment);
        let search = context.search();
        let env = compile_env(context);
        let loaded = unit::load(&search, CATALOG.registry().shipped);
        let compiled = unit::compile(&loaded, &CATALOG.registry(), &env);
        let usual = SearchPath::user_dir(&search_env).filter(|dir| search.dirs.contains(dir));
        let runtime_dir = search_env.runtime_dir.map(|dir| dir.join("workagent/units"));
        // Where the list is given by hand, the user's own directory is the first of it.
        let given = search.dirs.last().filter(|dir| Some(*dir) != runtime_dir.as_ref()).cloned();
        Self {
            own_dir: given.or(usual),
            runtime_dir: runtime_dir.filter(|dir| search.dirs.contains(dir)),
            home: search_env.home,
            search,
            loaded,
            compiled,
            env,
        }
    }

    /// The user's own directory.
    #[must_use]
    pub fn own_dir(&self) -> Option<&Path> {
        self.own_dir.as_deref()
    }

    /// The directory that changes go to: the user's own, or the one that lasts until the machine is switched off.
    ///
    /// # Errors
    /// There is none.
    pub fn own(&self, runtime: bool) -> Result<Own, CliError> {
        let dir = if runtime { &self.runtime_dir } else { &self.own_dir };
        let Some(dir) = dir.clone() else {
            let what =
                if runtime { "XDG_RUNTIME_DIR is not set" } else { "neither HOME nor --unit-dir is set" };
            let error = CliError::new(exit::CONFIG, format!("there is no directory to write to: {what}"));
            return Err(error.hint("workagent paths shows the search path"));
        };
        let level = self.search.dirs.iter().rposition(|other| *other == dir).map_or(0, |index| index + 1);
        Ok(Own { dir, level })
    }

    /// The files that make up a unit.
    #[must_use]
    pub fn files(&self, name: &UnitName) -> UnitFiles<'_> {
        UnitFiles::of(&self.loaded, name)
    }

    /// What it would mean with this text in this file.
    #[must_use]
    pub fn with(&self, file: UnitFile) -> Compiled {
        let mut loaded = self.loaded.clone();
        loaded.files.retain(|other| other.path != file.path);
        loaded.notices.retain(|notice| notice.path != file.path);
        loaded.files.push(file);
        unit::compile(&loaded, &CATALOG.registry(), &self.env)
    }

    /// A path for people.
    #[must_use]
    pub fn short(&self, path: &Path) -> String {
        super::look::path(path, self.home.as_deref())
    }

    /// A text of a file with whatever looks secret masked.
    #[must_use]
    pub fn masked(&self, file: &UnitFile) -> String {
        masked(&self.compiled.sources, file)
    }
}

impl Own {
    /// A unit's drop-in in it.
    #[must_use]
    pub fn drop_in(&self, name: &UnitName, file: &str, text: &str) -> UnitFile {
        let role = Role::DropIn { target: Target::Unit(name.clone()), file: file.to_owned() };
        self.file(self.dir.join(format!("{name}.d")).join(file), role, text)
    }

    /// A whole unit in it.
    #[must_use]
    pub fn main(&self, name: &UnitName, text: &str) -> UnitFile {
        self.file(self.dir.join(format!("{name}.toml")), Role::Main(name.clone()), text)
    }

    /// It is one of its files.
    #[must_use]
    pub fn has(&self, file: &UnitFile) -> bool {
        file.level == self.level && file.path.starts_with(&self.dir)
    }

    fn file(&self, path: PathBuf, role: Role, text: &str) -> UnitFile {
        let dir = std::path::absolute(&self.dir).unwrap_or_else(|_| self.dir.clone());
        UnitFile { level: self.level, path, dir, role, text: text.into() }
    }
}

/// What values may refer to, as the daemon of this command line sees it.
fn compile_env(context: &Context<'_>) -> CompileEnv {
    // Without a home there is no state directory either; the daemon would not start, but units can be looked at.
    let state_dir = context.paths().map_or_else(|_| PathBuf::from("/var/lib/workagent"), |paths| paths.state);
    assembly::compile_env(&context.environment, state_dir)
}

/// A text of a file with whatever looks secret masked.
fn masked(sources: &SourceMap, file: &UnitFile) -> String {
    let id = sources.find(&file.path);
    let hidden: Vec<_> = id.map(|id| sources.hidden(id).collect()).unwrap_or_default();
    Masked::new(&file.text, hidden).text
}

/// A place in a source, `FILE:LINE:COLUMN`.
#[must_use]
pub fn place(sources: &SourceMap, span: Span, home: Option<&Path>) -> String {
    let (line, column) = sources.position(span);
    format!("{}:{line}:{column}", super::look::path(sources.path(span.source), home))
}

/// Why a unit is a no-op; `None` for one that takes part or that the plan does not have.
#[must_use]
pub fn why_off<'a>(compiled: &'a Compiled, name: &UnitName) -> Option<&'a Off> {
    fn of<'a, T>(units: &'a std::collections::BTreeMap<String, Standing<T>>, name: &str) -> Option<&'a Off> {
        match units.get(name)? {
            Standing::Active(_) => None,
            Standing::Off(off) => Some(off),
        }
    }
    let plan: &Plan = &compiled.plan;
    let word = name.name.as_str();
    match name.kind {
        Kind::Daemon => compiled.daemon_off.as_ref(),
        Kind::Connector => of(&plan.connectors, word),
        Kind::Engine => of(&plan.engines, word),
        Kind::Env => of(&plan.envs, word),
        Kind::Route => of(&plan.routes, word),
        Kind::Runtime => of(&plan.runtimes, word),
        Kind::Channel => of(&plan.channels, word),
        Kind::Timer => of(&plan.timers, word),
        Kind::Secret => of(&plan.secrets, word),
        Kind::Target => of(&plan.targets, word),
    }
}

/// The mark before a unit that nobody asked a daemon about, and its colour.
#[must_use]
pub fn standing_glyph(off: Option<&Off>) -> (&'static str, &'static str) {
    match off.map(|off| off.state) {
        None => ("●", "32"),
        Some(OffState::BadSetting | OffState::Dependency) => ("×", "31"),
        Some(OffState::Disabled | OffState::Masked | OffState::Condition | OffState::Stopped) => ("○", "2"),
    }
}

/// The findings that have to do with the files of a unit.
#[must_use]
pub fn findings_of(compiled: &Compiled, files: &UnitFiles<'_>) -> Vec<Finding> {
    let about = |span: Span| {
        let path = compiled.sources.path(span.source);
        files.all().any(|file| file.path == path)
    };
    let touches =
        |finding: &&Finding| about(finding.span) || finding.labels.iter().any(|label| about(label.span));
    compiled.findings.iter().filter(touches).cloned().collect()
}

/// One of them is an error.
#[must_use]
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// All units by name; templates among them.
#[must_use]
pub fn all_names(set: &UnitSet) -> Vec<UnitName> {
    let mut names = files::names(&set.loaded);
    names.extend(set.compiled.plan.sources.keys().cloned());
    names.into_iter().collect()
}
