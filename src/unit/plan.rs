//! The plan: the checked, immutable result of compiling all units. The factory builds the bundle from it.

mod around;
mod condition;
mod edge;
mod name;
mod secret;
mod standing;
pub(super) mod without;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use around::{
    ChannelUnit, DaemonUnit, LogSettings, OtlpSettings, RuntimeUnit, TargetUnit, TimerUnit, WebSettings,
};
pub use condition::{Condition, ConditionTest};
pub use edge::{Edge, EdgeKind};
pub use name::{Kind, Place, UnitName};
pub use secret::{NewValue, Retire, SecretBackend, SecretDefaults, SecretUnit};
pub use standing::{Off, OffState, Standing};
pub use work::{
    ConnectorUnit, EngineUnit, EnvUnit, FilesRule, OutboundRule, RouteMatch, RouteUnit, SandboxRule,
};

pub use crate::model::schedule::Schedule;

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
    pub edges: Vec<Arc<Edge>>,
    /// SHA-256 of the canonical form, 64 hex digits: formatting and comments do not change it.
    pub hash: String,
}

impl Plan {
    /// Why a unit does not take part; `None` also for one that is not there.
    #[must_use]
    pub fn why_off(&self, unit: &UnitName) -> Option<&Off> {
        let name = &unit.name;
        match unit.kind {
            Kind::Daemon => None,
            Kind::Connector => self.connectors.get(name)?.off(),
            Kind::Engine => self.engines.get(name)?.off(),
            Kind::Env => self.envs.get(name)?.off(),
            Kind::Route => self.routes.get(name)?.off(),
            Kind::Runtime => self.runtimes.get(name)?.off(),
            Kind::Channel => self.channels.get(name)?.off(),
            Kind::Timer => self.timers.get(name)?.off(),
            Kind::Secret => self.secrets.get(name)?.off(),
            Kind::Target => self.targets.get(name)?.off(),
        }
    }

    /// Gives a unit that is off another reason, as it was told at an earlier time.
    pub fn tell_off(&mut self, unit: &UnitName, why: &str) {
        fn of<T>(units: &mut BTreeMap<String, Standing<T>>, name: &str, why: &str) {
            if let Some(standing) = units.get_mut(name) {
                standing.told(why);
            }
        }
        let name = &unit.name;
        match unit.kind {
            Kind::Daemon => {}
            Kind::Connector => of(&mut self.connectors, name, why),
            Kind::Engine => of(&mut self.engines, name, why),
            Kind::Env => of(&mut self.envs, name, why),
            Kind::Route => of(&mut self.routes, name, why),
            Kind::Runtime => of(&mut self.runtimes, name, why),
            Kind::Channel => of(&mut self.channels, name, why),
            Kind::Timer => of(&mut self.timers, name, why),
            Kind::Secret => of(&mut self.secrets, name, why),
            Kind::Target => of(&mut self.targets, name, why),
        }
    }

    /// Engines for which queued cases may wait: those that are on, and those that only do not run at the moment.
    #[must_use]
    pub fn engines_waited_for(&self) -> Vec<String> {
        let waited_for = |standing: &Standing<EngineUnit>| match standing {
            Standing::Active(_) => true,
            Standing::Off(off) => matches!(off.state, OffState::Stopped | OffState::Condition),
        };
        let engines = self.engines.iter().filter(|(_, standing)| waited_for(standing));
        engines.map(|(name, _)| name.clone()).collect()
    }

    /// The account of an engine that is on, and the engines that share it, itself among them.
    #[must_use]
    pub fn sharing(&self, engine: &str) -> Option<(Vec<String>, String)> {
        let Some(Standing::Active(unit)) = self.engines.get(engine) else { return None };
        let same = self.engines.iter().filter(|(_, standing)| match standing {
            Standing::Active(other) => other.account == unit.account,
            Standing::Off(_) => false,
        });
        Some((same.map(|(name, _)| name.clone()).collect(), unit.account.clone()))
    }

    /// Every unit by its full name, and why it is off if it is. The daemon unit is not among them.
    #[must_use]
    pub fn standings(&self) -> Vec<(UnitName, Option<&Off>)> {
        let mut out = Vec::new();
        standing::gather(Kind::Connector, &self.connectors, &mut out);
        standing::gather(Kind::Engine, &self.engines, &mut out);
        standing::gather(Kind::Env, &self.envs, &mut out);
        standing::gather(Kind::Route, &self.routes, &mut out);
        standing::gather(Kind::Runtime, &self.runtimes, &mut out);
        standing::gather(Kind::Channel, &self.channels, &mut out);
        standing::gather(Kind::Timer, &self.timers, &mut out);
        standing::gather(Kind::Secret, &self.secrets, &mut out);
        standing::gather(Kind::Target, &self.targets, &mut out);
        out
    }

    /// All units that are off. A runtime unit that is off goes by its runtime's word.
    pub fn off(&self) -> impl Iterator<Item = (UnitName, &Off)> {
        self.standings().into_iter().filter_map(|(name, off)| Some((name, off?)))
    }
}
