//! What the checks look at, gathered once. Nothing is changed and nothing is made.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bundle::probe::{Scene, Seen};
use crate::bundle::running::stop_time_max;
use crate::cli::analyze::compiled;
use crate::cli::backend::{OF_DAEMON, daemon_environment, environment_without_daemon, running};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::control::wire::{Hello, StatusView};
use crate::daemon::mark;
use crate::daemon::paths::Paths;
use crate::daemon::secrets::Around;
use crate::daemon::service::{ServiceError, Site, State, Supervisor, System, state, systemd};
use crate::diag::Counts;
use crate::model::environment::Environment;
use crate::model::time::Timestamp;
use crate::process::ProcessRoom;
use crate::secret::Scrubber;
use crate::store::check_database;

/// The tasks of the process itself end within this at a stop, beside the units.
const PROCESS_STOP_S: u64 = 5;

/// A file that is no service file is not read to its end.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A file of the service as it lies there.
#[derive(Clone, Debug)]
pub struct ServiceFile {
    pub path: PathBuf,
    pub text: String,
    /// It adds to another one.
    pub is_drop_in: bool,
}

/// The daemon that answers, however it was started.
#[derive(Clone, Debug)]
pub struct Daemon {
    pub pid: u32,
    pub version: String,
    /// Its file, where the system tells; `true`: it is gone or was replaced.
    pub program: Option<(PathBuf, bool)>,
    pub status: Option<StatusView>,
}

/// A failure and the next thing to type.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub text: String,
    pub hint: Option<String>,
}

/// What the checks look at.
pub struct Facts {
    pub now: Timestamp,
    pub version: &'static str,
    /// For short paths.
    pub home: Option<PathBuf>,
    /// `None`: no supervisor here.
    pub site: Option<Site>,
    /// What the supervisor says; nothing where there is none.
    pub state: Option<Result<State, Trouble>>,
    pub files: Vec<ServiceFile>,
    /// The session's services outlive the login; systemd only.
    pub lingers: Option<bool>,
    /// The longest that a stop takes by the unit files.
    pub stop_s: u64,
    pub daemon: Result<Option<Daemon>, Trouble>,
    /// The environment that engines are looked for in, and whose it is.
    pub environment: Environment,
    pub environment_of: &'static str,
    pub engines: Vec<Seen>,
    /// The same in the environment of whoever asks; only where one was not well.
    pub engines_here: Vec<Seen>,
    pub findings: Counts,
    pub units: usize,
    /// Where secrets are kept, and what is wrong there.
    pub secrets: Result<String, String>,
    /// The file of the record.
    pub database: PathBuf,
    /// Whether there is one, or why it cannot be used.
    pub record: Result<bool, String>,
    pub paths: Paths,
    pub scrubber: Scrubber,
}

