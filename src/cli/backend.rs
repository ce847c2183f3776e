//! Who answers a command: the running daemon over its socket, or, when none runs, the same router inside this process
//! under the instance lock.

use std::os::unix::ffi::OsStrExt as _;

use axum::Router;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::error::CliError;
use super::unusable::unusable;
use crate::control::api;
use crate::control::client::{Client, ClientError};
use crate::control::wire::Hello;
use crate::daemon::assembly::{self, Assembly, AssemblyError};
use crate::daemon::exit;
use crate::daemon::lock::{InstanceLock, LockError};
use crate::daemon::paths::Paths;
use crate::daemon::service::{Site, State, System, state};
use crate::model::environment::Environment;
use crate::model::limits::CONTROL_HELLO_TIMEOUT;

/// A way to the handlers.
pub enum Backend {
    /// A daemon runs.
    Daemon(Client),
    /// None runs: this process holds the lock meanwhile.
    Here(Client, Box<Assembly>),
}

impl Backend {
    /// Finds out who answers.
    ///
    /// # Errors
    /// The socket is there but cannot be used, or the state cannot be opened.
    pub async fn connect(context: &Context<'_>) -> Result<Self, CliError> {
        let paths = context.paths()?;
        if let Some(client) = running(&paths).await? {
            return Ok(Self::Daemon(client));
        }
        let state = paths.state.clone();
        let compiled = assembly::compile_units(&context.search(), &context.environment, state);
        let options = assembly::Options {
            environment: context.environment.clone(),
            paths: paths.clone(),
            compiled,
            pinned: None,
            clock: context.clock.clone(),
            scrubber: context.scrubber.clone(),
        };
        let assembly = match Assembly::open(options).await {
            Ok(assembly) => assembly,
            // One started meanwhile.
            Err(error @ AssemblyError::Lock(LockError::Held { .. })) => {
                let client = running(&paths).await?.ok_or_else(|| assembly_error(error))?;
                return Ok(Self::Daemon(client));
            }
            Err(error) => return Err(assembly_error(error)),
        };
        let router: Router = api::router(assembly.api_state());
        let client = Client::in_process(router, assembly.scrubber.clone());
        Ok(Self::Here(client, Box::new(assembly)))
    }

    /// The running daemon, and nobody in its place: for orders that mean nothing without one.
    ///
    /// # Errors
    /// None runs, or its socket cannot be used.
    pub async fn daemon(context: &Context<'_>) -> Result<Self, CliError> {
        let socket = InstanceLock::socket(&context.paths()?);
        match running(&context.paths()?).await? {
            Some(client) => Ok(Self::Daemon(client)),
            None => {
                let error = ClientError::NotRunning { socket };
                let hint = error.hint();
                Err(CliError { hint, ..CliError::new(exit::NOT_RUNNING, "the daemon is not running") })
            }
        }
    }

    /// The running daemon, if one does.
    ///
    /// # Errors
    /// Its socket cannot be used.
    pub async fn running(paths: &Paths) -> Result<Option<Self>, CliError> {
        Ok(running(paths).await?.map(Self::Daemon))
    }

