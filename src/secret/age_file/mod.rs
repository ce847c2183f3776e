//! The secret file: one age-encrypted file that holds name → value.
//!
//! What it protects: the file alone (a backup, a copy of the state directory, a disk image without the configuration
//! directory) tells nothing. What it does not: whoever can read your home reads the key file too. With a passphrase
//! from a service credential the key is not on the disk at all.
//!
//! The file is looked at on every read and decrypted again when it changed, so a new value is used without a restart.

mod carried;
mod crypt;
pub(super) mod disk;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use self::crypt::Keys;
use self::disk::Stamp;
use super::backend::Kept;
use super::entry::{EntryIn, EntryOut};
use super::{Grant, Scrubber, SecretError, SecretValue, SetError, SetOutcome, Token, name};
use crate::model::limits::SECRET_BYTES_MAX;
use crate::model::time::Timestamp;

/// The layout inside.
const LAYOUT: u32 = 1;

/// The secret file. Cheap to clone; clones share the cache.
#[derive(Clone)]
pub struct AgeFile(Arc<Inner>);

struct Inner {
    path: PathBuf,
    keys: Keys,
    scrubber: Scrubber,
    /// Held while decrypting, so that ten readers of a changed file decrypt it once.
    loading: Mutex<()>,
    cache: Mutex<Option<(Stamp, Entries)>>,
}

type Entries = Arc<BTreeMap<String, Entry>>;

#[derive(Clone)]
struct Entry {
    value: SecretValue,
    version: u32,
    set_at: Timestamp,
    grant: Option<Grant>,
}

/// What may be shown of a stored secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretEntry {
    /// Its name.
    pub name: String,
    /// Raised by each `set`, from 1.
    pub version: u32,
    /// When it was set.
    pub set_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Layout<E> {
    layout: u32,
    entries: BTreeMap<String, E>,
}

impl std::fmt::Debug for AgeFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AgeFile({})", self.0.path.display())
    }
}

impl AgeFile {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(path: PathBuf, keys: Keys, scrubber: Scrubber) -> Self {
        keys.mask(&scrubber);
        Self(Arc::new(Inner { path, keys, scrubber, loading: Mutex::new(()), cache: Mutex::new(None) }))
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// For `doctor`: which store is in use and what opens it.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("encrypted file {}, opened by {}", self.0.path.display(), self.0.keys.describe())
    }

    /// A value, as it is on the disk now. Decryption happens off the async threads.
    ///
    /// # Errors
    /// [`SecretError::Missing`], [`SecretError::Unavailable`].
    pub async fn read(&self, name: &str) -> Result<SecretValue, SecretError> {
        self.token(name).await.map(|token| token.value)
    }

