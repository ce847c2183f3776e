//! The compiler: what was read → plan and findings.

use std::path::PathBuf;

use super::load::Loaded;
use super::plan::{Off, Plan};
use super::registry::Registry;
use crate::diag::{Finding, SourceMap};

/// What values may refer to outside the files. Handed in, never looked up.
#[derive(Clone, Debug)]
pub struct CompileEnv {
    /// `~` and `%h`.
    pub home: Option<PathBuf>,
    /// `%S`: the daemon's state directory.
    pub state_dir: PathBuf,
}

/// The result of a compile. There is always a plan: broken units are no-ops in it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The plan.
    pub plan: Plan,
    /// All findings, sorted.
    pub findings: Vec<Finding>,
    /// The files they point into.
    pub sources: SourceMap,
    /// The `daemon` unit itself is off or broken, so `plan.daemon` holds the defaults: a daemon must not start on it.
    pub daemon_off: Option<Off>,
}

/// Compiles what was read. A pure function: no file, network, clock or environment; the order of `loaded` does not
/// matter.
#[must_use]
pub fn compile(_loaded: &Loaded, _registry: &Registry, _env: &CompileEnv) -> Compiled {
    todo!("compile")
}
