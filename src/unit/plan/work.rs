//! What does the work: connectors, engines with their environment, routes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::model::auto::AutoSettings;
use crate::model::budget::EngineMoney;
use crate::model::item::Backlog;
use crate::model::outbound::Guarantee;
use crate::model::retry::RestartPolicy;
use crate::model::schedule::Schedule;
use crate::unit::value::{Setting, Settings};

/// What may leave without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboundRule {
    /// Nothing leaves.
    Never,
    /// Each draft waits for a person.
    Reviewed,
    /// Drafts are approved by rule.
    Auto,
}

/// A checked connector.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// The platform's word in the catalog.
    pub platform: String,
    /// Account identity: the cursor hangs on (name, account). Empty: the platform's own idea of identity.
    pub account: String,
    /// What may leave.
    pub outbound: OutboundRule,
    /// What of it goes without a person, where that is the rule.
    pub auto: AutoSettings,
    /// First poll.
    pub backlog: Backlog,
    /// What its platform promises of replies after a lost answer.
    pub guarantee: Guarantee,
    /// Undo window between approval and sending.
    pub hold: Duration,
    /// Nothing leaves: what is approved is held, with what would have gone where.
    pub shadow: bool,
    /// An answered case to which nothing came for so long waits for the user again.
    pub nudge: Option<Duration>,
    /// A poll in flight may go on for so long when the connector is stopped or replaced.
    pub stop_timeout: Duration,
    /// When it is polled.
    pub schedule: Schedule,
    /// How it is tried again after a fault.
    pub restart: RestartPolicy,
    /// The platform's own table.
    pub settings: Settings,
}

/// A checked engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// The engine's word in the catalog: `template`, `command`, `openai-chat`.
    pub engine: String,
    /// Model asked for, where the engine has models.
    pub model: String,
    /// Env units whose environment its children get, in order.
    pub env: Vec<Arc<EnvUnit>>,
    /// Directories searched for programs before the PATH of its children, by them and for them.
    pub path: Vec<PathBuf>,
    /// Whose login, settings files and quota it uses. Engines of one account rest together when a limit is reached, and
    /// together run no more at once than the one of them that may run most.
    pub account: String,
    /// Runs at once.
    pub concurrency: usize,
    /// Runs begun within any minute; `None` is unlimited.
    pub runs_per_minute: Option<u32>,
    /// In all.
    pub timeout: Duration,
    /// Between signs of life.
    pub idle_timeout: Duration,
    /// Until the first sign of life.
    pub first_event_timeout: Duration,
    /// Stays on this machine: a private route may use it.
    pub local: bool,
    /// `[budget] daily_runs`: runs a day in local time, failed ones and retries too; `None` is unlimited.
    pub daily_runs: Option<u32>,
    /// What it costs and may cost.
    pub money: EngineMoney,
    /// `[restart] exit_attempts`: a case whose program fell over at this try goes to the route's next engine, or to the
    /// user.
    pub exit_attempts: u32,
    /// What its programs may touch.
    pub sandbox: SandboxRule,
    /// The engine's own table.
    pub settings: Settings,
}

/// `[sandbox]`: what the programs of an engine may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxRule {
    /// What they may do with files.
    pub files: FilesRule,
    /// May be read, with [`FilesRule::Named`].
    pub read: Vec<PathBuf>,
    /// May be changed.
    pub write: Vec<PathBuf>,
    /// May reach the network.
    pub network: bool,
    /// Not at all rather than with more rights.
    pub required: bool,
}

/// What programs may do with files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilesRule {
    /// What the user may.
    #[default]
    All,
    /// Read all, change only what is theirs.
    ReadOnly,
    /// Read only what is named and the system's programs, change only what is theirs.
    Named,
}

/// Environment for children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// Variables to set.
    pub set: BTreeMap<String, Setting>,
    /// Variables to take away, also from the allowlist.
    pub unset: Vec<String>,
    /// Variables to hand through from the daemon's environment.
    pub pass: Vec<String>,
    /// Directories in front of the PATH, the first searched first; `path` of an engine, see [`EngineUnit::child_env`].
    pub path: Vec<PathBuf>,
}

impl EngineUnit {
    /// The same with the environment of a route after its own.
    #[must_use]
    pub fn in_route(&self, route: &RouteUnit) -> Self {
        let mut with = self.clone();
        with.env.extend(route.env.iter().cloned());
        with
    }

    /// What makes the environment of its children, in order: its env units, then its own `path`.
    #[must_use]
    pub fn child_env(&self) -> Vec<Arc<EnvUnit>> {
        let mut envs = self.env.clone();
        if !self.path.is_empty() {
            let own = EnvUnit { name: self.name.clone(), path: self.path.clone(), ..EnvUnit::default() };
            envs.push(Arc::new(own));
        }
        envs
    }
}

/// A rule from case to engine.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// Higher first; then by name.
    pub priority: i64,
    /// Engine unit names in order, also those that are off.
    pub engines: Vec<String>,
    /// Failure words (`RunFailure::WORDS`) on which the next engine is taken; empty: never.
    pub on: Vec<String>,
    /// The instruction for the engine, trusted.
    pub prompt: String,
    /// For the engine's programs in its cases, after the engine's own.
    pub env: Vec<Arc<EnvUnit>>,
    /// Only local engines.
    pub private: bool,
    /// What it takes.
    pub matches: RouteMatch,
}

/// Conditions of a route; an empty list or `None` matches all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouteMatch {
    /// Connector unit names or globs.
    pub connector: Vec<String>,
    /// Item kinds or globs.
    pub kind: Vec<String>,
    /// Labels or globs, any of them.
    pub labels: Vec<String>,
    /// Author address globs, any of them.
    pub author: Vec<String>,
    /// How well the author is known (`Trust::WORDS`), any of them.
    pub trust: Vec<String>,
    /// Languages of the text (`language::WORDS`), any of them.
    pub language: Vec<String>,
    /// Smallest text in bytes.
    pub size_min: Option<u64>,
    /// Largest text in bytes.
    pub size_max: Option<u64>,
    /// Windows of the week in which it takes cases, any of them; in normal form.
    pub hours: Vec<String>,
}
