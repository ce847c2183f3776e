//! The keyring of this system, through the stores of `keyring-core`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use keyring_core::api::CredentialStore;
use keyring_core::{Entry, Error};

use super::{SERVICE, Seat, Trouble};

/// The system's keyring. The connection is made at the first use, and anew after a failure: a bus that was restarted is
/// another one.
#[derive(Default)]
pub(super) struct Native {
    store: Mutex<Option<Arc<CredentialStore>>>,
}

impl Native {
    fn store(&self) -> Result<Arc<CredentialStore>, Trouble> {
        let mut held = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*held {
            return Ok(Arc::clone(store));
        }
        let store = system::open()?;
        *held = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Once more over a new connection where the old one is no good any more.
    fn entry<T>(&self, entry: &str, work: impl Fn(&Entry) -> Result<T, Error>) -> Result<T, Error> {
        let build = || -> Result<Entry, Error> {
            let store = self.store().map_err(|trouble| match trouble {
                Trouble::Unreachable(_) => Error::NoDefaultStore,
                other => Error::PlatformFailure(format!("{other:?}").into()),
            })?;
            store.build(SERVICE, entry, system::modifiers(entry).as_ref().map(of).as_ref())
        };
        let had = self.store.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        match build().and_then(|entry| work(&entry)) {
            Err(Error::PlatformFailure(_)) if had => {
                *self.store.lock().unwrap_or_else(PoisonError::into_inner) = None;
                build().and_then(|entry| work(&entry))
            }
            other => other,
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // Closing a connection waits on a runtime of its own, which panics on a thread that drives another.
        if let Some(store) = self.store.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = std::thread::Builder::new().name("keyring".to_owned()).spawn(move || drop(store));
        }
    }
}

fn of<'a>(pairs: &'a [(&'static str, String); 1]) -> HashMap<&'static str, &'a str> {
    pairs.iter().map(|(key, value)| (*key, value.as_str())).collect()
}

fn trouble(error: Error) -> Trouble {
    match error {
        Error::NoDefaultStore => Trouble::Unreachable("there is none".to_owned()),
        Error::NoStorageAccess(cause) => system::no_access(&*cause),
        // Its own text may hold the entry's bytes.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            Trouble::Failed("the entry is damaged".to_owned())
        }
        Error::Ambiguous(entries) => {
            Trouble::Failed(format!("there are {} entries of that name", entries.len()))
        }
        other => Trouble::Failed(other.to_string()),
    }
}

impl Seat for Native {
    fn name(&self) -> &'static str {
        system::NAME
    }

