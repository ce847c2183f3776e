//! What the unit files say: one look at the search path, compiled with what was good before. The start and every reload
//! look through this.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::assembly::compile_env;
use super::paths::Paths;
use super::plans::{KeptPlan, KeptUnit, PlanStore, unit_name};
use crate::catalog::CATALOG;
use crate::model::environment::Environment;
use crate::model::time::Timestamp;
use crate::unit::compile::{CompileEnv, Compiled, Compiler, LastGood};
use crate::unit::load::{Loaded, Loader, Role, UnitFile};
use crate::unit::plan::UnitName;
use crate::unit::search::SearchPath;

/// The unit files of one daemon.
pub struct UnitSource {
    loader: Loader,
    /// What was read at the last look.
    loaded: Loaded,
    compiler: Compiler,
    search: SearchPath,
    env: CompileEnv,
    plans: PlanStore,
    last_good: LastGood,
    /// Whatever the daemon unit says, nothing is really sent.
    rehearse: bool,
}

/// A plan of an earlier generation, compiled from what was kept of it.
pub struct Pinned {
    /// Its number.
    pub generation: i64,
    /// The same plan again.
    pub compiled: Compiled,
}

impl UnitSource {
    /// Nothing looked at yet. What is broken now gets its last good version from the plans kept below the state directory.
    #[must_use]
    pub fn new(search: SearchPath, environment: &Environment, paths: &Paths) -> Self {
        let plans = PlanStore::open(paths.plans());
        let last_good = plans.latest().map(|kept| kept.last_good()).unwrap_or_default();
        let env = compile_env(environment, paths.state.clone());
        let (loader, loaded) = (Loader::default(), Loaded::default());
        Self {
            loader,
            loaded,
            compiler: Compiler::new(CATALOG.registry()),
            search,
            env,
            plans,
            last_good,
            rehearse: false,
        }
    }

    /// From here on every plan is one of a rehearsal, whatever the daemon unit says.
    #[must_use]
    pub fn rehearsing(self, rehearse: bool) -> Self {
        Self { rehearse, ..self }
    }

    fn enforced(&self, mut compiled: Compiled) -> Compiled {
        if self.rehearse && !compiled.plan.daemon.rehearsal {
            Arc::make_mut(&mut compiled.plan.daemon).rehearsal = true;
        }
        compiled
    }

    /// Where they are looked for.
    #[must_use]
    pub fn search(&self) -> &SearchPath {
        &self.search
    }

    /// Reads and compiles. What did not change since the last look is neither read nor compiled again; what cannot be read
    /// now is as it was.
    pub fn look(&mut self, now: Timestamp) -> Compiled {
        let mut loaded = self.loader.load(&self.search, self.compiler.registry().shipped, now);
        loaded.keep_unread(&self.loaded);
        let compiled = self.compiler.compile(&loaded, &self.env, &self.last_good);
        self.loaded = loaded;
        self.enforced(compiled)
    }

    /// The plan that daemons are pinned to, if they are and it is still there.
    #[must_use]
    pub fn pinned(&self) -> Option<Pinned> {
        let generation = self.plans.pinned()?;
        match self.plans.get(generation) {
            Ok(kept) => Some(self.again(&kept)),
            Err(error) => {
                tracing::error!("the pinned plan cannot be used, unit files count: {error}");
                None
            }
        }
    }

    /// A kept plan compiled again. Units that were off then are off with the same reason.
    fn again(&self, kept: &KeptPlan) -> Pinned {
        let mut loaded = Loaded::default();
        let mut off: Vec<(UnitName, &str)> = Vec::new();
        for (full, unit) in &kept.units {
            let Some(name) = unit_name(full) else { continue };
            let text = match unit {
                KeptUnit::On { text, .. } => Arc::clone(text),
                KeptUnit::Off { reason, .. } => {
                    off.push((name.clone(), reason));
                    "[install]\nmasked = true\n".into()
                }
            };
            let path = PathBuf::from(format!("<generation {}>/{full}.toml", kept.generation));
            let role = Role::Main(name);
            loaded.files.push(UnitFile { level: 1, path, dir: PathBuf::from("/"), role, text });
        }
        let mut compiled =
            Compiler::new(CATALOG.registry()).compile(&loaded, &self.env, &LastGood::default());
        for (name, reason) in off {
            compiled.plan.tell_off(&name, reason);
        }
        Pinned { generation: kept.generation, compiled: self.enforced(compiled) }
    }

    /// These are the versions that count as good from now on.
    pub fn remember(&mut self, compiled: &Compiled) {
        self.last_good.clone_from(&compiled.canonical);
    }

    /// The canonical texts of what runs.
    #[must_use]
    pub fn last_good(&self) -> &BTreeMap<UnitName, Arc<str>> {
        &self.last_good
    }

    /// The plans on disk.
    #[must_use]
    pub fn plans(&self) -> &PlanStore {
        &self.plans
    }
}
