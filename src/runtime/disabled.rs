//! The runtime of a unit that is off: a real value with a reason in it, so that no caller asks "is it on?".

use std::sync::Arc;

use crate::model::cycle::{CycleRecord, RuntimeSummary};
use crate::unit::plan::Off;

/// Does nothing and says why. What it records is written once: a cycle over a thousand of them copies no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledRuntime {
    unit: Arc<str>,
    off: Off,
    reason: Arc<str>,
}

impl DisabledRuntime {
    /// The no-op of a unit (full name).
    #[must_use]
    pub fn new(unit: &str, off: Off) -> Self {
        Self { unit: unit.into(), reason: off.told().into(), off }
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

    /// Its part of an app cycle.
    #[must_use]
    pub fn record(&self) -> CycleRecord {
        CycleRecord {
            unit: Arc::clone(&self.unit),
            summary: RuntimeSummary::Disabled { reason: Arc::clone(&self.reason) },
            errors: Vec::new(),
        }
    }
}
