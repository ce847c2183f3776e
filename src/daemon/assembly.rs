//! From places to a bundle: what `run`, `run --once`, `demo` and a command without a daemon have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;

use crate::bundle::{BundleDeps, DaemonRuntimeBundle};
use crate::catalog::CATALOG;
use crate::control::api::{ApiState, Present};
use crate::diag::Counts;
use crate::http::HttpRoom;
use crate::model::class::chain;
use crate::model::environment::Environment;
use crate::model::limits;
use crate::model::live::Live;
use crate::model::run::RunFailure;
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::runtime::points::Point;
use crate::secret::Scrubber;
use crate::secret::places::Places;
use crate::secret::secrets::Secrets;
use crate::store::{Expected, Recovery, Store, StoreError, StoreOptions};
use crate::unit::compile::{CompileEnv, Compiled, compile};
use crate::unit::load::load;
use crate::unit::plan::{Off, Plan, Standing};
use crate::unit::search::SearchPath;

use super::backup::{self, Kept};
use super::holds::Holds;
use super::lock::{InstanceLock, LockError};
use super::mark;
use super::paths::Paths;
use super::place;
use super::reload::effective;
use super::secrets::Around;
use super::unit_source::Pinned;

/// What to assemble from.
pub struct Options {
    /// The captured environment.
    pub environment: Environment,
    /// Where things lie.
    pub paths: Paths,
    /// The compiled units.
    pub compiled: Compiled,
    /// The earlier plan that counts instead of them, if one was pinned.
    pub pinned: Option<Pinned>,
    /// Now.
    pub clock: Clock,
    /// Masks secrets; the same one that the log goes through.
    pub scrubber: Scrubber,
}

/// Why nothing could be assembled.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    /// Another instance.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The daemon unit cannot be used.
    #[error("the daemon unit cannot be used: {}", .0.reason)]
    DaemonUnit(Off),
    /// The database.
    #[error("open the database")]
    Store(#[from] StoreError),
    /// The database cannot be used, and was left as it is. Exit code [`DATABASE`](super::exit::DATABASE).
    #[error("open the database")]
    Unusable {
        /// Why.
        #[source]
        source: StoreError,
        /// What can be put back, newest first.
        kept: Vec<Kept>,
        /// What says that there was a database.
        mark: PathBuf,
    },
}

/// A bundle with everything it stands on. Holds the instance lock.
pub struct Assembly {
    /// The bundle, not started.
    pub bundle: DaemonRuntimeBundle,
    /// The record.
    pub store: Store,
    /// Plan, findings and their sources.
    pub compiled: Arc<Compiled>,
    /// Where secret values come from.
    pub secrets: Secrets,
    /// The captured environment.
    pub environment: Environment,
    /// The generation that was pinned.
    pub pinned: Option<i64>,
    /// What start-up found of a dead predecessor.
    pub recovery: Recovery,
    /// Where things lie.
    pub paths: Paths,
    /// Masks secrets.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
    /// Nobody else works on this state while it is held.
    pub lock: InstanceLock,
}

/// Loads and compiles the unit files; the same function for `validate` and the daemon.
#[must_use]
pub fn compile_units(search: &SearchPath, environment: &Environment, state_dir: PathBuf) -> Compiled {
    let registry = CATALOG.registry();
    let loaded = load(search, registry.shipped);
    compile(&loaded, &registry, &compile_env(environment, state_dir))
}

/// What values of unit files may refer to, for a daemon with this environment and state directory.
#[must_use]
pub fn compile_env(environment: &Environment, state_dir: PathBuf) -> CompileEnv {
    let dir = |name| environment.get_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = dir("HOME");
    let own = |variable, below_home: &str| {
        let base = dir(variable).or_else(|| home.as_ref().map(|home| home.join(below_home)))?;
        Some(base.join("workagent"))
    };
    CompileEnv {
        config_dir: own("XDG_CONFIG_HOME", ".config"),
        cache_dir: own("XDG_CACHE_HOME", ".cache"),
        runtime_dir: dir("XDG_RUNTIME_DIR").map(|dir| dir.join("workagent")),
        user: ["USER", "LOGNAME"].into_iter().find_map(|name| environment.get(name)).map(str::to_owned),
        host: rustix::system::uname().nodename().to_str().ok().map(str::to_owned),
        home,
        state_dir,
    }
}

