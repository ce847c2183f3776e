//! All places secret values come from, as one store. Everything read through it is masked from then on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};

use super::age_file::{AgeFile, Keys};
use super::backend::{Backend, Change, Kept, SecretPlace};
use super::keyring::Keyring;
use super::places::Places;
use super::plain_stores::{Credentials, Variables};
use super::program::{ProgramStore, Programs};
use super::standing::{Standings, StoreStanding, Turned};
use super::{Grant, Scrubber, SecretError, SecretStore, SecretValue, SetError, SetOutcome, Token, name};
use crate::model::environment::Environment;
use crate::model::limits::SECRETS_KEPT_LEN_MAX;
use crate::model::live::Live;
use crate::model::secret_ref::SecretRef;
use crate::model::time::{Clock, Timestamp};
use crate::unit::plan::{SecretBackend, SecretDefaults};

/// All stores, and which secret is in which. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Secrets {
    stores: Arc<Stores>,
    places: Live<Places>,
}

struct Stores {
    file: AgeFile,
    keyring: Keyring,
    credentials: Credentials,
    variables: Variables,
    programs: ProgramStore,
    scrubber: Scrubber,
    clock: Clock,
    standings: Standings,
    /// One for each token that was ever renewed here.
    renewing: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Digests of the values last read, to tell when one is another.
    seen: Mutex<BTreeMap<String, String>>,
    turn: watch::Sender<u64>,
    /// A store that could be used cannot.
    fell_ill: Notify,
}

/// What stores are opened with.
pub struct SecretRooms {
    /// The encrypted file.
    pub file: PathBuf,
    /// The key it is opened with unless a passphrase is named.
    pub key_file: PathBuf,
    /// The captured environment.
    pub environment: Environment,
    /// Masks what is read.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
    /// Runs programs that print secrets.
    pub programs: Option<Arc<dyn Programs>>,
    /// A person sits in front of it: a keyring may ask them to unlock it.
    pub ask: bool,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({:?})", self.stores.file)
    }
}

impl Secrets {
    /// Opens nothing: stores are asked at the first use. `defaults` says what opens the encrypted file; where each
    /// secret is, is told by [`adopt`](Self::adopt).
    #[must_use]
    pub fn open(rooms: SecretRooms, defaults: &SecretDefaults) -> Self {
        let SecretRooms { file, key_file, environment, scrubber, clock, programs, ask } = rooms;
        let key_file = defaults.key_file.clone().unwrap_or(key_file);
        let keys = Keys::choose(key_file, defaults.passphrase_file.as_deref(), &environment);
        let keyring = Keyring::new(file.with_extension("keyring"), scrubber.clone(), ask);
        Self {
            stores: Arc::new(Stores {
                file: AgeFile::new(file, keys, scrubber.clone()),
                keyring,
                credentials: Credentials::new(&environment),
                variables: Variables::new(environment),
                programs: ProgramStore::new(programs, clock.clone()),
                scrubber,
                clock,
                standings: Standings::default(),
                renewing: Mutex::default(),
                seen: Mutex::default(),
                turn: watch::Sender::new(0),
                fell_ill: Notify::new(),
            }),
            places: Live::new(Places::default()),
        }
    }

    /// From here on secrets are where another plan says.
    pub fn adopt(&self, places: Places) {
        if *self.places.get() != places {
            self.places.set(places);
            self.tell();
        }
    }

    /// The same stores, looked at as another plan says; nothing that runs knows of it.
    #[must_use]
    pub fn under(&self, places: Places) -> Self {
        Self { stores: Arc::clone(&self.stores), places: Live::new(places) }
    }

    /// As the rooms take it.
    #[must_use]
    pub fn shared(self) -> Arc<dyn SecretStore> {
        Arc::new(self)
    }

    /// The encrypted file.
    #[must_use]
    pub fn file(&self) -> &AgeFile {
        &self.stores.file
    }

    /// What masks the values read here.
    #[must_use]
    pub fn scrubber(&self) -> &Scrubber {
        &self.stores.scrubber
    }

