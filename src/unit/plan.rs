//! The plan: the checked, immutable result of compiling all units. The factory builds the bundle from it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::value::Settings;
use crate::model::item::Backlog;

/// Kind of a unit, from its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Paths, store, limits, logging: `workagent.daemon.toml`.
    Daemon,
    /// A configured account of a platform.
    Connector,
    /// A configured executor.
    Engine,
    /// Environment for child processes.
    Env,
    /// Rule from case to engine.
    Route,
    /// Limits of a runtime.
    Runtime,
    /// Where reviews are announced and decided.
    Channel,
    /// Makes cases by the clock.
    Timer,
    /// Where a secret comes from and when it is replaced.
    Secret,
    /// A set of units that run together.
    Target,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Daemon,
        Self::Connector,
        Self::Engine,
        Self::Env,
        Self::Route,
        Self::Runtime,
        Self::Channel,
        Self::Timer,
        Self::Secret,
        Self::Target,
    ];

    /// The word in file names.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Connector => "connector",
            Self::Engine => "engine",
            Self::Env => "env",
            Self::Route => "route",
            Self::Runtime => "runtime",
            Self::Channel => "channel",
            Self::Timer => "timer",
            Self::Secret => "secret",
            Self::Target => "target",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A unit's full name: `inbox.connector`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitName {
    /// `inbox`, `github@work` for an instance, `github@` for a template.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.name, self.kind.word())
    }
}

/// A place in a unit file, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file as found on the search path.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Whether a unit takes part. Off is a variant with a reason and a place, not an `if` at every user.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing<T> {
    /// Takes part.
    Active(Arc<T>),
    /// A visible no-op.
    Off(Off),
}

/// Why a unit is a no-op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Off {
    /// `disabled`, `masked`, `bad-setting`, `not-found`.
    pub state: OffState,
    /// For people, one line: `[install] enabled = false`, or an unknown key by its name.
    pub reason: String,
    /// Where the reason stands.
    pub place: Option<Place>,
}

/// The state of a unit that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffState {
    /// Not enabled.
    Disabled,
    /// `masked = true`.
    Masked,
    /// Has errors: quarantined.
    BadSetting,
    /// Needs a unit that is off or missing.
    Dependency,
    /// A condition of its own does not hold on this machine now.
    Condition,
    /// Stopped by hand, or not in the target that was isolated; until started again or the daemon restarts.
    Stopped,
}

impl OffState {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Masked => "masked",
            Self::BadSetting => "bad-setting",
            Self::Dependency => "dependency",
            Self::Condition => "condition",
            Self::Stopped => "stopped",
        }
    }
}

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

/// When a connector is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Between two polls.
    pub every: Duration,
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
    /// First poll.
    pub backlog: Backlog,
    /// Undo window between approval and sending.
    pub hold: Duration,
    /// When it is polled.
    pub schedule: Schedule,
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
    /// Runs at once.
    pub concurrency: usize,
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
    /// The engine's own table.
    pub settings: Settings,
}

/// Environment for children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// Variables to set.
    pub set: BTreeMap<String, super::value::Setting>,
    /// Variables to take away, also from the allowlist.
    pub unset: Vec<String>,
    /// Variables to hand through from the daemon's environment.
    pub pass: Vec<String>,
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
    /// Largest text in bytes.
    pub size_max: Option<u64>,
}

/// Limits of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub struct DaemonUnit {
    /// Real reads, fake sends.
    pub rehearsal: bool,
    /// Cases worked on at once, over all engines.
    pub workers: usize,
    /// Sends at once.
    pub senders: usize,
    /// For an orderly stop.
    pub stop_timeout: Duration,
    /// `[store] path`; `None`: `workagent.db` in the state directory.
    pub store_path: Option<PathBuf>,
    /// `[store] synchronous = "normal"`.
    pub store_normal: bool,
    /// `[log] level`, an env-filter text.
    pub log_level: String,
}

