//! The only home of secret values: the value type, the store trait, backends, the scrubber.

pub mod scrub;
pub mod value;

use futures_util::future::BoxFuture;

pub use scrub::Scrubber;
pub use value::SecretValue;

use crate::model::secret_ref::SecretRef;

/// Why a secret could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Nothing is stored under the name.
    #[error("no secret is stored under `{name}`")]
    Missing {
        /// The name, or `$NAME` for an environment variable.
        name: String,
    },
    /// The store cannot be opened now: locked, wrong passphrase, unreadable.
    #[error("the secret store is not available: {why}")]
    Unavailable {
        /// For people; never a value.
        why: String,
    },
}

/// Where secret values come from. Values are read at use, so a changed secret is picked up without a reload.
pub trait SecretStore: Send + Sync {
    /// The value behind a reference.
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>>;
}