    /// Where a secret is kept.
    ///
    /// # Errors
    /// Its unit is off.
    pub fn place(&self, name: &str) -> Result<SecretPlace, SecretError> {
        self.places.get().place(name)
    }

    /// For people: the store that keeps a secret.
    ///
    /// # Errors
    /// Its unit is off.
    pub fn describe(&self, name: &str) -> Result<String, SecretError> {
        Ok(self.stores.backend(self.place(name)?.backend).describe())
    }

    /// For people: the store that keeps secrets without a unit.
    #[must_use]
    pub fn describe_default(&self) -> String {
        self.stores.backend(self.places.get().default_backend()).describe()
    }

    /// A secret as it is kept now: its version and age too.
    ///
    /// # Errors
    /// Of its store.
    pub async fn kept(&self, name: &str) -> Result<Kept, SecretError> {
        let place = self.place(name)?;
        let got = self.stores.backend(place.backend).get(&place).await;
        self.note(place.backend, name, got.as_ref().err());
        // Stores know their own entries; people know the secret's name.
        let kept = got.map_err(|error| match error {
            SecretError::Missing { .. } if place.entry == name => {
                SecretError::Missing { name: name.to_owned() }
            }
            SecretError::Missing { name: entry } => {
                SecretError::Missing { name: format!("{name} ({entry})") }
            }
            SecretError::NeedsUnlock { why } => SecretError::NeedsUnlock { why: named(&why, name) },
            SecretError::Unavailable { why } => SecretError::Unavailable { why: named(&why, name) },
        })?;
        self.stores.scrubber.register(&kept.token.value);
        self.saw(name, &kept.token);
        Ok(kept)
    }

    /// Stores a value and reads it back. `over`: only in the place of this version, else `None` and nothing is done.
    ///
    /// # Errors
    /// A bad name or value; a store that cannot be written. Then the old value is still there.
    pub async fn put(
        &self,
        name: &str,
        value: SecretValue,
        grant: Option<Grant>,
        over: Option<u32>,
    ) -> Result<Option<SetOutcome>, SetError> {
        name::check(name)?;
        let place = self.place(name)?;
        let change = Change { value, grant, over, now: self.stores.clock.now() };
        let put = self.stores.backend(place.backend).put(&place, change).await;
        match &put {
            Ok(Some(_)) => {
                self.note(place.backend, name, None);
                self.tell();
            }
            Ok(None) | Err(SetError::Refused { .. }) => {}
            Err(SetError::Store(error)) => self.note(place.backend, name, Some(error)),
        }
        put
    }

    /// Removes a value; `false` when there was none.
    ///
    /// # Errors
    /// Of its store.
    pub async fn remove(&self, name: &str) -> Result<bool, SetError> {
        let place = self.place(name)?;
        let removed = self.stores.backend(place.backend).remove(&place).await?;
        self.tell();
        Ok(removed)
    }