    fn client(&self) -> &Client {
        match self {
            Self::Daemon(client) | Self::Here(client, _) => client,
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// What the handler says.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, CliError> {
        self.client().get(path).await.map_err(client_error)
    }

    /// Tells.
    ///
    /// # Errors
    /// What the handler says.
    pub async fn post<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, CliError> {
        self.client().post(path, body).await.map_err(client_error)
    }

    /// Leaves everything in order.
    pub async fn close(self) {
        if let Self::Here(_, assembly) = self {
            assembly.store.close().await;
        }
    }
}

/// The way to a daemon that listens, if one does.
pub(super) async fn running(paths: &Paths) -> Result<Option<Client>, CliError> {
    let client = Client::new(InstanceLock::socket(paths));
    match client.clone().with_timeout(CONTROL_HELLO_TIMEOUT).get::<Hello>("/v1/hello").await {
        Ok(_) => Ok(Some(client)),
        Err(ClientError::NotRunning { .. }) => Ok(None),
        Err(error) => Err(client_error(error)),
    }
}

/// Whose environment it is, for people.
pub(super) const OF_DAEMON: &str = "the running daemon";

/// The environment of the running daemon, which decides what its children find. `None`: none runs, or it cannot be read.
pub(super) async fn daemon_environment(paths: &Paths) -> Option<Environment> {
    let client = running(paths).await.ok().flatten()?;
    let hello: Hello = client.get("/v1/hello").await.ok()?;
    let bytes = std::fs::read(format!("/proc/{}/environ", hello.pid)).ok()?;
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let (name, value) = pair.split_at_checked(at)?;
        let os = |bytes: &[u8]| std::ffi::OsStr::from_bytes(bytes).to_owned();
        Some((os(name), os(value.get(1..)?)))
    });
    Some(Environment::of(pairs.collect::<Vec<_>>()))
}

/// The same, or the shell's where none runs: what the service manager gave to the daemon decides.
pub(super) async fn present_environment(context: &Context<'_>, paths: &Paths) -> Environment {
    daemon_environment(paths).await.unwrap_or_else(|| context.environment.clone())
}

/// The environment in which programs are looked up: the running daemon's, else the one that the installed service would
/// have, else the shell's. And whose it is, for people.
pub(super) async fn service_environment(context: &Context<'_>, paths: &Paths) -> (Environment, &'static str) {
    if let Some(environment) = daemon_environment(paths).await {
        return (environment, OF_DAEMON);
    }
    let shell = &context.environment;
    let state = match Site::find(shell, None, context.global.state_dir.as_deref()) {
        Ok(site) => state::ask(&site, &paths.state, &System::new(shell.clone())).await.ok(),
        Err(_) => None,
    };
    environment_without_daemon(shell, state.as_ref())
}

/// The same where no daemon runs, for whoever asked the supervisor already.
pub(super) fn environment_without_daemon(
    shell: &Environment,
    state: Option<&State>,
) -> (Environment, &'static str) {
    match state.filter(|state| state.is_installed()) {
        Some(state) => (state.service_environment(shell), "the service"),
        None => (shell.clone(), "this shell: no service is installed"),
    }
}

/// An error of the client, with the exit code of its kind.
pub fn client_error(error: ClientError) -> CliError {
    let code = match &error {
        ClientError::NotRunning { .. } => exit::NOT_RUNNING,
        ClientError::NotAllowed { .. } => exit::NOT_ALLOWED,
        ClientError::WireMismatch { .. } => exit::WIRE,
        ClientError::Refused { error, .. } if error.class == "usage" => exit::USAGE,
        ClientError::Refused { .. } | ClientError::TimedOut { .. } | ClientError::Broken { .. } => {
            exit::FAILURE
        }
    };
    let hint = error.hint();
    let told = match &error {
        // What the handlers say stands for itself, daemon or not.
        ClientError::Refused { .. } => CliError::new(code, error.to_string()),
        _ => CliError::doing("ask the daemon", &error),
    };
    CliError { code, hint, ..told }
}

/// An error of the assembly, with the exit code of its kind.
pub fn assembly_error(error: AssemblyError) -> CliError {
    let (code, hint) = match &error {
        AssemblyError::Lock(LockError::Paths(_)) => (exit::NOT_ALLOWED, None),
        AssemblyError::Lock(LockError::Io { .. }) => (exit::NOT_ALLOWED, None),
        AssemblyError::Lock(LockError::Held { .. }) => {
            (exit::HELD, Some("stop it first, or use --state-dir for another state"))
        }
        AssemblyError::DaemonUnit(_) => (exit::CONFIG, Some("workagent validate shows the place")),
        AssemblyError::Unusable { source, kept, mark } => return unusable(&error, source, (kept, mark)),
        AssemblyError::Store(_) => (exit::FAILURE, None),
    };
    let error = CliError { code, ..CliError::doing("start", &error) };
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
