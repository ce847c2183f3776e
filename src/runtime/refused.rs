//! Sends whose login was refused: they wait for other credentials, and go out as soon as there are any.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::credentials::fingerprint;
use super::outbound::OutboundParts;
use crate::model::time::Timestamp;
use crate::store::StoreError;

/// How often it is looked whether credentials were replaced, while a send waits for that and only then.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// Under which credentials each connector was refused, by its unit's name. Lost with the process: a daemon that was
/// started anew tries at once, which is what people expect of a restart.
#[derive(Debug, Default)]
pub(super) struct RefusedLogins(Mutex<BTreeMap<String, String>>);

impl RefusedLogins {
    /// A send through this connector was refused under these credentials.
    pub fn note(&self, connector: &str, mark: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(connector.to_owned(), mark);
    }

    /// Hastens what waits for credentials that were replaced. Gives when to look again, while something still waits.
    pub async fn look(&self, parts: &OutboundParts) -> Result<Option<Timestamp>, StoreError> {
        let mut waiting = false;
        for (connector, _) in parts.store.refused_sends().await? {
            let Some(destination) = parts.orders.destinations.get(&connector) else { continue };
            let now = fingerprint(parts.secrets.as_ref(), &destination.secrets).await;
            let before = {
                let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(connector.clone(), now.clone())
            };
            if before.as_ref() == Some(&now) {
                waiting = true;
            } else {
                tracing::info!(
                    unit = connector,
                    "its credentials may be others now: what was refused goes out again"
                );
                parts.store.hasten_sends(&connector).await?;
            }
        }
        Ok(waiting.then(|| parts.clock.now().plus(LOOK_EVERY)))
    }
}
