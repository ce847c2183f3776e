//! Tokens that are used: the stored one, renewed before it ends and when a server no longer takes it.

use super::answer::Granted;
use super::client::{Told, token};
use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError, chain};
use crate::model::limits;
use crate::model::secret_ref::SecretRef;
use crate::model::time::{Clock, Timestamp};
use crate::secret::{Grant, SecretError, SecretStore, Token};

/// Who asks.
pub struct Asker<'a> {
    /// The room.
    pub http: &'a HttpRoom,
    /// Where tokens are kept.
    pub secrets: &'a dyn SecretStore,
    /// Now.
    pub clock: &'a Clock,
    /// The connector, for the command that is to be typed when nothing else helps.
    pub unit: &'a str,
}

/// The token ends, or did, and something renews it.
fn is_due(grant: &Grant, now: Timestamp) -> bool {
    grant.refresh.is_some() && grant.expires_at.is_some_and(|at| at <= now.plus(limits::OAUTH_EARLY))
}

impl Asker<'_> {
    /// The token behind a reference, good for a request now. What a person stored is given as it is.
    ///
    /// # Errors
    /// Of the store. `Auth` if it cannot be renewed, with the command that helps.
    pub async fn token(&self, reference: &SecretRef) -> Result<Token, PortError> {
        let token = self.read(reference).await?;
        let (SecretRef::Stored(name), true) =
            (reference, token.grant.as_ref().is_some_and(|grant| is_due(grant, self.clock.now())))
        else {
            return Ok(token);
        };
        self.renewed(reference, name, token.version).await
    }

    /// After a server refused this token: a new one, renewed or read anew from its store; `None` where there is no other.
    ///
    /// # Errors
    /// As [`token`](Self::token).
    pub async fn after_refusal(
        &self,
        reference: &SecretRef,
        refused: &Token,
    ) -> Result<Option<Token>, PortError> {
        let renewable = refused.grant.as_ref().is_some_and(|grant| grant.refresh.is_some());
        let (SecretRef::Stored(name), true) = (reference, renewable) else {
            // A person or a program may have put another in its place since it was read.
            let now = self.secrets.again(reference).await.map_err(|error| self.store_error(error))?;
            return Ok(Some(now).filter(|now| now.value.fingerprint() != refused.value.fingerprint()));
        };
        self.renewed(reference, name, refused.version).await.map(Some)
    }

    async fn read(&self, reference: &SecretRef) -> Result<Token, PortError> {
        self.secrets.token(reference).await.map_err(|error| self.store_error(error))
    }

    fn store_error(&self, error: SecretError) -> PortError {
        PortError::caused(error.class(), format!("read the token of {}", self.unit), error)
    }

    /// Renews the token of this version, unless somebody has by now.
    async fn renewed(&self, reference: &SecretRef, name: &str, version: u32) -> Result<Token, PortError> {
        let turn = self.secrets.renewing(name);
        let _one_at_a_time = turn.lock().await;
        let stored = self.read(reference).await?;
        let grant = match &stored.grant {
            Some(grant) if stored.version == version => grant.clone(),
            _ => return Ok(stored),
        };
        let Some(refresh) = grant.refresh.clone() else { return Ok(stored) };
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose_to_the_wire())];
        let told = token(self.http, self.secrets, self.clock, &grant.client, &form).await;
        let granted = match told {
            Ok(Told::Granted(granted)) => granted,
            Ok(Told::Refused(refused)) => {
                // Another process may have been quicker: then its token is the one.
                let now = self.read(reference).await?;
                if now.version != version {
                    return Ok(now);
                }
                let class = refused.class();
                let doing = format!("renew the token of {}", self.unit);
                let why = match class {
                    ErrorClass::Auth => {
                        format!(
                            "the server refused ({refused}); log in again: workagent secret login {}",
                            self.unit
                        )
                    }
                    _ => refused.to_string(),
                };
                return Err(PortError::caused(class, doing, why));
            }
            Err(error) => {
                let doing = format!("renew the token of {}", self.unit);
                return Err(PortError { doing: format!("{doing}: {}", error.doing), ..error });
            }
        };
        self.keep(reference, name, &stored, grant, granted).await
    }

    /// Token and what renews it change in one step. A store that cannot be written does not cost this request its token;
    /// the next renewal may be refused then, and says so.
    async fn keep(
        &self,
        reference: &SecretRef,
        name: &str,
        stored: &Token,
        grant: Grant,
        granted: Granted,
    ) -> Result<Token, PortError> {
        let Granted { access, refresh, expires_at } = granted;
        let grant = Grant { refresh: refresh.or(grant.refresh), expires_at, client: grant.client };
        let now = self.clock.now();
        let kept = self.secrets.renew(name, stored.version, access.clone(), grant.clone(), now).await;
        match kept {
            Ok(true) => {
                Ok(Token { value: access, version: stored.version.saturating_add(1), grant: Some(grant) })
            }
            // A person logged in meanwhile.
            Ok(false) => self.read(reference).await,
            Err(error) => {
                tracing::warn!("the new token of {} could not be kept: {}", self.unit, chain(&error));
                Ok(Token { value: access, version: stored.version, grant: Some(grant) })
            }
        }
    }
}
