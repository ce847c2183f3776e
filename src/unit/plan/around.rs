//! What stands around the work: the daemon, runtimes, channels, timers, secrets, targets.

use std::path::PathBuf;
use std::time::Duration;

use super::{SecretDefaults, UnitName};
use crate::model::budget::Budget;
use crate::model::channel::Detail;
use crate::model::keep::Keep;
use crate::model::log_filter::LogFilter;
use crate::model::schedule::Schedule;
use crate::model::secret_ref::SecretRef;
use crate::unit::value::Settings;

/// Limits of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub struct DaemonUnit {
    /// Real reads, fake sends.
    pub rehearsal: bool,
    /// Cases worked on at once, over all engines.
    pub workers: usize,
    /// Sends at once.
    pub senders: usize,
    /// What all engines together may cost.
    pub budget: Budget,
    /// For an orderly stop.
    pub stop_timeout: Duration,
    /// `[store] path`; `None`: `workagent.db` in the state directory.
    pub store_path: Option<PathBuf>,
    /// `[store] synchronous = "normal"`.
    pub store_normal: bool,
    /// What of `[store]` is about time.
    pub keep: Keep,
    /// `[log]`
    pub log: LogSettings,
    /// `[otlp]`
    pub otlp: OtlpSettings,
    /// `[web]`
    pub web: WebSettings,
    /// Where secrets without a unit are kept.
    pub secrets: SecretDefaults,
    /// `[trust] own`: addresses of the user, or globs.
    pub own: Vec<String>,
    /// `[trust] known`: addresses that count as known, or globs.
    pub known: Vec<String>,
}

/// What is logged, and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// `level`
    pub filter: LogFilter,
    /// `format = "json"`
    pub json: bool,
    /// `file`
    pub file: Option<PathBuf>,
}

/// The collector that hears of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpSettings {
    /// `endpoint`, an `http` or `https` URL; `None`: there is none.
    pub endpoint: Option<String>,
    /// `token`
    pub token: Option<SecretRef>,
}

/// Whether the page listens all the time, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebSettings {
    /// `enabled`
    pub enabled: bool,
    /// `port`; 0: any that is free.
    pub port: u16,
}

/// Settings of a runtime.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// `sync`, `ingest`, `worker`, `review`, `outbound`, `pending`, `scheduler`, `rotation`,
    /// `onboarding`.
    pub runtime: String,
}

/// A way to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelUnit {
    /// The unit's name without the kind.
    pub name: String,
    /// For people.
    pub description: String,
    /// The channel's word in the catalog.
    pub channel: String,
    /// How much is told.
    pub detail: Detail,
    /// What comes within this time is told together.
    pub batch: Duration,
    /// Most notices within an hour.
    pub per_hour: usize,
    /// When it tells; only its windows count.
    pub schedule: Schedule,
    /// The channel's own table.
    pub settings: Settings,
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