/// Opens the database that this state is to have, and leaves the mark of it.
async fn open_store(
    paths: &Paths,
    database: PathBuf,
    (normal, clock): (bool, Clock),
) -> Result<Store, AssemblyError> {
    let options = StoreOptions { path: database.clone(), normal, clock };
    let mut expected = mark::expected(&paths.state);
    if expected == Expected::First && !database.exists() {
        // Before the database, or a kill between the two would look like a database from elsewhere.
        match mark::begin(&paths.state, &database) {
            Ok(life) => expected = Expected::Known(life),
            Err(error) => {
                tracing::warn!("note which database this will be, in {}: {error}", paths.state.display());
            }
        }
    }
    let store = match Store::open_expected(options, &expected).await {
        Ok(store) => store,
        Err(source) if source.unusable().is_some() => {
            let kept = backup::kept(&paths.state, &database);
            return Err(AssemblyError::Unusable { source, kept, mark: mark::path(&paths.state) });
        }
        Err(error) => return Err(error.into()),
    };
    if let Err(error) = mark::leave(&paths.state, store.life()) {
        tracing::warn!("note which database this is, in {}: {error}", paths.state.display());
    }
    Ok(store)
}

/// Counts the database's stamp up, so that it can be told from every copy made before.
pub(super) async fn stamp(paths: &Paths, store: &Store) {
    let stamped = match store.stamp().await {
        Ok(life) => mark::leave(&paths.state, &life).map_err(|error| error.to_string()),
        Err(error) => Err(chain(&error)),
    };
    if let Err(error) = stamped {
        tracing::warn!("note how far the database has come: {error}");
    }
}

/// Engines of a killed daemon have been ended; what they worked in is nobody's any more.
fn sweep_runs(runs: &Path) {
    match std::fs::remove_dir_all(runs) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!("remove left-over run directories in {}: {error}", runs.display());
        }
        _ => {}
    }
}

/// Longest wait for one who holds the lock and does not listen.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// How often it is tried meanwhile.
const LOCK_EVERY: Duration = Duration::from_millis(25);

/// Takes the lock; at once or not at all from a daemon that listens. Who holds it without listening is a command in
/// passing (`workagent status` without a daemon), or a daemon that is starting or stopping.
async fn lock_patiently(paths: &Paths, database: &Path, clock: &Clock) -> Result<InstanceLock, LockError> {
    let tries = LOCK_PATIENCE.as_millis() / LOCK_EVERY.as_millis();
    for _ in 0..tries {
        match InstanceLock::acquire(paths, database, clock.now()) {
            Err(LockError::Held { .. }) => {}
            other => return other,
        }
        if UnixStream::connect(InstanceLock::socket(paths)).await.is_ok() {
            break;
        }
        tokio::time::sleep(LOCK_EVERY).await;
    }
    InstanceLock::acquire(paths, database, clock.now())
}