impl Facts {
    /// Looks at everything.
    pub async fn gather(context: &Context<'_>) -> Result<Self, CliError> {
        let paths = context.paths()?;
        let compiled = compiled(context);
        let site = Site::find(&context.environment, None, context.global.state_dir.as_deref()).ok();
        let caller = System::new(context.environment.clone());
        let state = match &site {
            Some(site) => Some(state::ask(site, &paths.state, &caller).await.map_err(Trouble::from)),
            None => None,
        };
        let installed = state.iter().flatten().find(|state| state.is_installed());
        let (environment, environment_of) = match daemon_environment(&paths).await {
            Some(environment) => (environment, OF_DAEMON),
            None => environment_without_daemon(&context.environment, installed),
        };
        let scrubber = context.scrubber.clone();
        let stores = |environment: &Environment| {
            let around = Around {
                environment: environment.clone(),
                scrubber: scrubber.clone(),
                clock: context.clock.clone(),
                ask: false,
            };
            crate::daemon::secrets::open(&paths, &compiled.plan, around)
        };
        let secrets = stores(&environment);
        let kept = secrets.describe_default();
        let listed = secrets.names().await.map(|all| all.len());
        let scene = |environment: &Environment| Scene {
            environment: environment.clone(),
            secrets: stores(environment).shared(),
            clock: context.clock.clone(),
            process: ProcessRoom::new(
                std::env::temp_dir().join(format!("workagent-doctor-{}", std::process::id())),
            ),
            state_dir: paths.state.clone(),
        };
        let engines = scene(&environment).look_at_engines(&compiled.plan).await;
        let is_elsewhere = environment.get("PATH") != context.environment.get("PATH");
        let engines_here = if is_elsewhere && engines.iter().any(|seen| seen.result.is_err()) {
            scene(&context.environment).look_at_engines(&compiled.plan).await
        } else {
            Vec::new()
        };
        let database = compiled.plan.daemon.store_path.clone().unwrap_or_else(|| paths.database());
        let record = check_database(&database, &mark::expected(&paths.state)).await;
        Ok(Self {
            record: record.map_err(|error| crate::model::class::chain(&error)),
            database,
            now: context.clock.now(),
            version: env!("CARGO_PKG_VERSION"),
            home: context.environment.get("HOME").map(PathBuf::from),
            files: installed.map(files).unwrap_or_default(),
            lingers: site
                .as_ref()
                .filter(|site| site.supervisor == Supervisor::Systemd)
                .map(systemd::lingers),
            site,
            stop_s: stop_time_max(compiled.plan.daemon.stop_timeout).as_secs() + PROCESS_STOP_S,
            daemon: daemon(&paths).await,
            environment,
            environment_of,
            engines,
            engines_here,
            findings: Counts::of(&compiled.findings),
            units: compiled.plan.sources.len(),
            secrets: match listed {
                Ok(count) => Ok(format!("{}: {}", crate::cli::look::count(count, "value"), kept)),
                Err(error) => Err(format!("{kept}: {}", crate::model::class::chain(&error))),
            },
            state,
            paths,
            scrubber,
        })
    }

    /// The state, where there is one to look at.
    pub fn installed(&self) -> Option<&State> {
        self.state.as_ref()?.as_ref().ok().filter(|state| state.is_installed())
    }

    /// A path for people.
    pub fn short(&self, path: &Path) -> String {
        crate::cli::look::path(path, self.home.as_deref())
    }
}

impl From<ServiceError> for Trouble {
    fn from(error: ServiceError) -> Self {
        Self { text: crate::model::class::chain(&error), hint: error.hint }
    }
}

fn files(state: &State) -> Vec<ServiceFile> {
    let all =
        state.file.iter().map(|path| (path, false)).chain(state.drop_ins.iter().map(|path| (path, true)));
    let read = |(path, is_drop_in): (&PathBuf, bool)| {
        let is_short = fs::metadata(path).is_ok_and(|found| found.len() <= FILE_BYTES_MAX);
        let text = is_short.then(|| fs::read_to_string(path).ok()).flatten()?;
        Some(ServiceFile { path: path.clone(), text, is_drop_in })
    };
    all.filter_map(read).collect()
}

async fn daemon(paths: &Paths) -> Result<Option<Daemon>, Trouble> {
    let trouble = |error: CliError| Trouble { text: error.message, hint: error.hint };
    let Some(client) = running(paths).await.map_err(trouble)? else { return Ok(None) };
    let hello: Hello = client
        .get("/v1/hello")
        .await
        .map_err(|error| Trouble { text: error.to_string(), hint: error.hint() })?;
    let program = fs::read_link(format!("/proc/{}/exe", hello.pid)).ok().map(|path| {
        let text = path.to_string_lossy().into_owned();
        match text.strip_suffix(" (deleted)") {
            Some(gone) => (PathBuf::from(gone), true),
            None => (path, false),
        }
    });
    let status = client.get("/v1/status").await.ok();
    Ok(Some(Daemon { pid: hello.pid, version: hello.version, program, status }))
}
