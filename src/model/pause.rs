//! The stop that a person asks for: nothing is claimed or sent, of everything or of one unit, for a while or until resumed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// One stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Since when.
    pub since: Timestamp,
    /// It ends by itself then; `None`: by `resume` alone.
    #[serde(default)]
    pub until: Option<Timestamp>,
}

/// All stops that are in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// Of everything.
    #[serde(default)]
    pub all: Option<Pause>,
    /// Of single units, by full name: an engine gets no case, a connector sends nothing.
    #[serde(default)]
    pub units: BTreeMap<String, Pause>,
}

impl Pauses {
    /// Nothing is stopped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_none() && self.units.is_empty()
    }

    /// The stop of this unit alone, `inbox.connector`.
    #[must_use]
    pub fn of(&self, unit: &str) -> Option<&Pause> {
        self.units.get(unit)
    }
}
