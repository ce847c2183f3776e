//! The runtime of a unit that is off: a real value with a reason in it, so that no caller asks "is it on?".

use crate::model::cycle::{CycleRecord, RuntimeSummary};
use crate::unit::plan::Off;

/// Does nothing and says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledRuntime {
    unit: String,
    off: Off,
}

impl DisabledRuntime {
    /// The no-op of a unit (full name).
    #[must_use]
    pub fn new(unit: impl Into<String>, off: Off) -> Self {
        Self { unit: unit.into(), off }
    }

    /// The unit's full name.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Why it is off.
    #[must_use]
    pub fn off(&self) -> &Off {
        &self.off
    }

    /// For people: `disabled: [install] enabled = false (inbox.connector.toml:12:1)`.
    #[must_use]
    pub fn reason(&self) -> String {
        let Off { state, reason, place } = &self.off;
        match place {
            Some(place) => format!("{}: {reason} ({place})", state.word()),
            None => format!("{}: {reason}", state.word()),
        }
    }

    /// Its part of an app cycle.
    #[must_use]
    pub fn record(&self) -> CycleRecord {
        CycleRecord {
            unit: self.unit.clone(),
            summary: RuntimeSummary::Disabled { reason: self.reason() },
            errors: Vec::new(),
        }
    }
}
