//! What may leave through a connector, by whatever way a draft of it comes to be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::model::auto::AutoRule;
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::draft::Draft;
use crate::model::ids::ActionId;
use crate::model::outbound::{ActionState, OutboundAction};
use crate::model::time::Timestamp;
use crate::platform::Connector;
use crate::unit::plan::{ConnectorUnit, OutboundRule};

/// As long as a real one; what is made with it is thrown away.
const TRIAL_KEY: &str = "wa-9999999-0123456789abcdef";

/// The rules of one plan, by connector unit name; active connectors only.
pub type DeskRules = Arc<BTreeMap<String, DeskRule>>;

/// What may leave through a connector, where to, and after which undo window.
#[derive(Clone)]
pub struct DeskRule {
    /// The rule.
    pub outbound: OutboundRule,
    /// What of it goes without a person.
    pub auto: Arc<AutoRule>,
    /// Undo window between approval and sending.
    pub hold: Duration,
    /// [`Connector::destination`].
    pub destination: Arc<str>,
    /// The account, for trying whether a draft can be made into what it sends.
    pub connector: Arc<dyn Connector>,
}

impl DeskRule {
    /// What a connector's unit says.
    ///
    /// # Errors
    /// `[auto]` holds a pattern that cannot be read: `Config`.
    pub fn of(unit: &ConnectorUnit, connector: Arc<dyn Connector>) -> Result<Self, PortError> {
        let auto = AutoRule::new(&unit.auto);
        let auto = auto.map_err(|why| PortError::caused(ErrorClass::Config, "read [auto]", why))?;
        Ok(Self {
            outbound: unit.outbound,
            auto: Arc::new(auto),
            hold: unit.hold,
            destination: connector.destination().into(),
            connector,
        })
    }

    /// Why the account cannot send this, if it can be known before the wire: it is too long, it answers nothing, an effect
    /// cannot be. Said while a person can still change it; once approved it would be given up.
    #[must_use]
    pub fn cannot_send(&self, draft: &Draft, now: Timestamp) -> Option<String> {
        let trial = OutboundAction {
            destination: draft.destination.clone(),
            id: ActionId(0),
            case: draft.case,
            draft: draft.id,
            connector: draft.connector.clone(),
            envelope: draft.envelope.clone(),
            body: draft.body.clone(),
            key: TRIAL_KEY.to_owned(),
            hash: draft.hash.clone(),
            state: ActionState::Approved,
            not_before: now,
            attempts: 0,
            payload: None,
            receipt: None,
            last_error: None,
            approved_at: now,
            sending_at: None,
        };
        let error = self.connector.prepare(&trial, now).err()?;
        matches!(error.class, ErrorClass::Permanent | ErrorClass::Config).then(|| chain(&error))
    }

    /// What was made for this place goes where this rule sends. What was made before places were noted goes anywhere.
    #[must_use]
    pub fn sends_to(&self, destination: &str) -> bool {
        destination.is_empty() || *destination == *self.destination
    }
}