    /// The same with what renews it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn token(&self, name: &str) -> Result<Token, SecretError> {
        self.kept(name).await.map(|kept| kept.token)
    }

    pub(super) async fn kept(&self, name: &str) -> Result<Kept, SecretError> {
        let entries = match self.0.cached()? {
            Some(entries) => entries,
            None => {
                let inner = Arc::clone(&self.0);
                tokio::task::spawn_blocking(move || inner.current()).await.map_err(|error| {
                    SecretError::Unavailable {
                        why: format!("{} is damaged ({error})", self.0.path.display()),
                    }
                })??
            }
        };
        let entry = entries.get(name).ok_or_else(|| SecretError::Missing { name: name.to_owned() })?;
        let token = Token { value: entry.value.clone(), version: entry.version, grant: entry.grant.clone() };
        Ok(Kept { token, set_at: Some(entry.set_at) })
    }

    /// Stores a token with what renews it. Blocks like [`set`](Self::set).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_token(
        &self,
        name: &str,
        value: &SecretValue,
        grant: Grant,
        now: Timestamp,
    ) -> Result<SetOutcome, SetError> {
        self.put(name, value, Some(grant), now)
    }

    /// Puts a new value in the place of the one of this version; `None`, and nothing done, if that is not the one any
    /// more. Blocks like [`set`](Self::set).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn renew(
        &self,
        name: &str,
        version: u32,
        value: &SecretValue,
        grant: Option<Grant>,
        now: Timestamp,
    ) -> Result<Option<SetOutcome>, SetError> {
        check_value(value)?;
        let masked = self.0.mask(value, grant.as_ref());
        let (done, key_made) = self.0.change(|entries| {
            let entry = entries.get_mut(name).filter(|entry| entry.version == version)?;
            let version = version.saturating_add(1);
            *entry = Entry { value: value.clone(), version, set_at: now, grant };
            Some(version)
        })?;
        Ok(done.map(|version| SetOutcome { version, masked, key_made }))
    }

    /// Stores a value and reads it back from the disk. Makes the key file when there is none yet. Blocks (shortly
    /// with a key file, noticeably with a passphrase).
    ///
    /// # Errors
    /// [`SetError::Refused`] for a bad name or value; [`SecretError::Unavailable`] when the file cannot be opened or
    /// written: then the old file is untouched.
    pub fn set(&self, name: &str, value: &SecretValue, now: Timestamp) -> Result<SetOutcome, SetError> {
        self.put(name, value, None, now)
    }

    fn put(
        &self,
        name: &str,
        value: &SecretValue,
        grant: Option<Grant>,
        now: Timestamp,
    ) -> Result<SetOutcome, SetError> {
        name::check(name)?;
        check_value(value)?;
        let masked = self.0.mask(value, grant.as_ref());
        let (version, key_made) = self.0.change(|entries| {
            let version = entries.get(name).map_or(1, |entry| entry.version.saturating_add(1));
            entries.insert(name.to_owned(), Entry { value: value.clone(), version, set_at: now, grant });
            version
        })?;
        Ok(SetOutcome { version, masked, key_made })
    }

    /// Removes a value. `false` when there was none. Blocks like [`set`](Self::set).
    ///
    /// # Errors
    /// [`SecretError::Unavailable`].
    pub fn remove(&self, name: &str) -> Result<bool, SecretError> {
        if !self.0.current()?.contains_key(name) {
            return Ok(false);
        }
        self.0.change(|entries| entries.remove(name).is_some()).map(|(removed, _)| removed)
    }

    /// Names and ages, never values. Blocks like [`set`](Self::set).
    ///
    /// # Errors
    /// [`SecretError::Unavailable`].
    pub fn list(&self) -> Result<Vec<SecretEntry>, SecretError> {
        let entries = self.0.current()?;
        let shown = entries.iter().map(|(name, entry)| SecretEntry {
            name: name.clone(),
            version: entry.version,
            set_at: entry.set_at,
        });
        Ok(shown.collect())
    }
}

impl Inner {
    /// Masks a token and what renews it from now on; whether the token is long enough for it.
    fn mask(&self, value: &SecretValue, grant: Option<&Grant>) -> bool {
        if let Some(refresh) = grant.and_then(|grant| grant.refresh.as_ref()) {
            self.scrubber.register(refresh);
        }
        self.scrubber.register(value)
    }

    /// What was decrypted last, if the file is still the same.
    fn cached(&self) -> Result<Option<Entries>, SecretError> {
        let stamp = Stamp::of(&self.path)?;
        let cache = lock(&self.cache);
        Ok(cache.as_ref().filter(|(seen, _)| *seen == stamp).map(|(_, entries)| Arc::clone(entries)))
    }

    /// The entries on the disk now.
    fn current(&self) -> Result<Entries, SecretError> {
        let _one_at_a_time = lock(&self.loading);
        match self.cached()? {
            Some(entries) => Ok(entries),
            None => self.load(),
        }
    }