/// The checked, immutable result of compiling all units.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The daemon's own settings.
    pub daemon: Arc<DaemonUnit>,
    /// Connectors by name.
    pub connectors: BTreeMap<String, Standing<ConnectorUnit>>,
    /// Engines by name.
    pub engines: BTreeMap<String, Standing<EngineUnit>>,
    /// Environments by name.
    pub envs: BTreeMap<String, Standing<EnvUnit>>,
    /// Routes by name.
    pub routes: BTreeMap<String, Standing<RouteUnit>>,
    /// Runtimes switched off or limited by a unit, by the runtime's word: `worker`, `outbound`.
    pub runtimes: BTreeMap<String, Standing<RuntimeUnit>>,
    /// Channels by name.
    pub channels: BTreeMap<String, Standing<ChannelUnit>>,
    /// Timers by name.
    pub timers: BTreeMap<String, Standing<TimerUnit>>,
    /// Secrets with a unit, by name.
    pub secrets: BTreeMap<String, Standing<SecretUnit>>,
    /// Targets by name.
    pub targets: BTreeMap<String, Standing<TargetUnit>>,
    /// What must hold on this machine for a unit to take part; only units that are on and have any.
    pub conditions: BTreeMap<UnitName, Vec<Condition>>,
    /// Units that run their last good version because the present one has errors: the first of these.
    pub kept: BTreeMap<UnitName, Off>,
    /// The unit file that each unit came from, for people.
    pub sources: BTreeMap<UnitName, PathBuf>,
    /// Edges between units that both take part, sorted.
    pub edges: Vec<Edge>,
    /// SHA-256 of the canonical form, 64 hex digits: formatting and comments do not change it.
    pub hash: String,
}

/// One edge of the unit graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The unit that declares it (with `before`: the other way round).
    pub from: UnitName,
    /// The unit it names.
    pub to: UnitName,
    /// What it means.
    pub kind: EdgeKind,
    /// Where it is declared.
    pub place: Place,
}

/// What an edge means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Good to have; ordered after it.
    Wants,
    /// Cannot do without; ordered after it.
    Requires,
    /// Stops and restarts with it.
    PartOf,
    /// Not both.
    Conflicts,
    /// Ordered after it.
    After,
    /// Ordered before it.
    Before,
    /// A key's value names it: route → engine, engine → env. Ordered after it.
    Uses,
}

impl EdgeKind {
    /// The stable word; but for `uses` also the key in `[unit]`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wants => "wants",
            Self::Requires => "requires",
            Self::PartOf => "part_of",
            Self::Conflicts => "conflicts",
            Self::After => "after",
            Self::Before => "before",
            Self::Uses => "uses",
        }
    }
}

/// A way to the user. It does nothing yet but stand in the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// Which channel: `desktop`, `ntfy`, `connector`.
    pub channel: String,
    /// How much is told: `none`, `title`, `full`.
    pub detail: String,
}

/// Makes a case when its time comes.
#[derive(Clone, Debug, PartialEq)]
pub struct TimerUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// When.
    pub schedule: Schedule,
    /// Title of the case.
    pub title: String,
    /// Text of the case.
    pub text: String,
    /// Labels of the case, for routes.
    pub labels: Vec<String>,
}

/// Where a secret comes from. It does nothing yet but stand in the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// Which store: `file`, `command`, `keyring`.
    pub backend: String,
    /// The name in the store.
    pub entry: String,
    /// How often it is to be replaced.
    pub rotate_every: Option<Duration>,
}

/// A set of units that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// Units that belong to it: what it wants or requires, and who says `wanted_by` it. Sorted.
    pub members: Vec<UnitName>,
}

/// Something that must hold on this machine for a unit to take part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// What is asked.
    pub test: ConditionTest,
    /// It must not hold (`"!…"`).
    pub negated: bool,
    /// From `[assert]`: where it does not hold, that is an error rather than a quiet "not here".
    pub assert: bool,
    /// Where it stands.
    pub place: Place,
}

/// What a condition asks of this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionTest {
    /// The file or directory is there.
    PathExists(PathBuf),
    /// The program is found under the service's PATH.
    CommandExists(String),
    /// The secret store has it.
    SecretExists(String),
    /// The daemon's environment has the variable.
    EnvSet(String),
    /// `linux`, `macos`.
    Os(String),
    /// The machine's name, or a glob.
    Host(String),
    /// There is a way out of this machine.
    Network(bool),
    /// Another unit is on.
    Active(UnitName),
}

/// Settings of a runtime.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeUnit {
    /// `sync`, `ingest`, `worker`, `review`, `outbound`, `pending`, `scheduler`, `onboarding`.
    pub runtime: String,
}
