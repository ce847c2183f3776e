//! Secrets as they are shown: where they are, how old, who reads them; never a value.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;
use crate::secret::standing::StoreStanding;

/// A store of secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreView {
    /// `file`, `keyring`, `credentials`, `command`, `env`.
    pub backend: String,
    /// For people: where it is.
    pub place: String,
    /// `ok`, `needs-unlock`, `unreachable`; `untried` before the first use.
    pub state: String,
    /// Since when.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// What is wrong.
    #[serde(default)]
    pub why: Option<String>,
    /// What to do.
    #[serde(default)]
    pub hint: Option<String>,
}

impl From<StoreStanding> for StoreView {
    fn from(standing: StoreStanding) -> Self {
        let StoreStanding { backend, describe, state, since, why, hint } = standing;
        Self {
            backend: backend.word().to_owned(),
            place: describe,
            state: state.word().to_owned(),
            since,
            why,
            hint,
        }
    }
}

/// One secret, as an object of `secret list --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretView {
    /// Its name.
    pub name: String,
    /// Which store keeps it.
    pub backend: String,
    /// Under which name there, where that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// `ok`, `missing`, `needs-unlock`, `unreachable`; `unasked` where asking would run a program.
    pub state: String,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Raised by each change, where the store counts.
    pub version: Option<u32>,
    /// When it was set, where the store knows.
    pub set_at: Option<Timestamp>,
    /// When it ends, as far as is known.
    pub ends: Option<Timestamp>,
    /// From here on it is to be replaced.
    pub rotate_at: Option<Timestamp>,
    /// The units that read it.
    pub units: Vec<String>,
}

/// Which secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretName {
    /// Its name.
    pub name: String,
}

/// A secret that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotatedView {
    /// The version that is stored since; 0 where the store counts none.
    pub version: u32,
    /// The units that read it.
    pub units: Vec<String>,
}
