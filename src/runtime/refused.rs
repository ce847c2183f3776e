//! Sends whose login was refused: they wait for other credentials, and go out as soon as there are any.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::credentials::fingerprint;
use super::outbound::OutboundParts;
use crate::model::time::Timestamp;
use crate::store::StoreError;

/// How often it is asked whether somebody changed a secret, while a send waits for that and only then.
const ASK_EVERY: Duration = Duration::from_secs(3);

/// The first look at the values themselves; each further one doubles, to [`LOOK_EVERY_MAX`]. A value may be replaced in a
/// keyring or by a program, without a word to us, and each look there wakes a program or another process.
const LOOK_AFTER: Duration = Duration::from_secs(3);

/// The longest between two looks at the values.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(60);

/// A login that was refused.
#[derive(Debug)]
struct Refused {
    /// Of the credentials under which it was.
    mark: String,
    /// Of the secrets, when they were looked at.
    turn: u64,
    look_at: Timestamp,
    spacing: Duration,
}

/// Under which credentials each connector was refused, by its unit's name. Lost with the process: a daemon that was
/// started anew tries at once, which is what people expect of a restart.
#[derive(Debug, Default)]
pub(super) struct RefusedLogins(Mutex<BTreeMap<String, Refused>>);

impl RefusedLogins {
    /// A send through this connector was refused under these credentials.
    pub fn note(&self, connector: &str, mark: String, parts: &OutboundParts) {
        let refused = Refused {
            mark,
            turn: parts.secrets.turn(),
            look_at: parts.clock.now().plus(LOOK_AFTER),
            spacing: LOOK_AFTER,
        };
        self.known().insert(connector.to_owned(), refused);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Refused>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hastens what waits for credentials that were replaced. Gives when to ask again, while something still waits.
    pub async fn look(&self, parts: &OutboundParts) -> Result<Option<Timestamp>, StoreError> {
        let now = parts.clock.now();
        let mut waiting = false;
        for (connector, _) in parts.store.refused_sends().await? {
            let Some(destination) = parts.orders.destinations.get(&connector) else { continue };
            let turn = parts.secrets.turn();
            let rests = |refused: &Refused| refused.turn == turn && now < refused.look_at;
            if self.known().get(&connector).is_some_and(rests) {
                waiting = true;
                continue;
            }
            let mark = fingerprint(parts.secrets.as_ref(), &destination.secrets).await;
            if self.is_another(&connector, mark, turn, now) {
                tracing::info!(
                    unit = connector,
                    "its credentials may be others now: what was refused goes out again"
                );
                parts.store.hasten_sends(&connector).await?;
            } else {
                waiting = true;
            }
        }
        Ok(waiting.then(|| now.plus(ASK_EVERY)))
    }

    /// Keeps what was seen; `true` when it is not what was refused.
    fn is_another(&self, connector: &str, mark: String, turn: u64, now: Timestamp) -> bool {
        let mut known = self.known();
        let before = known.get(connector).filter(|refused| refused.mark == mark);
        let spacing = before.map_or(LOOK_AFTER, |refused| (refused.spacing * 2).min(LOOK_EVERY_MAX));
        let is_another = before.is_none();
        known.insert(connector.to_owned(), Refused { mark, turn, look_at: now.plus(spacing), spacing });
        is_another
    }
}
