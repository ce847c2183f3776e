//! Engines: the closed set of executors, one file each, the prompt, the router.

pub mod after;
pub mod router;

use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::http::HttpRoom;
use crate::model::class::PortError;
use crate::model::environment::Environment;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunLimits};
use crate::model::time::Clock;
use crate::process::ProcessRoom;
use crate::secret::SecretStore;
use crate::unit::plan::EngineUnit;
use crate::unit::schema::{KeyProblem, KeySpec};
use crate::unit::value::Settings;

/// A configured executor. A closed set: the compiler leads to every place a new one touches.
/// An engine never sends; it returns a draft or a classed error.
#[derive(Debug)]
pub enum ExecutionEngine {}

/// What an engine gets to be built. Building spawns nothing and reads no secret.
#[derive(Clone)]
pub struct EngineContext {
    /// Where secret values come from, read at each run.
    pub secrets: Arc<dyn SecretStore>,
    /// HTTP clients.
    pub http: HttpRoom,
    /// Child processes.
    pub process: ProcessRoom,
    /// The daemon's environment, out of which that of children is made.
    pub environment: Environment,
    /// Now.
    pub clock: Clock,
}

/// One row of the catalog.
pub struct EngineSpec {
    /// The word in `[engine] engine`, and the name of its own table (a hyphen stays a hyphen).
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Keys of its own table.
    pub keys: &'static [KeySpec],
    /// Checks that go over single keys. Pure.
    pub check: fn(&Settings) -> Vec<KeyProblem>,
    /// The engine stays on this machine with these settings: a private route may use it. Pure.
    pub is_local: fn(&Settings) -> bool,
    /// Builds an engine.
    pub build: fn(&EngineUnit, EngineContext) -> Result<ExecutionEngine, PortError>,
}

impl ExecutionEngine {
    /// Present, right version, logged in? Short. The text is for people: "ollama 0.9 at 127.0.0.1:11434".
    pub async fn probe(&self) -> Result<String, EngineError> {
        match *self {}
    }

    /// One run. `run_dir` is an empty directory of mode 0700 made for this attempt. Ends by itself within
    /// `limits.total` plus the kill grace; ends soon after `cancel` with `RunFailure::Cancelled`.
    pub async fn run(
        &self,
        _request: &EngineRequest,
        _limits: RunLimits,
        _run_dir: &Path,
        _cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        match *self {}
    }
}