    fn load(&self) -> Result<Entries, SecretError> {
        let (stamp, sealed) = disk::read(&self.path)?;
        let entries = match sealed {
            Some(sealed) => self.parse(&self.keys.open(&self.path, &sealed, &self.scrubber)?)?,
            None => BTreeMap::new(),
        };
        for entry in entries.values() {
            self.mask(&entry.value, entry.grant.as_ref());
        }
        let entries = Arc::new(entries);
        *lock(&self.cache) = Some((stamp, Arc::clone(&entries)));
        Ok(entries)
    }

    fn parse(&self, plain: &[u8]) -> Result<BTreeMap<String, Entry>, SecretError> {
        // The parser's own words may quote the text, which is all secrets.
        let damaged =
            |what: &str| SecretError::Unavailable { why: format!("{} {what}", self.path.display()) };
        let found: Layout<EntryIn> =
            serde_json::from_slice(plain).map_err(|_| damaged("was decrypted but has an unknown layout"))?;
        if found.layout != LAYOUT {
            return Err(damaged("was made by another version of workagent"));
        }
        let entries = found.entries.into_iter().map(|(name, entry)| {
            let value = SecretValue::new(entry.value);
            let grant = entry.grant.map(Grant::from);
            (name, Entry { value, version: entry.version, set_at: entry.set_at, grant })
        });
        Ok(entries.collect())
    }

    /// Changes the file as the only writer; says whether a key file had to be made.
    fn change<T>(
        &self,
        edit: impl FnOnce(&mut BTreeMap<String, Entry>) -> T,
    ) -> Result<(T, Option<PathBuf>), SecretError> {
        let _only_writer = disk::lock(&self.path)?;
        // A file that cannot be opened is never overwritten: this read fails first.
        let mut entries = BTreeMap::clone(&*self.current()?);
        let result = edit(&mut entries);
        let key_made = self.keys.make_if_missing()?;
        let sealed = self.keys.seal(&plain(&entries)?, &self.scrubber)?;
        disk::write(&self.path, &sealed)?;

        // What cannot be read back was not stored.
        let _one_at_a_time = lock(&self.loading);
        let stored = self.load()?;
        let same = stored.len() == entries.len()
            && entries.iter().all(|(name, entry)| {
                let wanted = entry.value.expose_to_the_wire();
                stored.get(name).is_some_and(|found| found.value.expose_to_the_wire() == wanted)
            });
        if !same {
            let why = format!("{} did not keep what was written to it", self.path.display());
            return Err(SecretError::Unavailable { why });
        }
        Ok((result, key_made))
    }
}

fn plain(entries: &BTreeMap<String, Entry>) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let shown: BTreeMap<String, EntryOut<'_>> = entries
        .iter()
        .map(|(name, entry)| {
            let value = entry.value.expose_to_the_wire();
            let grant = entry.grant.as_ref().map(Grant::out);
            (name.clone(), EntryOut { value, version: entry.version, set_at: entry.set_at, grant })
        })
        .collect();
    // Large enough at once (an escape has at most six bytes): a buffer that grows leaves copies behind.
    let room = shown.iter().map(|(name, entry)| name.len() + 6 * entry.value.len() + 128).sum::<usize>()
        + entries.values().filter_map(|entry| entry.grant.as_ref()).map(Grant::room).sum::<usize>()
        + 64;
    let mut plain = Zeroizing::new(Vec::with_capacity(room));
    serde_json::to_writer(&mut *plain, &Layout { layout: LAYOUT, entries: shown })
        .map_err(|_| SecretError::Unavailable { why: "the secrets cannot be written as JSON".to_owned() })?;
    Ok(plain)
}

pub(super) fn check_value(value: &SecretValue) -> Result<(), SetError> {
    let text = value.expose_to_the_wire();
    let refuse = |why: String| Err(SetError::Refused { why });
    if text.is_empty() {
        return refuse("the value is empty".to_owned());
    }
    if text.len() > SECRET_BYTES_MAX {
        return refuse(format!("the value has {} bytes; at most {SECRET_BYTES_MAX} fit", text.len()));
    }
    if text.contains('\0') {
        return refuse(
            "the value holds a zero byte, which no header and no environment can carry".to_owned(),
        );
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
