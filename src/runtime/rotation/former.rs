//! The value before the present one: kept for as long as both are good, then handed to the program that takes it out of
//! service. So work that began with it comes to its end, and no request meets a value that the far side does not know yet.

use super::rotator::Rotator;
use crate::model::class::chain;
use crate::model::time::Timestamp;
use crate::secret::SetError;
use crate::secret::places::filled;
use crate::secret::program::Asked;
use crate::store::Rotation;
use crate::unit::plan::{NewValue, Retire, SecretUnit};

/// How a unit takes former values out of service.
pub(super) fn retire_of(unit: &SecretUnit) -> Option<&Retire> {
    match &unit.how {
        NewValue::Command { retire, .. } => retire.as_ref(),
        NewValue::Ask | NewValue::OAuth => None,
    }
}

impl Rotator {
    /// Takes the former value of a secret out of service once its time is over; gives when it will be, if that is later.
    ///
    /// # Errors
    /// For people: it is still in service, and is tried again.
    pub(super) async fn retire_due(
        &self,
        unit: &SecretUnit,
        name: &str,
    ) -> Result<Option<Timestamp>, String> {
        let Some(retire) = retire_of(unit) else { return Ok(None) };
        let Some(former) = self.secrets().former(name).await.map_err(|error| chain(&error))? else {
            return Ok(None);
        };
        let over = former.set_at.map(|at| at.plus(retire.after));
        if let Some(over) = over.filter(|over| *over > self.now()) {
            return Ok(Some(over));
        }
        self.retire(unit, name, retire).await.map(|()| None)
    }

    /// Takes the former value out of service now, if there is one.
    ///
    /// # Errors
    /// For people: it is still in service.
    pub(super) async fn retire(&self, unit: &SecretUnit, name: &str, retire: &Retire) -> Result<(), String> {
        let secrets = self.secrets();
        let Some(former) = secrets.former(name).await.map_err(|error| chain(&error))? else { return Ok(()) };
        let present = secrets.kept(name).await.map_err(|error| chain(&error))?.token;
        // Kept before the new value was, and then something broke: it is the one in use.
        if present.value.expose_to_the_wire() != former.token.value.expose_to_the_wire() {
            let command = filled(&retire.command, &unit.entry);
            let asked = Asked { command: &command, pass: &unit.pass, stdin: Some(&former.token.value) };
            secrets.run(asked).await.map_err(|error| self.scrubber().scrub(&chain(&error)).into_owned())?;
            let rotation = Rotation {
                secret: name.to_owned(),
                at: self.now(),
                version: Some(present.version),
                how: "command".to_owned(),
                detail: "the value before it was taken out of service".to_owned(),
            };
            if let Err(error) = self.store().note_rotation(rotation).await {
                tracing::warn!(secret = name, "{}", chain(&error));
            }
            tracing::info!(secret = name, "the former value was taken out of service");
        }
        secrets.forget_former(name).await.map(drop).map_err(|error| told(&error))
    }
}

pub(super) fn told(error: &SetError) -> String {
    match error {
        SetError::Refused { why } => why.clone(),
        SetError::Store(error) => chain(error),
    }
}