    fn get(&self, entry: &str, ask: bool) -> Result<Option<Vec<u8>>, Trouble> {
        if !system::look(entry, ask)? {
            return Ok(None);
        }
        match self.entry(entry, Entry::get_secret) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(trouble(error)),
        }
    }

    fn set(&self, entry: &str, bytes: &[u8], ask: bool) -> Result<(), Trouble> {
        system::look(entry, ask)?;
        self.entry(entry, |entry| entry.set_secret(bytes)).map_err(trouble)
    }

    fn remove(&self, entry: &str, ask: bool) -> Result<bool, Trouble> {
        if !system::look(entry, ask)? {
            return Ok(false);
        }
        match self.entry(entry, Entry::delete_credential) {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(trouble(error)),
        }
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        system::names()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashMap;
    use std::error::Error as StdError;
    use std::sync::Arc;

    use keyring_core::api::CredentialStore;
    use secret_service::blocking::SecretService;
    use secret_service::{EncryptionType, Error};
    use zbus_secret_service_keyring_store::Store;

    use super::super::{SERVICE, Trouble};

    pub(super) const NAME: &str = "Secret Service";

    pub(super) fn open() -> Result<Arc<CredentialStore>, Trouble> {
        let store = Store::new().map_err(|error| Trouble::Unreachable(error.to_string()))?;
        Ok(store)
    }

    /// What people see in the desktop's password program.
    pub(super) fn modifiers(entry: &str) -> Option<[(&'static str, String); 1]> {
        Some([("label", format!("workagent: {entry}"))])
    }

    /// Whether an entry is there; never asks anybody, unlike the calls that follow. `ask`: what is locked may be asked
    /// for by them.
    pub(super) fn look(entry: &str, ask: bool) -> Result<bool, Trouble> {
        let service = connect()?;
        let wanted = HashMap::from([("service", SERVICE), ("username", entry)]);
        let found = service.search_items(wanted).map_err(trouble)?;
        if !found.unlocked.is_empty() {
            return Ok(true);
        }
        if !found.locked.is_empty() {
            return if ask { Ok(true) } else { Err(Trouble::Locked) };
        }
        // Some services show nothing of a locked collection.
        let collection = match service.get_default_collection() {
            Ok(collection) => collection,
            Err(Error::NoResult) if ask => return Ok(false),
            Err(Error::NoResult) => return Err(Trouble::NoKeyring),
            Err(error) => return Err(trouble(error)),
        };
        if collection.is_locked().map_err(trouble)? {
            if !ask {
                return Err(Trouble::Locked);
            }
            collection.unlock().map_err(trouble)?;
            let wanted = HashMap::from([("service", SERVICE), ("username", entry)]);
            let found = service.search_items(wanted).map_err(trouble)?;
            return Ok(!found.unlocked.is_empty());
        }
        Ok(false)
    }

    pub(super) fn names() -> Result<Vec<String>, Trouble> {
        let service = connect()?;
        let found = service.search_items(HashMap::from([("service", SERVICE)])).map_err(trouble)?;
        let mut names = Vec::new();
        for item in found.unlocked.iter().chain(&found.locked) {
            let attributes = item.get_attributes().map_err(trouble)?;
            names.extend(attributes.get("username").cloned());
        }
        names.sort();
        Ok(names)
    }

    fn connect() -> Result<SecretService<'static>, Trouble> {
        // No value goes over this connection.
        SecretService::connect(EncryptionType::Plain).map_err(|error| match error {
            Error::Unavailable => Trouble::Unreachable("no service and no session bus".to_owned()),
            other => Trouble::Unreachable(other.to_string()),
        })
    }

    fn trouble(error: Error) -> Trouble {
        match error {
            Error::Locked => Trouble::Locked,
            Error::Prompt | Error::PromptDisconnected => Trouble::Dismissed,
            Error::NoResult => Trouble::NoKeyring,
            Error::Unavailable => Trouble::Unreachable("the service went away".to_owned()),
            other => Trouble::Failed(other.to_string()),
        }
    }

    pub(super) fn no_access(cause: &(dyn StdError + Send + Sync + 'static)) -> Trouble {
        match cause.downcast_ref::<Error>() {
            Some(Error::Locked) => Trouble::Locked,
            Some(Error::Prompt) => Trouble::Dismissed,
            Some(Error::NoResult) => Trouble::NoKeyring,
            _ => Trouble::Failed(cause.to_string()),
        }
    }
}

#[cfg(target_os = "macos")]
mod system {
    use std::error::Error as StdError;
    use std::sync::Arc;

    use apple_native_keyring_store::keychain::Store;
    use keyring_core::api::{CredentialStore, CredentialStoreApi as _};

    use super::super::{SERVICE, Trouble};

    pub(super) const NAME: &str = "Keychain";

    pub(super) fn open() -> Result<Arc<CredentialStore>, Trouble> {
        let store = Store::new().map_err(|error| Trouble::Unreachable(error.to_string()))?;
        Ok(store)
    }

    pub(super) fn modifiers(_entry: &str) -> Option<[(&'static str, String); 1]> {
        None
    }

    /// The Keychain itself decides whether somebody is asked.
    pub(super) fn look(_entry: &str, _ask: bool) -> Result<bool, Trouble> {
        Ok(true)
    }

    pub(super) fn names() -> Result<Vec<String>, Trouble> {
        let store = Store::new().map_err(|error| Trouble::Unreachable(error.to_string()))?;
        let found = store.search(&std::collections::HashMap::from([("service", SERVICE)]));
        let found = found.map_err(|error| Trouble::Failed(error.to_string()))?;
        let mut names: Vec<String> =
            found.iter().filter_map(|entry| entry.get_specifiers()).map(|(_, user)| user).collect();
        names.sort();
        Ok(names)
    }

    pub(super) fn no_access(_cause: &(dyn StdError + Send + Sync + 'static)) -> Trouble {
        Trouble::Locked
    }
}
