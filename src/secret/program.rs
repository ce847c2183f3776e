//! The store of values that a program prints: `op read …`, `pass show …`, `bw get …`.
//!
//! What it gave is believed for a while, for such programs are slow and some ask a person; a value that a server refuses
//! is asked for again at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::backend::{Backend, Kept, Program, SecretPlace};
use super::plain_stores::without_version;
use super::{SecretError, SecretValue};
use crate::model::limits::SECRETS_KEPT_LEN_MAX;
use crate::model::time::{Clock, Timestamp};

/// Runs programs that print secrets; the process room does.
pub trait Programs: Send + Sync {
    /// Runs one to its end, within [`crate::model::limits::SECRET_PROGRAM`]; what it printed is the value. `stdin` is
    /// written to it and never shown otherwise.
    fn print<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Result<SecretValue, ProgramError>>;
}

/// What to run.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Program and arguments; no secret among them.
    pub command: &'a [String],
    /// Variables that it gets beside the usual ones.
    pub pass: &'a [String],
    /// For its standard input.
    pub stdin: Option<&'a SecretValue>,
}

/// Why a program gave no value; for people, without what it printed on its standard output.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct ProgramError {
    /// "`op` ended with 1: not signed in".
    pub why: String,
    /// It did not come to an end in time: it may wait for a person.
    pub hung: bool,
}

/// Values that programs print.
pub struct ProgramStore {
    programs: Option<Arc<dyn Programs>>,
    clock: Clock,
    kept: Mutex<BTreeMap<Vec<String>, (Timestamp, SecretValue)>>,
    /// Held while one runs, so that ten readers ask once.
    running: tokio::sync::Mutex<()>,
}

impl ProgramStore {
    /// Over what runs programs; without it nothing can be read.
    #[must_use]
    pub fn new(programs: Option<Arc<dyn Programs>>, clock: Clock) -> Self {
        Self { programs, clock, kept: Mutex::default(), running: tokio::sync::Mutex::default() }
    }

    /// Runs a program for a value that is not kept here.
    ///
    /// # Errors
    /// [`SecretError::NeedsUnlock`] where it did not end in time, else [`SecretError::Unavailable`].
    pub async fn print(&self, asked: Asked<'_>) -> Result<SecretValue, SecretError> {
        let printed = self.run(asked).await?;
        if printed.expose_to_the_wire().is_empty() {
            return Err(SecretError::Unavailable { why: "the program printed nothing".to_owned() });
        }
        Ok(printed)
    }

    /// Runs a program; what it printed, if anything.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub async fn run(&self, asked: Asked<'_>) -> Result<SecretValue, SecretError> {
        let Some(programs) = &self.programs else {
            let why = "programs cannot be run here".to_owned();
            return Err(SecretError::Unavailable { why });
        };
        programs.print(asked).await.map_err(|error| match error {
            ProgramError { why, hung: true } => SecretError::NeedsUnlock {
                why: format!("{why}; it may wait for you: unlock the password manager"),
            },
            ProgramError { why, hung: false } => SecretError::Unavailable { why },
        })
    }

    fn remembered(&self, program: &Program) -> Option<SecretValue> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, value) = kept.get(&program.command)?;
        let now = self.clock.now();
        (*at <= now && now.since(*at) < program.keep).then(|| value.clone())
    }

    async fn read(&self, program: &Program) -> Result<SecretValue, SecretError> {
        if let Some(value) = self.remembered(program) {
            return Ok(value);
        }
        let _one_at_a_time = self.running.lock().await;
        if let Some(value) = self.remembered(program) {
            return Ok(value);
        }
        let asked = Asked { command: &program.command, pass: &program.pass, stdin: None };
        let value = self.print(asked).await?;
        if program.keep > Duration::ZERO {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= SECRETS_KEPT_LEN_MAX {
                kept.clear();
            }
            kept.insert(program.command.clone(), (self.clock.now(), value.clone()));
        }
        Ok(value)
    }
}

impl Backend for ProgramStore {
    fn describe(&self) -> String {
        "programs that print the values".to_owned()
    }

    fn get<'a>(&'a self, place: &'a SecretPlace) -> BoxFuture<'a, Result<Kept, SecretError>> {
        Box::pin(async move {
            let program = place.program.as_ref().filter(|program| !program.command.is_empty());
            let program = program.ok_or_else(|| SecretError::Unavailable {
                why: format!("no program is named that prints `{}`", place.entry),
            })?;
            self.read(program).await.map(without_version)
        })
    }

    fn forget(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::unit::plan::SecretBackend;

    #[derive(Default)]
    struct Counting(AtomicU32);

    impl Programs for Counting {
        fn print<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Result<SecretValue, ProgramError>> {
            Box::pin(async move {
                let nth = self.0.fetch_add(1, Ordering::Relaxed);
                match asked.command[0].as_str() {
                    "hangs" => Err(ProgramError { why: "it took too long".into(), hung: true }),
                    "silent" => Ok(SecretValue::new("\n".into())),
                    word => Ok(SecretValue::new(format!("{word}-{nth}"))),
                }
            })
        }
    }

    async fn get(store: &ProgramStore, word: &str) -> Result<String, SecretError> {
        let program = Program { command: vec![word.into()], pass: Vec::new(), keep: Duration::from_secs(60) };
        let place =
            SecretPlace { backend: SecretBackend::Command, entry: "x".into(), program: Some(program) };
        store.get(&place).await.map(|kept| kept.token.value.expose_to_the_wire().to_owned())
    }

    #[tokio::test]
    async fn a_value_is_believed_for_a_while_and_asked_for_again_when_told() {
        let clock = Clock::manual(Timestamp(1_000_000));
        let store = ProgramStore::new(Some(Arc::new(Counting::default())), clock.clone());
        assert_eq!(get(&store, "a").await.unwrap(), "a-0");
        clock.advance(Duration::from_secs(59));
        assert_eq!(get(&store, "a").await.unwrap(), "a-0");
        clock.advance(Duration::from_secs(1));
        assert_eq!(get(&store, "a").await.unwrap(), "a-1");
        store.forget();
        assert_eq!(get(&store, "a").await.unwrap(), "a-2");
    }

    #[tokio::test]
    async fn one_that_hangs_waits_for_a_person_and_one_that_says_nothing_is_no_value() {
        let store = ProgramStore::new(Some(Arc::new(Counting::default())), Clock::system());
        assert!(matches!(get(&store, "hangs").await, Err(SecretError::NeedsUnlock { .. })));
        assert!(matches!(get(&store, "silent").await, Err(SecretError::Unavailable { .. })));
        let nothing = ProgramStore::new(None, Clock::system());
        assert!(matches!(get(&nothing, "a").await, Err(SecretError::Unavailable { .. })));
    }
}
