//! Channels and whom they are paired with.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

/// `POST /v1/channels/{channel}/pair`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PairBody {
    /// The code that was told on the channel; absent: begin.
    pub code: Option<String>,
}

/// How a channel stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelView {
    /// The unit: `phone.channel`.
    pub unit: String,
    /// Where it leads.
    pub place: String,
    /// The code is to be said on the channel; else it is told there, and typed in a terminal.
    pub said_there: bool,
    /// Its one user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<PairedView>,
    /// Until when a code waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_until: Option<Timestamp>,
    /// The code, in the answer to the request that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The user of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedView {
    /// As the channel names them.
    pub user: String,
    /// Since when.
    pub since: Timestamp,
}
