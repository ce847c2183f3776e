//! What may leave through a connector, by whatever way a draft of it comes to be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::unit::plan::OutboundRule;

/// The rules of one plan, by connector unit name; active connectors only.
pub type DeskRules = Arc<BTreeMap<String, DeskRule>>;

/// What may leave through a connector, where to, and after which undo window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskRule {
    /// The rule.
    pub outbound: OutboundRule,
    /// Undo window between approval and sending.
    pub hold: Duration,
    /// [`Connector::destination`](crate::platform::Connector::destination).
    pub destination: Arc<str>,
}

impl DeskRule {
    /// What was made for this place goes where this rule sends. What was made before places were noted goes anywhere.
    #[must_use]
    pub fn sends_to(&self, destination: &str) -> bool {
        destination.is_empty() || *destination == *self.destination
    }
}
