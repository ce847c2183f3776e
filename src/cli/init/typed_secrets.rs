//! Secrets that were typed and are not stored yet, over those that are: so that a login can be tried before anything is
//! written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;

use crate::model::secret_ref::SecretRef;
use crate::secret::{Grant, Scrubber, SecretError, SecretStore, SecretValue, Token};

/// A value with what renews it.
type Held = (SecretValue, Option<Grant>);

/// The secrets of this talk, by name.
pub struct TypedSecrets {
    below: Arc<dyn SecretStore>,
    scrubber: Scrubber,
    held: Mutex<BTreeMap<String, Held>>,
}

impl TypedSecrets {
    /// None yet, over a store.
    #[must_use]
    pub fn new(below: Arc<dyn SecretStore>, scrubber: Scrubber) -> Self {
        Self { below, scrubber, held: Mutex::default() }
    }

    /// Takes a value; it is masked from now on.
    pub fn put(&self, name: &str, value: SecretValue, grant: Option<Grant>) {
        self.scrubber.register(&value);
        self.lock().insert(name.to_owned(), (value, grant));
    }

    /// Whether a value was typed.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    /// A value is there: typed or stored.
    pub async fn is_there(&self, name: &str) -> bool {
        self.read(&SecretRef::Stored(name.to_owned())).await.is_ok()
    }

    /// Those of these names that were typed, and that are not in the store just so.
    pub async fn news(&self, names: &[String]) -> Vec<(String, SecretValue, Option<Grant>)> {
        let mut news = Vec::new();
        for name in names {
            let held = self.lock().get(name).cloned();
            let Some((value, grant)) = held else { continue };
            let stored = self.below.read(&SecretRef::Stored(name.clone())).await;
            let same = stored.is_ok_and(|stored| stored.fingerprint() == value.fingerprint());
            if !same || grant.is_some() {
                news.push((name.clone(), value, grant));
            }
        }
        news
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SecretStore for TypedSecrets {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move {
            if let SecretRef::Stored(name) = reference
                && let Some((value, _)) = self.lock().get(name).cloned()
            {
                return Ok(value);
            }
            self.below.read(reference).await
        })
    }

    fn token<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<Token, SecretError>> {
        Box::pin(async move {
            if let SecretRef::Stored(name) = reference
                && let Some((value, _)) = self.lock().get(name).cloned()
            {
                // Fresh, so that nothing is to be renewed yet.
                return Ok(Token { value, version: 0, grant: None });
            }
            self.below.token(reference).await
        })
    }
}
