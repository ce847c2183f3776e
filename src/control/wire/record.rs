//! What travels of what needs the user.

use serde::{Deserialize, Serialize};

/// Who asks for what is new.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnnounceBody {
    /// The channel's name: `phone.channel`.
    pub channel: String,
}
