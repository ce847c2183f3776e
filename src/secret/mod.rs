//! The only home of secret values: the value type, the store trait, backends, the scrubber.

pub mod age_file;
pub mod backend;
pub mod due;
mod entry;
pub mod grant;
pub mod keyring;
pub mod name;
pub mod places;
pub mod plain_stores;
pub mod program;
pub mod random;
pub mod scrub;
pub mod secrets;
pub mod standing;
pub mod value;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

pub use age_file::AgeFile;
pub use grant::{Grant, GrantClient, Token};
pub use scrub::Scrubber;
pub use secrets::Secrets;
pub use value::SecretValue;

use crate::model::class::ErrorClass;
use crate::model::secret_ref::SecretRef;
use crate::model::time::Timestamp;

/// What a `set` came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOutcome {
    /// The version it has now.
    pub version: u32,
    /// `false`: too short to be masked in logs; tell the user.
    pub masked: bool,
    /// The key file was made just now, here: tell the user to keep a copy apart.
    pub key_made: Option<PathBuf>,
}

/// Why a secret could not be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SecretError {
    /// Nothing is stored under the name.
    #[error("no secret is stored under `{name}`")]
    Missing {
        /// The name, or `$NAME` for an environment variable.
        name: String,
    },
    /// The store is there and waits for a person to unlock it.
    #[error("needs unlock: {why}")]
    NeedsUnlock {
        /// For people; never a value.
        why: String,
    },
    /// The store cannot be used now: out of reach, wrong passphrase, unreadable.
    #[error("the secret store is not available: {why}")]
    Unavailable {
        /// For people; never a value.
        why: String,
    },
}

/// Why a secret could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// A bad name, an empty or oversized value.
    #[error("{why}")]
    Refused {
        /// For people; never a value.
        why: String,
    },
    /// The store itself; it is as it was.
    #[error(transparent)]
    Store(#[from] SecretError),
}

impl SecretError {
    /// A missing secret and a locked store wait for the user; a store out of reach may be there later.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Missing { .. } | Self::NeedsUnlock { .. } => ErrorClass::Auth,
            Self::Unavailable { .. } => ErrorClass::NETWORK,
        }
    }

    /// The next thing to type.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { name } => match name.strip_prefix('$') {
                Some(variable) => format!("set {variable} in the environment of the daemon and restart it"),
                None => format!(
                    "store it with `workagent secret set {name}`, or let the unit take it from the daemon's \
                     environment: {{ env = \"NAME\" }}"
                ),
            },
            Self::NeedsUnlock { .. } => "unlock it by logging in to the desktop, or in its password program; \
                 `workagent secret test NAME` may ask you for the password"
                .to_owned(),
            Self::Unavailable { .. } => "secrets can come from the encrypted file (opened by its key file, or a passphrase: \
                 WORKAGENT_SECRETS_PASSPHRASE_FILE, or a service credential `workagent.passphrase`), from the desktop's \
                 keyring or service credentials (`[secrets] backend` in workagent.daemon.toml), or from the daemon's \
                 environment: { env = \"NAME\" }"
                .to_owned(),
        }
    }
}

/// Where secret values come from. Values are read at use, so a changed secret is picked up without a reload.
pub trait SecretStore: Send + Sync {
    /// The value behind a reference.
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>>;

    /// The value with what renews it, where something does.
    fn token<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<Token, SecretError>> {
        Box::pin(async move { Ok(Token { value: self.read(reference).await?, version: 0, grant: None }) })
    }

    /// Puts a renewed token in the place of the one of this version; `false`, and nothing done, if that is not the one
    /// any more.
    fn renew<'a>(
        &'a self,
        _name: &'a str,
        _version: u32,
        _value: SecretValue,
        _grant: Grant,
        _now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, SetError>> {
        Box::pin(async {
            let why = "it cannot keep a renewed token".to_owned();
            Err(SetError::Store(SecretError::Unavailable { why }))
        })
    }

    /// Held while the token of this name is renewed, so that ten readers renew it once.
    fn renewing(&self, _name: &str) -> Arc<tokio::sync::Mutex<()>> {
        Arc::default()
    }

    /// The value once more, past whatever is remembered of it: after a server refused the one that was read.
    fn again<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<Token, SecretError>> {
        self.token(reference)
    }

    /// Counts changes of secrets that came to be known here. To be taken before values are read.
    fn turn(&self) -> u64 {
        0
    }

    /// Resolves when secrets have changed since that turn, or a store can be used again.
    fn changed_since(&self, _turn: u64) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
