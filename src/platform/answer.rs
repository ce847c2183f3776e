//! What answers to trackers have in common: the handle in the envelope, and how soon a platform can say "not there".

use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::model::class::{ErrorClass, PortError};
use crate::model::outbound::OutboundAction;

/// Copies of the far side's database that are read from may lag behind.
pub const LAG: Duration = Duration::from_secs(20);

/// The clocks of a server's machines differ a little.
pub const CLOCKS: Duration = Duration::from_secs(120);

/// The answer cannot be made, however often it is tried.
pub fn permanent(why: impl Into<String>) -> PortError {
    PortError::caused(ErrorClass::Permanent, "make the answer", why.into())
}

/// Where an answer belongs, as the platform's own map put it into the envelope.
///
/// # Errors
/// `Permanent`: it is not of that shape, as in drafts of an older version.
pub fn handle<T: DeserializeOwned>(action: &OutboundAction) -> Result<T, PortError> {
    serde_json::from_value(action.envelope.thread.clone())
        .map_err(|_| permanent("it does not say where it belongs; let an engine draft it anew"))
}