impl Assembly {
    /// Takes the lock, opens the record, recovers, builds.
    ///
    /// # Errors
    /// See [`AssemblyError`]. Nothing is changed when the lock is held by another instance. A command that holds it in
    /// passing, or a daemon on its way out, is waited for.
    pub async fn open(options: Options) -> Result<Self, AssemblyError> {
        let Options { environment, paths, compiled, pinned, clock, scrubber } = options;
        let source = pinned.as_ref().map_or(&compiled, |pinned| &pinned.compiled);
        if let Some(off) = &source.daemon_off {
            return Err(AssemblyError::DaemonUnit(off.clone()));
        }
        let daemon = Arc::clone(&source.plan.daemon);
        let database = daemon.store_path.clone().unwrap_or_else(|| paths.database());
        let lock = lock_patiently(&paths, &database, &clock).await?;
        let around = Around {
            environment: environment.clone(),
            scrubber: scrubber.clone(),
            clock: clock.clone(),
            ask: false,
        };
        let secrets = super::secrets::open(&paths, &source.plan, around);
        let store = open_store(&paths, database, (daemon.store_normal, clock.clone())).await?;
        let process = ProcessRoom::new(paths.process_notes());
        let ended = process.reap_orphans().await;
        if ended > 0 {
            tracing::warn!(ended, "ended processes that a killed daemon had left behind");
        }
        sweep_runs(&paths.runs());
        let recovery = store.recover(limits::CASE_ATTEMPTS_MAX).await?;
        if recovery != Recovery::default() {
            tracing::info!(
                requeued = recovery.requeued,
                parked = recovery.parked,
                uncertain = recovery.uncertain,
                "went on from the rows of a killed daemon"
            );
        }
        Point::AfterRecovery.pass();
        let generation = match &pinned {
            Some(pinned) => pinned.generation,
            None => store.generation(&compiled.plan.hash).await?,
        };
        let plan = effective(&source.plan, &Holds::default(), &environment, &secrets).await;
        secrets.adopt(Places::of(&plan));
        let deps = BundleDeps {
            store: store.clone(),
            secrets: secrets.clone(),
            scrubber: scrubber.clone(),
            http: HttpRoom::default(),
            process,
            environment: environment.clone(),
            clock: clock.clone(),
            state_dir: paths.state.clone(),
        };
        let bundle = DaemonRuntimeBundle::build(Arc::new(plan), generation, deps);
        store.set_ways_out(bundle.desk.ways_out()).await?;
        let (compiled, pinned) = (Arc::new(compiled), pinned.map(|pinned| pinned.generation));
        Ok(Self {
            bundle,
            store,
            compiled,
            secrets,
            environment,
            pinned,
            recovery,
            paths,
            scrubber,
            clock,
            lock,
        })
    }

    /// What the control API works with when nothing is started.
    #[must_use]
    pub fn api_state(&self) -> ApiState {
        let findings = Counts::of(&self.compiled.findings).errors as u64;
        let present = Present {
            findings_since: (findings > 0).then(|| self.clock.now()),
            pinned: self.pinned,
            ..Present::new(Arc::clone(&self.bundle.plan), self.bundle.generation, findings)
        };
        let database = &self.store.life().path;
        let warnings = place::warning(database.parent().unwrap_or(database)).into_iter().collect();
        ApiState {
            warnings,
            store: self.store.clone(),
            desk: self.bundle.desk.clone(),
            channels: self.bundle.channels.clone(),
            troubles: self.bundle.troubles.clone(),
            secrets: self.secrets.clone(),
            rotator: Arc::clone(&self.bundle.rotator),
            board: self.bundle.board.clone(),
            kicks: Live::new(crate::supervise::Kicks::new()),
            present: Live::new(present),
            manager: None,
            daemon: false,
            started_at: self.clock.now(),
            clock: self.clock.clone(),
            scrubber: self.scrubber.clone(),
        }
    }
}

/// Fits what the record says of engines to the engines there are now, at the start of a run and at each reload: cases
/// queued for one that is gone are routed anew, and waits for a mended setting or secret end. A plan's limit is not ended by
/// that, nor is a circuit breaker by a start. `before`: the plan that ran; at a start there is none.
///
/// # Errors
/// The database.
pub async fn fit_to_plan(store: &Store, plan: &Plan, before: Option<&Plan>) -> Result<(), StoreError> {
    let rerouted = store.reroute_queued(&plan.engines_waited_for()).await?;
    if rerouted > 0 {
        tracing::info!(rerouted, "cases were queued for engines that are gone or off: routed anew");
    }
    let mendable = [RunFailure::Config, RunFailure::Auth, RunFailure::Billing];
    let is_mended =
        |engine: &str| before.is_none_or(|before| before.engines.get(engine) != plan.engines.get(engine));
    let words: Vec<&str> = mendable.iter().map(RunFailure::word).collect();
    let rests = store.rests().await?;
    for (name, standing) in &plan.engines {
        let Standing::Active(unit) = standing else { continue };
        if !is_mended(name) {
            continue;
        }
        if rests.of(name, &unit.account).is_some() {
            store.end_mendable(name, &unit.account, &words).await?;
        }
        // Other settings: what was held against the engine was held against the old ones.
        if before.is_some() && rests.is_doubted(name) {
            store.engine_works(name).await?;
        }
    }
    Ok(())
}