    /// The value before the present one, while it is kept.
    ///
    /// # Errors
    /// Of its store.
    pub async fn former(&self, name: &str) -> Result<Option<Kept>, SecretError> {
        let place = former_of(self.place(name)?);
        match self.stores.backend(place.backend).get(&place).await {
            Ok(kept) => {
                self.stores.scrubber.register(&kept.token.value);
                Ok(Some(kept))
            }
            Err(SecretError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a value that is about to be replaced, beside the present one.
    ///
    /// # Errors
    /// Of its store.
    pub async fn keep_former(&self, name: &str, value: SecretValue) -> Result<(), SetError> {
        let place = former_of(self.place(name)?);
        let change = Change { value, grant: None, over: None, now: self.stores.clock.now() };
        self.stores.backend(place.backend).put(&place, change).await.map(drop)
    }

    /// Lets go of the value before the present one; `false` when there was none.
    ///
    /// # Errors
    /// Of its store.
    pub async fn forget_former(&self, name: &str) -> Result<bool, SetError> {
        let place = former_of(self.place(name)?);
        self.stores.backend(place.backend).remove(&place).await
    }

    /// Names that the default store holds, where it can say.
    ///
    /// # Errors
    /// Of the store.
    pub async fn names(&self) -> Result<Vec<String>, SecretError> {
        let backend = self.places.get().default_backend();
        let names = self.stores.backend(backend).names().await;
        if matches!(backend, SecretBackend::File | SecretBackend::Keyring) {
            self.note(backend, "", names.as_ref().err());
        }
        names
    }

    /// The stores in use, the default first, each as it was when it was last asked.
    #[must_use]
    pub fn standings(&self) -> Vec<StoreStanding> {
        let backends = self.places.get().backends();
        let one = |backend| self.stores.standings.of(backend, self.stores.backend(backend).describe());
        backends.into_iter().map(one).collect()
    }

    /// Looks once more at the stores in use that could not be used when they were last asked, each by one of these
    /// secrets; how many there are. Who waits for one that can be used again is told.
    pub async fn look_at_unwell(&self, names: impl Iterator<Item = &str> + Clone) -> usize {
        let unwell = self.stores.standings.unwell();
        let mut looked = 0;
        for (backend, only) in unwell {
            let is_one = |name: &&str| {
                (only.is_empty() || only == *name)
                    && self.place(name).is_ok_and(|place| place.backend == backend)
            };
            if let Some(name) = names.clone().find(is_one) {
                self.stores.backend(backend).forget();
                looked += usize::from(self.kept(name).await.is_err());
            }
        }
        looked
    }

    /// Resolves when a store that could be used cannot any more.
    pub async fn fell_ill(&self) {
        self.stores.fell_ill.notified().await;
    }

    /// Somebody changed a secret, or unlocked a store: what is remembered is forgotten, and who waits for it looks again.
    pub fn refresh(&self) {
        let Stores { keyring, programs, .. } = &*self.stores;
        keyring.forget();
        programs.forget();
        self.tell();
    }

    /// Runs a program that makes a new value.
    ///
    /// # Errors
    /// It gave none.
    pub async fn print(&self, asked: super::program::Asked<'_>) -> Result<SecretValue, SecretError> {
        let value = self.stores.programs.print(asked).await?;
        self.stores.scrubber.register(&value);
        Ok(value)
    }

    /// Runs a program for what it does, whatever it prints.
    ///
    /// # Errors
    /// It did not end well, or in time.
    pub async fn run(&self, asked: super::program::Asked<'_>) -> Result<(), SecretError> {
        self.stores.programs.run(asked).await.map(drop)
    }

    fn note(&self, backend: SecretBackend, name: &str, error: Option<&SecretError>) {
        match self.stores.standings.note(backend, name, error, self.stores.clock.now()) {
            Turned::Well => self.tell(),
            Turned::Unwell => self.stores.fell_ill.notify_one(),
            Turned::Same => {}
        }
    }

    /// A value that is another one than before is news for those whose requests were refused.
    fn saw(&self, name: &str, token: &Token) {
        let digest = token.value.fingerprint();
        let mut seen = self.stores.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= SECRETS_KEPT_LEN_MAX && !seen.contains_key(name) {
            seen.clear();
        }
        let before = seen.insert(name.to_owned(), digest.clone());
        drop(seen);
        if before.is_some_and(|before| before != digest) {
            tracing::info!(secret = name, version = token.version, "a new value is used from here on");
            self.tell();
        }
    }

    fn tell(&self) {
        self.stores.turn.send_modify(|turn| *turn += 1);
    }
}

/// What is wrong with a store, and which secret was wanted of it.
fn named(why: &str, name: &str) -> String {
    format!("`{name}` cannot be read: {why}")
}

impl Stores {
    fn backend(&self, backend: SecretBackend) -> &dyn Backend {
        match backend {
            SecretBackend::File => &self.file,
            SecretBackend::Keyring => &self.keyring,
            SecretBackend::Credentials => &self.credentials,
            SecretBackend::Command => &self.programs,
            SecretBackend::Env => &self.variables,
        }
    }
}

impl SecretStore for Secrets {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move { self.token(reference).await.map(|token| token.value) })
    }

    fn token<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<Token, SecretError>> {
        Box::pin(async move {
            match reference {
                SecretRef::Stored(name) => self.kept(name).await.map(|kept| kept.token),
                SecretRef::Env(name) => {
                    let value = self.stores.variables.read(name)?;
                    self.stores.scrubber.register(&value);
                    Ok(Token { value, version: 0, grant: None })
                }
            }
        })
    }

    fn renew<'a>(
        &'a self,
        name: &'a str,
        version: u32,
        value: SecretValue,
        grant: Grant,
        _now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, SetError>> {
        Box::pin(async move {
            self.put(name, value, Some(grant), Some(version)).await.map(|outcome| outcome.is_some())
        })
    }

    fn renewing(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut renewing = self.stores.renewing.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(renewing.entry(name.to_owned()).or_default())
    }

    fn again<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<Token, SecretError>> {
        if let SecretRef::Stored(name) = reference
            && let Ok(place) = self.place(name)
        {
            self.stores.backend(place.backend).forget();
        }
        self.token(reference)
    }

    fn turn(&self) -> u64 {
        *self.stores.turn.borrow()
    }

    fn changed_since(&self, turn: u64) -> BoxFuture<'_, ()> {
        let mut told = self.stores.turn.subscribe();
        Box::pin(async move {
            if told.wait_for(|now| *now != turn).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Beside the present value, in the same store.
fn former_of(place: SecretPlace) -> SecretPlace {
    SecretPlace { entry: format!("{}.former", place.entry), ..place }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Timestamp;

    fn secrets(root: &tempfile::TempDir, environment: &[(&str, &str)]) -> Secrets {
        let rooms = SecretRooms {
            file: root.path().join("s.age"),
            key_file: root.path().join("key"),
            environment: Environment::of(environment.iter().copied()),
            scrubber: Scrubber::new(),
            clock: Clock::system(),
            programs: None,
            ask: false,
        };
        Secrets::open(rooms, &SecretDefaults::default())
    }

    async fn read(secrets: &Secrets, reference: SecretRef) -> Result<String, String> {
        let value = secrets.read(&reference).await;
        value.map(|value| value.expose_to_the_wire().to_owned()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn reads_the_captured_environment_and_masks_what_it_read() {
        let root = tempfile::tempdir().unwrap();
        let secrets = secrets(&root, &[("TOKEN", "canary-from-env"), ("EMPTY", "")]);
        assert_eq!(secrets.scrubber().scrub("canary-from-env"), "canary-from-env");
        assert_eq!(read(&secrets, SecretRef::Env("TOKEN".into())).await, Ok("canary-from-env".into()));
        assert_eq!(secrets.scrubber().scrub("canary-from-env"), "[masked]");
        for name in ["EMPTY", "NOT_THERE"] {
            let expected = Err(format!("no secret is stored under `${name}`"));
            assert_eq!(read(&secrets, SecretRef::Env(name.into())).await, expected);
        }
    }

    #[tokio::test]
    async fn reads_the_file_and_masks_all_of_it() {
        let root = tempfile::tempdir().unwrap();
        let one = secrets(&root, &[]);
        one.file().set("mail/work", &SecretValue::new("canary-a".into()), Timestamp(1)).unwrap();
        one.file().set("other", &SecretValue::new("canary-b".into()), Timestamp(1)).unwrap();
        let other = secrets(&root, &[]);
        assert_eq!(read(&other, SecretRef::Stored("mail/work".into())).await, Ok("canary-a".into()));
        assert_eq!(other.scrubber().scrub("canary-a canary-b"), "[masked] [masked]");
        let expected = Err("no secret is stored under `mail/home`".to_owned());
        assert_eq!(read(&other, SecretRef::Stored("mail/home".into())).await, expected);
    }
}
