//! The desktop's keyring: Secret Service over D-Bus, or the Keychain of macOS.
//!
//! Its calls block, may hang, and may put a window before a person. So each runs on a thread of its own with a time
//! limit, one at a time; while one hangs, nobody else is made to wait; and after a failure the keyring is left alone for
//! a moment. The daemon never has it ask anybody.

mod envelope;
#[cfg(all(feature = "keyring", any(target_os = "linux", target_os = "macos")))]
mod native;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, timeout};

use self::envelope::Envelope;
use super::age_file::{check_value, disk};
use super::backend::{Backend, Change, Kept, SecretPlace};
use super::{Scrubber, SecretError, SetError, SetOutcome};
use crate::model::limits::{KEYRING_ASKING, KEYRING_CALL, SECRET_STORE_REST};

/// Under which service name the entries stand.
#[cfg(all(feature = "keyring", any(target_os = "linux", target_os = "macos")))]
const SERVICE: &str = "workagent";

/// What a keyring does. Calls block for as long as they like.
pub trait Seat: Send + Sync + 'static {
    /// For people: "Secret Service".
    fn name(&self) -> &'static str;
    /// The bytes of an entry. `ask`: a person may be asked to unlock it.
    fn get(&self, entry: &str, ask: bool) -> Result<Option<Vec<u8>>, Trouble>;
    /// Puts bytes there.
    fn set(&self, entry: &str, bytes: &[u8], ask: bool) -> Result<(), Trouble>;
    /// Takes an entry away; `false` when there was none.
    fn remove(&self, entry: &str, ask: bool) -> Result<bool, Trouble>;
    /// The names of all entries.
    fn names(&self) -> Result<Vec<String>, Trouble>;
}

/// Why a keyring could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is no way to one: no session bus, no service on it, not built in.
    Unreachable(String),
    /// It is there, and closed.
    Locked,
    /// It is there, and no keyring was ever made in it.
    NoKeyring,
    /// A person was asked, and said no, or nobody could be asked.
    Dismissed,
    /// Anything else.
    Failed(String),
}

impl Trouble {
    fn into_error(self, seat: &str) -> SecretError {
        match self {
            Self::Unreachable(why) => {
                SecretError::Unavailable { why: format!("no keyring is reachable ({seat}: {why})") }
            }
            Self::Locked => SecretError::NeedsUnlock { why: format!("the keyring is locked ({seat})") },
            Self::NoKeyring => SecretError::Unavailable {
                why: format!(
                    "the keyring ({seat}) has no default collection yet: make one in the desktop's password program"
                ),
            },
            Self::Dismissed => SecretError::NeedsUnlock {
                why: format!("the keyring is locked and was not unlocked ({seat})"),
            },
            Self::Failed(why) => {
                SecretError::Unavailable { why: format!("the keyring failed ({seat}): {why}") }
            }
        }
    }
}

/// The keyring. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Keyring(Arc<Inner>);

struct Inner {
    seat: Arc<dyn Seat>,
    scrubber: Scrubber,
    /// Held by the only writer, over processes.
    lock: PathBuf,
    /// A person sits in front of it.
    ask: bool,
    patience: Duration,
    turn: Arc<Semaphore>,
    hangs: Arc<AtomicBool>,
    resting: Mutex<Option<(Instant, SecretError)>>,
}

impl Keyring {
    /// Of this machine. `ask`: a person sits in front of it and may be asked to unlock it. `lock` is a path beside which
    /// a lock file is made.
    #[must_use]
    pub fn new(lock: PathBuf, scrubber: Scrubber, ask: bool) -> Self {
        let patience = if ask { KEYRING_ASKING } else { KEYRING_CALL };
        Self::over(seat(), lock, scrubber, ask, patience)
    }

    fn over(seat: Arc<dyn Seat>, lock: PathBuf, scrubber: Scrubber, ask: bool, patience: Duration) -> Self {
        Self(Arc::new(Inner {
            seat,
            scrubber,
            lock,
            ask,
            patience,
            turn: Arc::new(Semaphore::new(1)),
            hangs: Arc::default(),
            resting: Mutex::default(),
        }))
    }

    /// Runs a call on a thread of its own. Not on the runtime's blocking threads: the end of the process would wait for
    /// one that hangs.
    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, SecretError> {
        if let Some(error) = self.resting() {
            return Err(error);
        }
        if self.0.hangs.load(Ordering::Acquire) {
            return Err(self.no_answer());
        }
        let turn = Arc::clone(&self.0.turn).acquire_owned();
        let Ok(Ok(permit)) = timeout(self.0.patience, turn).await else { return Err(self.no_answer()) };
        if let Some(error) = self.resting() {
            return Err(error);
        }
        let (tell, told) = oneshot::channel();
        let (inner, in_flight) = (Arc::clone(&self.0), InFlight::new(permit, &self.0.hangs));
        let thread = std::thread::Builder::new().name("keyring".to_owned()).spawn(move || {
            let result = work(&inner);
            // Before the answer: whoever asks next must find it free.
            drop(in_flight);
            let _ = tell.send(result);
        });
        if let Err(error) = thread {
            return Err(SecretError::Unavailable { why: format!("no thread for the keyring: {error}") });
        }
        let result = match timeout(self.0.patience, told).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Trouble::Failed("its thread fell over".to_owned()).into_error(self.seat())),
            Err(_) => {
                self.0.hangs.store(true, Ordering::Release);
                if self.0.turn.available_permits() > 0 {
                    // It answered just now.
                    self.0.hangs.store(false, Ordering::Release);
                }
                Err(self.no_answer())
            }
        };
        let rests = match &result {
            Err(error @ (SecretError::Unavailable { .. } | SecretError::NeedsUnlock { .. })) => {
                Some((Instant::now(), error.clone()))
            }
            _ => None,
        };
        *self.0.resting.lock().unwrap_or_else(PoisonError::into_inner) = rests;
        result
    }

    fn resting(&self) -> Option<SecretError> {
        let resting = self.0.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, error) = resting.as_ref()?;
        (since.elapsed() < SECRET_STORE_REST && !self.0.ask).then(|| error.clone())
    }

    fn no_answer(&self) -> SecretError {
        let seat = self.seat();
        SecretError::NeedsUnlock {
            why: format!("the keyring does not answer ({seat}); it may wait for somebody to unlock it"),
        }
    }

    fn seat(&self) -> &'static str {
        self.0.seat.name()
    }
}

