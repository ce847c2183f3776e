//! The pace of one account: a limit that the far side named holds for everything that asks in that account's name, and
//! for nobody else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::model::limits;
use crate::model::time::Timestamp;

/// Accounts kept apart; beyond this the oldest rests are forgotten, which costs one request each.
const ACCOUNTS_MAX: usize = 4096;

/// What is known of one account's limits. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pace(Arc<PaceState>);

#[derive(Debug, Default)]
struct PaceState {
    until: Mutex<Option<Timestamp>>,
    /// Limits in a row that came without a time.
    unnamed: AtomicU32,
    last_write: tokio::sync::Mutex<Option<Instant>>,
}

/// The paces of all accounts.
#[derive(Debug, Default)]
pub(super) struct Paces(Mutex<HashMap<String, Pace>>);

impl Paces {
    pub(super) fn of(&self, account: &str) -> Pace {
        let mut paces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paces.len() >= ACCOUNTS_MAX && !paces.contains_key(account) {
            paces.clear();
        }
        paces.entry(account.to_owned()).or_default().clone()
    }
}

impl Pace {
    /// The account rests until then.
    #[must_use]
    pub fn resting(&self, now: Timestamp) -> Option<Timestamp> {
        let until = *self.0.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| *until > now)
    }

    /// The far side said when to come back. A shorter rest does not cut a longer one.
    pub fn rest(&self, until: Timestamp) {
        let mut known = self.0.until.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(known.map_or(until, |before| before.max(until)));
    }

    /// The far side asked to slow down and did not say for how long: a minute, twice as long each time in a row, an hour
    /// at most. Gives the end of the rest.
    pub fn rest_longer(&self, now: Timestamp) -> Timestamp {
        let before = self.0.unnamed.fetch_add(1, Ordering::Relaxed).min(16);
        let wait = limits::RATE_LIMIT_WAIT.saturating_mul(1 << before).min(limits::RETRY_HINT_ABSURD);
        let until = now.plus(wait);
        self.rest(until);
        until
    }

    /// The far side takes requests again.
    pub fn rested(&self) {
        self.0.unnamed.store(0, Ordering::Relaxed);
    }

    /// Waits until `gap` lies between this account's last write and this one.
    pub async fn before_write(&self, gap: Duration) {
        let mut last = self.0.last_write.lock().await;
        if let Some(at) = *last {
            tokio::time::sleep_until(at + gap).await;
        }
        *last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_without_a_time_grow_until_one_is_over() {
        let pace = Pace::default();
        let minutes = |pace: &Pace| pace.rest_longer(Timestamp(0)).0 / 60_000;
        let grown: Vec<i64> = (0..8).map(|_| minutes(&pace)).collect();
        assert_eq!(grown, [1, 2, 4, 8, 16, 32, 60, 60]);
        pace.rested();
        assert_eq!(minutes(&pace), 1);
    }

    #[test]
    fn a_rest_is_one_accounts_and_only_grows() {
        let paces = Paces::default();
        let (pat, kim) = (paces.of("pat"), paces.of("kim"));
        pat.rest(Timestamp(2_000));
        pat.rest(Timestamp(1_000));
        assert_eq!(paces.of("pat").resting(Timestamp(0)), Some(Timestamp(2_000)));
        assert_eq!(kim.resting(Timestamp(0)), None);
        assert_eq!(pat.resting(Timestamp(2_000)), None);
    }
}
