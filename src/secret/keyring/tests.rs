use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::model::time::Timestamp;
use crate::secret::SecretValue;
use crate::unit::plan::SecretBackend;

/// A keyring in memory that can be locked, hung, or made to forget what it is given.
struct Fake {
    entries: Mutex<BTreeMap<String, Vec<u8>>>,
    trouble: Mutex<Option<Trouble>>,
    forgetful: AtomicBool,
    calls: std::sync::atomic::AtomicU32,
    hang: Mutex<Option<Receiver<()>>>,
}

impl Fake {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            entries: Mutex::default(),
            trouble: Mutex::default(),
            forgetful: AtomicBool::new(false),
            calls: Default::default(),
            hang: Mutex::default(),
        })
    }

    fn hang(&self) -> Sender<()> {
        let (go, wait) = channel();
        *self.hang.lock().unwrap() = Some(wait);
        go
    }

    fn enter(&self) -> Result<(), Trouble> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let hang = self.hang.lock().unwrap().take();
        if let Some(wait) = hang {
            let _ = wait.recv();
        }
        self.trouble.lock().unwrap().clone().map_or(Ok(()), Err)
    }
}

impl Seat for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn get(&self, entry: &str, _ask: bool) -> Result<Option<Vec<u8>>, Trouble> {
        self.enter()?;
        Ok(self.entries.lock().unwrap().get(entry).cloned())
    }

    fn set(&self, entry: &str, bytes: &[u8], _ask: bool) -> Result<(), Trouble> {
        self.enter()?;
        if !self.forgetful.swap(false, Ordering::Relaxed) {
            self.entries.lock().unwrap().insert(entry.to_owned(), bytes.to_vec());
        }
        Ok(())
    }

    fn remove(&self, entry: &str, _ask: bool) -> Result<bool, Trouble> {
        self.enter()?;
        Ok(self.entries.lock().unwrap().remove(entry).is_some())
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        self.enter()?;
        Ok(self.entries.lock().unwrap().keys().cloned().collect())
    }
}

struct Bench {
    fake: Arc<Fake>,
    keyring: Keyring,
    _root: tempfile::TempDir,
}

fn bench() -> Bench {
    let root = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let lock = root.path().join("keyring");
    let patience = Duration::from_millis(200);
    let keyring = Keyring::over(fake.clone(), lock, Scrubber::new(), false, patience);
    Bench { fake, keyring, _root: root }
}

fn place(entry: &str) -> SecretPlace {
    SecretPlace { backend: SecretBackend::Keyring, entry: entry.to_owned(), program: None }
}

impl Bench {
    async fn get(&self, entry: &str) -> Result<(String, u32), SecretError> {
        let kept = self.keyring.get(&place(entry)).await?;
        Ok((kept.token.value.expose_to_the_wire().to_owned(), kept.token.version))
    }

    async fn put(&self, entry: &str, value: &str, over: Option<u32>) -> Result<Option<u32>, SetError> {
        let value = SecretValue::new(value.to_owned());
        let change = Change { value, grant: None, over, now: Timestamp(7) };
        Ok(self.keyring.put(&place(entry), change).await?.map(|outcome| outcome.version))
    }
}

#[tokio::test]
async fn values_have_versions_and_bare_ones_of_other_programs_are_read() {
    let bench = bench();
    assert!(matches!(bench.get("a").await, Err(SecretError::Missing { .. })));
    assert_eq!(bench.put("a", "canary-1", None).await.unwrap(), Some(1));
    assert_eq!(bench.put("a", "canary-2", None).await.unwrap(), Some(2));
    assert_eq!(bench.get("a").await.unwrap(), ("canary-2".to_owned(), 2));
    assert_eq!(bench.keyring.0.scrubber.scrub("canary-1 canary-2"), "[masked] [masked]");
    bench.fake.entries.lock().unwrap().insert("b".to_owned(), b"bare-canary\n".to_vec());
    assert_eq!(bench.get("b").await.unwrap(), ("bare-canary".to_owned(), 0));
    assert_eq!(bench.put("b", "canary-3", None).await.unwrap(), Some(1));
    assert_eq!(bench.keyring.names().await.unwrap(), ["a", "b"]);
    assert!(bench.keyring.remove(&place("a")).await.unwrap());
    assert!(!bench.keyring.remove(&place("a")).await.unwrap());
}

#[tokio::test]
async fn a_renewal_of_an_older_version_does_nothing() {
    let bench = bench();
    bench.put("a", "canary-1", None).await.unwrap();
    assert_eq!(bench.put("a", "canary-late", Some(7)).await.unwrap(), None);
    assert_eq!(bench.get("a").await.unwrap().0, "canary-1");
    assert_eq!(bench.put("a", "canary-2", Some(1)).await.unwrap(), Some(2));
    assert_eq!(bench.put("gone", "canary-3", Some(0)).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_not_read_back_was_not_stored_and_the_old_value_stays() {
    let bench = bench();
    bench.put("a", "canary-1", None).await.unwrap();
    bench.fake.forgetful.store(true, Ordering::Relaxed);
    let error = bench.put("a", "canary-2", None).await.unwrap_err().to_string();
    assert!(error.contains("did not keep"), "{error}");
    bench.keyring.forget();
    assert_eq!(bench.get("a").await.unwrap(), ("canary-1".to_owned(), 1));
}

#[tokio::test]
async fn each_trouble_is_told_apart_and_says_what_to_do() {
    for (trouble, unlock, text) in [
        (Trouble::Unreachable("no bus".into()), false, "no keyring is reachable (fake: no bus)"),
        (Trouble::Locked, true, "the keyring is locked"),
        (Trouble::NoKeyring, false, "has no default collection yet"),
        (Trouble::Dismissed, true, "was not unlocked"),
    ] {
        let bench = bench();
        *bench.fake.trouble.lock().unwrap() = Some(trouble);
        let error = bench.get("a").await.unwrap_err();
        assert_eq!(matches!(error, SecretError::NeedsUnlock { .. }), unlock, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[tokio::test]
async fn after_a_failure_it_is_left_alone_for_a_moment() {
    let bench = bench();
    *bench.fake.trouble.lock().unwrap() = Some(Trouble::Locked);
    for _ in 0..5 {
        assert!(bench.get("a").await.is_err());
    }
    assert_eq!(bench.fake.calls.load(Ordering::Relaxed), 1);
    *bench.fake.trouble.lock().unwrap() = None;
    bench.keyring.forget();
    assert!(matches!(bench.get("a").await, Err(SecretError::Missing { .. })));
}

#[tokio::test]
async fn one_that_hangs_keeps_nobody_and_heals_when_it_answers() {
    let bench = bench();
    let go = bench.fake.hang();
    let error = bench.get("a").await.unwrap_err();
    assert!(matches!(error, SecretError::NeedsUnlock { .. }), "{error}");
    bench.keyring.forget();
    // The first call still hangs: the second is answered without one.
    let error = bench.get("a").await.unwrap_err().to_string();
    assert!(error.contains("does not answer"), "{error}");
    assert_eq!(bench.fake.calls.load(Ordering::Relaxed), 1);
    go.send(()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        bench.keyring.forget();
        match bench.get("a").await {
            Err(SecretError::Missing { .. }) => break,
            other => assert!(Instant::now() < deadline, "{other:?}"),
        }
        tokio::task::yield_now().await;
    }
}
