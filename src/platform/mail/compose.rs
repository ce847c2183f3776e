//! From an approved action to the exact bytes of a mail.

use crate::model::class::PortError;
use crate::model::item::Party;
use crate::model::outbound::{OutboundAction, Payload};
use crate::model::time::Timestamp;

/// The header that carries the action's key.
pub const ACTION_HEADER: &str = "X-Workagent-Action";

/// Who the transport sends from and to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipients {
    /// The return path: a bare address.
    pub from: String,
    /// Bare addresses, each once, `To` before `Cc`.
    pub to: Vec<String>,
}

/// The bytes of a mail (CRLF line ends, no line over 998 bytes), the same for the same action, `from` and `now`.
/// The marker is its Message-ID with brackets, `<wa-7-0123456789abcdef@example.org>`.
///
/// It leaves from the envelope's `from`; `from` here supplies the shown name, and the address where the envelope has
/// none.
///
/// # Errors
/// `Permanent` if an address is not usable or nobody would get it.
pub fn compose(action: &OutboundAction, from: &Party, now: Timestamp) -> Result<Payload, PortError> {
    let _ = (action, from, now);
    todo!()
}

/// Who gets the mail of this action, for the transport. See [`compose`].
///
/// # Errors
/// As [`compose`].
pub fn recipients(action: &OutboundAction, from: &Party) -> Result<Recipients, PortError> {
    let _ = (action, from);
    todo!()
}
