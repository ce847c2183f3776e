//! How the stores are: what `status` shows of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::SecretError;
use crate::model::time::Timestamp;
use crate::unit::plan::SecretBackend;

/// How a store was when it was last asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// Nobody has asked it yet.
    Untried,
    /// It answered.
    Ok,
    /// It waits for a person.
    NeedsUnlock,
    /// It cannot be used.
    Unreachable,
}

impl StoreState {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Untried => "untried",
            Self::Ok => "ok",
            Self::NeedsUnlock => "needs-unlock",
            Self::Unreachable => "unreachable",
        }
    }
}

/// A store, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStanding {
    /// Which.
    pub backend: SecretBackend,
    /// For people: where it is.
    pub describe: String,
    /// How it was when it was last asked.
    pub state: StoreState,
    /// Since when.
    pub since: Option<Timestamp>,
    /// What was wrong, for people; never a value.
    pub why: Option<String>,
    /// The next thing to do.
    pub hint: Option<String>,
}

/// Notes of all stores. Cheap to clone; clones are the same.
#[derive(Clone, Default)]
pub(super) struct Standings(Arc<Mutex<BTreeMap<(SecretBackend, String), Noted>>>);

/// What a call said of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// Nothing new.
    Same,
    /// It can be used again.
    Well,
    /// It cannot be used any more.
    Unwell,
}

struct Noted {
    state: StoreState,
    since: Timestamp,
    error: Option<SecretError>,
}

impl Standings {
    /// Notes what a call for a secret came to. A store that misses one name is well. A file or keyring is used for all its
    /// secrets or for none; programs and credentials stand each for itself.
    pub fn note(
        &self,
        backend: SecretBackend,
        name: &str,
        error: Option<&SecretError>,
        now: Timestamp,
    ) -> Turned {
        let (state, error) = match error {
            None | Some(SecretError::Missing { .. }) => (StoreState::Ok, None),
            Some(error @ SecretError::NeedsUnlock { .. }) => (StoreState::NeedsUnlock, Some(error.clone())),
            Some(error @ SecretError::Unavailable { .. }) => (StoreState::Unreachable, Some(error.clone())),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = matches!(backend, SecretBackend::File | SecretBackend::Keyring);
        let key = (backend, if whole { String::new() } else { name.to_owned() });
        let before = all.get(&key).map(|noted| (noted.state, noted.since));
        let since = before.filter(|(was, _)| *was == state).map_or(now, |(_, since)| since);
        let changed = before.map(|(was, _)| was) != Some(state);
        match &error {
            Some(error) if changed => {
                tracing::warn!(store = backend.word(), state = state.word(), "{error}; {}", error.hint());
            }
            None if changed && before.is_some() => {
                tracing::info!(store = backend.word(), "the secret store can be used again");
            }
            _ => {}
        }
        all.insert(key, Noted { state, since, error });
        match state {
            StoreState::Ok if changed && before.is_some() => Turned::Well,
            StoreState::NeedsUnlock | StoreState::Unreachable if changed => Turned::Unwell,
            _ => Turned::Same,
        }
    }

    /// As it is shown.
    pub fn of(&self, backend: SecretBackend, describe: String) -> StoreStanding {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = || all.iter().filter(|((of, _), _)| *of == backend).map(|(_, noted)| noted);
        // What is wrong with one of its secrets is told, not that the others are well.
        let noted = of_it().find(|noted| noted.error.is_some()).or_else(|| of_it().next());
        let error = noted.and_then(|noted| noted.error.as_ref());
        StoreStanding {
            backend,
            describe,
            state: noted.map_or(StoreState::Untried, |noted| noted.state),
            since: noted.map(|noted| noted.since),
            why: error.map(ToString::to_string),
            hint: error.map(SecretError::hint),
        }
    }

    /// The stores that could not be used when they were last asked; with the secret's name where each stands for itself.
    pub fn unwell(&self) -> Vec<(SecretBackend, String)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(_, noted)| noted.error.is_some()).map(|(key, _)| key.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_keeps_its_age_and_healing_is_told_once() {
        let all = Standings::default();
        let locked = SecretError::NeedsUnlock { why: "locked".into() };
        let keyring = SecretBackend::Keyring;
        let note = |name, error, at| all.note(keyring, name, error, Timestamp(at));
        assert_eq!(note("a", None, 1), Turned::Same);
        assert_eq!(note("a", Some(&locked), 2), Turned::Unwell);
        assert_eq!(note("b", Some(&locked), 3), Turned::Same);
        let shown = all.of(keyring, "x".into());
        assert_eq!((shown.state, shown.since), (StoreState::NeedsUnlock, Some(Timestamp(2))));
        assert_eq!(all.unwell(), [(keyring, String::new())]);
        let missing = SecretError::Missing { name: "a".into() };
        assert_eq!(note("a", Some(&missing), 4), Turned::Well);
        assert_eq!(note("b", None, 5), Turned::Same);
        assert_eq!(all.of(SecretBackend::Env, String::new()).state, StoreState::Untried);
    }

    #[test]
    fn programs_stand_each_for_itself() {
        let all = Standings::default();
        let gone = SecretError::Unavailable { why: "not signed in".into() };
        let command = SecretBackend::Command;
        assert_eq!(all.note(command, "a", None, Timestamp(1)), Turned::Same);
        assert_eq!(all.note(command, "b", Some(&gone), Timestamp(2)), Turned::Unwell);
        assert_eq!(all.note(command, "a", None, Timestamp(3)), Turned::Same);
        assert_eq!(all.unwell(), [(command, "b".to_owned())]);
        assert_eq!(all.of(command, String::new()).state, StoreState::Unreachable);
    }
}
