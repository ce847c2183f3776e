//! The only home of child processes: spawn, environment, output caps, tree kill, orphan reaping.
//!
//! Linux finds and ends the whole tree of a child (see `tree`). Elsewhere only its process group is ended and nothing
//! is reaped at start: a helper that leaves the group survives there.

mod attended;
pub mod call;
mod dialogue;
pub mod editor;
pub mod env;
pub mod foreground;
mod leader;
mod lines;
pub mod lookup;
mod notes;
pub mod program;
mod run;
pub mod sandbox;
pub mod secret_program;
mod spawn;
mod tree;
mod watch;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use self::sandbox::{Reach, Sandbox};
use crate::model::class::{ErrorClass, PortError, chain};
use crate::secret::SecretValue;

pub use dialogue::{Dialogue, Heard};

/// A process that a daemon started, or that descends from one: by the mark in its environment, or by its parents.
/// Where nothing can be seen of it (it is gone, or not on Linux) it is not.
#[must_use]
pub fn is_ours(pid: i32) -> bool {
    tree::is_ours(pid)
}

/// Starts children. Cheap to clone. Knows the directory where running children are noted (pid and start time),
/// so that the next daemon finds and ends those that a killed one left behind.
#[derive(Clone, Debug)]
pub struct ProcessRoom {
    notes_dir: PathBuf,
    /// This program's file as it was at the start, for those who start it again.
    own_program: PathBuf,
    /// Our own binary, by which children are confined.
    helper: PathBuf,
    /// What it said that this machine can take away.
    reach: Arc<OnceCell<Reach>>,
}

/// A child to be run to its end.
#[derive(Debug)]
pub struct ChildSpec {
    /// Absolute path, or a name looked up on the child's own PATH.
    pub program: OsString,
    /// Arguments: never a secret, never foreign text.
    pub args: Vec<OsString>,
    /// The whole environment (see [`env::build`]); nothing is inherited but a mark, `WORKAGENT_RUN`.
    pub env: ChildEnv,
    /// Working directory.
    pub cwd: PathBuf,
    /// Written to standard input, which is then closed. A child that does not read it is not an error by itself.
    pub stdin: Vec<u8>,
    /// Limits.
    pub limits: ChildLimits,
}

/// A child's whole environment.
#[derive(Clone, Debug, Default)]
pub struct ChildEnv(pub BTreeMap<String, EnvValue>);

/// One variable.
#[derive(Clone, Debug)]
pub enum EnvValue {
    /// Not secret.
    Plain(OsString),
    /// Masked wherever it is shown.
    Secret(SecretValue),
}

/// Limits of one child.
#[derive(Clone, Copy, Debug)]
pub struct ChildLimits {
    /// Until the first byte on stdout or stderr.
    pub first_output: Duration,
    /// Between bytes.
    pub idle: Duration,
    /// In all.
    pub total: Duration,
    /// One line; longer ones are skipped to their end and counted.
    pub line_bytes_max: usize,
    /// All of stdout; over it the child is ended.
    pub stdout_bytes_max: usize,
}

/// How a child came to its end, and what it said.
#[derive(Debug)]
pub struct ChildReport {
    /// How it ended.
    pub end: ChildEnd,
    /// The last `limits::CHILD_STDERR_BYTES_MAX` bytes of stderr, lossy, ANSI codes stripped.
    pub stderr_tail: String,
    /// Lines over the cap that were skipped.
    pub lines_skipped: u64,
    /// Bytes of stdout seen.
    pub stdout_bytes: u64,
    /// Processes of its tree that were still alive after it ended and were ended by us.
    pub swept: u32,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildEnd {
    /// By itself with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// We ended it: no byte in time.
    TimedOutFirst,
    /// We ended it: silent for too long.
    TimedOutIdle,
    /// We ended it: it gave signs of life, but nothing came of them for too long. Only in dialogues.
    TimedOutProgress,
    /// We ended it: took too long in all.
    TimedOutTotal,
    /// We ended it: asked to.
    Cancelled,
    /// We ended it: too much output.
    OverCap,
}

impl ProcessRoom {
    /// `notes_dir` is made at the first spawn.
    #[must_use]
    pub fn new(notes_dir: PathBuf) -> Self {
        // The file of this very process, also after an upgrade put another one in its place.
        let helper = PathBuf::from(if cfg!(target_os = "linux") { "/proc/self/exe" } else { "" });
        let own_program = std::env::current_exe().unwrap_or_else(|_| "workagent".into());
        Self { notes_dir, own_program, helper, reach: Arc::default() }
    }

    /// Another binary of ours confines children and is started by them: for processes that are not `workagent`.
    #[must_use]
    pub fn with_helper(mut self, helper: PathBuf) -> Self {
        self.own_program.clone_from(&helper);
        self.helper = helper;
        self
    }

    /// This program's file, as it was at the start: for children that start it again.
    #[must_use]
    pub fn own_program(&self) -> &std::path::Path {
        &self.own_program
    }

    /// The same child with fewer rights, and what of it this machine cannot take away, for people.
    ///
    /// # Errors
    /// `Config`: the program is not found, or the rights must be taken away and cannot be.
    pub async fn confined(
        &self,
        spec: ChildSpec,
        sandbox: &Sandbox,
    ) -> Result<(ChildSpec, Option<&'static str>), PortError> {
        if sandbox.is_open() {
            return Ok((spec, None));
        }
        let missing = sandbox.missing(self.reach().await);
        if let Some(missing) = missing.filter(|_| sandbox.required) {
            let text = format!("{missing}, and `[sandbox] required` is set");
            return Err(PortError::new(ErrorClass::Config, text));
        }
        Ok((sandbox::confine(&self.helper, spec, sandbox)?, missing))
    }

    /// What this machine can take away from a child. Asked once.
    pub async fn reach(&self) -> Reach {
        let ask = || async {
            let reach = sandbox::ask(&self.helper).await.unwrap_or_else(|error| {
                tracing::warn!("children cannot be confined: {}", chain(&error));
                Reach::default()
            });
            if !reach.files {
                tracing::warn!(
                    "this system has no Landlock: children that should be confined reach all files"
                );
            }
            reach
        };
        *self.reach.get_or_init(ask).await
    }

    /// Runs a child to its end; `on_line` gets each line of stdout (without its newline, split on the byte `\n`;
    /// a last line without a newline too). Whatever happens, nothing of the child's tree is alive afterwards,
    /// as far as the platform lets us see it, and this returns in bounded time.
    ///
    /// # Errors
    /// `Config` if it cannot be started (not found, not executable), naming the PATH that was searched.
    pub async fn run(
        &self,
        spec: ChildSpec,
        cancel: &CancellationToken,
        on_line: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<ChildReport, PortError> {
        run::run(self, spec, cancel, on_line).await
    }

    /// Starts a child to talk with. What stands in `spec.stdin` is written first, and its input stays open. It is ended
    /// when nothing was called progress for `no_progress`, beside its other limits.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn talk(
        &self,
        spec: ChildSpec,
        no_progress: Duration,
        cancel: &CancellationToken,
    ) -> Result<Dialogue, PortError> {
        Dialogue::open(self, spec, no_progress, cancel).await
    }

    /// Ends what a killed daemon left behind (same pid and same start time only), and removes its notes.
    /// Returns how many processes were ended.
    pub async fn reap_orphans(&self) -> u32 {
        notes::reap(&self.notes_dir).await
    }
}
