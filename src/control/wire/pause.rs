//! The stop by hand.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `POST /v1/pause`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PauseBody {
    /// One engine or connector, `inbox.connector`; absent: everything.
    pub unit: Option<String>,
    /// It ends by itself after this.
    pub span: Option<Duration>,
}

/// `POST /v1/resume`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResumeBody {
    /// Only the stop of this one; absent: all stops.
    pub unit: Option<String>,
}