/// A call that runs: the turn goes on to the next when it is over, however late.
struct InFlight {
    permit: Option<OwnedSemaphorePermit>,
    hangs: Arc<AtomicBool>,
}

impl InFlight {
    fn new(permit: OwnedSemaphorePermit, hangs: &Arc<AtomicBool>) -> Self {
        Self { permit: Some(permit), hangs: Arc::clone(hangs) }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        drop(self.permit.take());
        self.hangs.store(false, Ordering::Release);
    }
}

impl Inner {
    fn read(&self, entry: &str) -> Result<Option<Envelope>, SecretError> {
        let bytes = self.seat.get(entry, self.ask).map_err(|trouble| trouble.into_error(self.seat.name()))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let found = Envelope::open(bytes).ok_or_else(|| SecretError::Unavailable {
            why: format!("the keyring's entry `{entry}` holds bytes that are no text"),
        })?;
        found.mask(&self.scrubber);
        Ok(Some(found))
    }

    fn write(&self, entry: &str, change: Change) -> Result<Option<SetOutcome>, SetError> {
        let Change { value, grant, over, now } = change;
        check_value(&value)?;
        let _only_writer = disk::lock(&self.lock)?;
        let before = self.read(entry)?;
        let version = before.as_ref().map_or(0, |before| before.version);
        if over.is_some_and(|over| before.is_none() || over != version) {
            return Ok(None);
        }
        let new = Envelope { value, version: version.saturating_add(1), set_at: Some(now), grant };
        let masked = new.mask(&self.scrubber);
        let put = |envelope: &Envelope| -> Result<(), SecretError> {
            let bytes = envelope.seal()?;
            let set = self.seat.set(entry, &bytes, self.ask);
            set.map_err(|trouble| trouble.into_error(self.seat.name()))
        };
        put(&new)?;
        // What cannot be read back was not stored.
        let stored = self.read(entry);
        if !stored.as_ref().is_ok_and(|stored| stored.as_ref().is_some_and(|stored| stored.same(&new))) {
            let kept = before.as_ref().is_none_or(|before| put(before).is_ok());
            let after = if kept { "" } else { ", nor take the old value back" };
            let why = format!("the keyring did not keep what was written to it{after}");
            return Err(SecretError::Unavailable { why }.into());
        }
        Ok(Some(SetOutcome { version: new.version, masked, key_made: None }))
    }
}

impl Backend for Keyring {
    fn describe(&self) -> String {
        format!("the keyring ({})", self.seat())
    }

    fn get<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<Kept, SecretError>> {
        let entry = place.entry.clone();
        Box::pin(self.call(move |inner| match inner.read(&entry)? {
            Some(found) => Ok(found.kept()),
            None => Err(SecretError::Missing { name: entry }),
        }))
    }

    fn put<'a>(
        &'a self,
        place: &'a SecretPlace,
        change: Change,
    ) -> BoxFuture<'a, Result<Option<SetOutcome>, SetError>> {
        let entry = place.entry.clone();
        Box::pin(async move {
            // A value that is refused is no fault of the keyring, which then need not rest.
            let put = self.call(move |inner| match inner.write(&entry, change) {
                Err(SetError::Store(error)) => Err(error),
                other => Ok(other),
            });
            put.await?
        })
    }

    fn remove<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<bool, SetError>> {
        let entry = place.entry.clone();
        Box::pin(async move {
            let remove = self.call(move |inner| {
                let _only_writer = disk::lock(&inner.lock)?;
                let removed = inner.seat.remove(&entry, inner.ask);
                removed.map_err(|trouble| trouble.into_error(inner.seat.name()))
            });
            Ok(remove.await?)
        })
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<String>, SecretError>> {
        Box::pin(
            self.call(|inner| inner.seat.names().map_err(|trouble| trouble.into_error(inner.seat.name()))),
        )
    }

    fn forget(&self) {
        *self.0.resting.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(all(feature = "keyring", any(target_os = "linux", target_os = "macos")))]
fn seat() -> Arc<dyn Seat> {
    Arc::new(native::Native::default())
}

#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
fn seat() -> Arc<dyn Seat> {
    Arc::new(Absent)
}

/// This program knows no keyring.
#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
struct Absent;

#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
impl Absent {
    fn trouble<T>() -> Result<T, Trouble> {
        Err(Trouble::Unreachable("this program was built without it".to_owned()))
    }
}

#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
impl Seat for Absent {
    fn name(&self) -> &'static str {
        "none"
    }

    fn get(&self, _entry: &str, _ask: bool) -> Result<Option<Vec<u8>>, Trouble> {
        Self::trouble()
    }

    fn set(&self, _entry: &str, _bytes: &[u8], _ask: bool) -> Result<(), Trouble> {
        Self::trouble()
    }

    fn remove(&self, _entry: &str, _ask: bool) -> Result<bool, Trouble> {
        Self::trouble()
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        Self::trouble()
    }
}
