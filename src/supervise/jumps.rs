//! The word that time has jumped: the machine woke up, or the clock was set. Waits look at their due times again, and
//! for a while a network that is not there yet is nobody's fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::model::retry::Backoff;
use crate::model::time::Timestamp;

/// So long after a jump, network faults are the weather.
const WEATHER: Duration = Duration::from_secs(60);

/// Tries in bad weather.
const WEATHER_TRIES: Backoff = Backoff { first: Duration::from_secs(2), max: Duration::from_secs(15) };

/// Told by whoever watches the clock, heard by every driver. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct Jumps(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    heard: Notify,
    last: AtomicI64,
}

impl Default for Jumps {
    fn default() -> Self {
        Self(Arc::new(Inner { heard: Notify::new(), last: AtomicI64::new(i64::MIN) }))
    }
}

impl Jumps {
    /// Time has jumped; it is `now`.
    pub fn tell(&self, now: Timestamp) {
        self.0.last.store(now.0, Ordering::Relaxed);
        self.0.heard.notify_waiters();
    }

    /// Resolves at the next jump after this call, also if it is awaited later.
    pub fn next(&self) -> Notified<'_> {
        self.0.heard.notified()
    }

    fn last(&self) -> Timestamp {
        Timestamp(self.0.last.load(Ordering::Relaxed))
    }
}

/// What one driver knows of the weather.
#[derive(Debug)]
pub(super) struct Weather {
    jumps: Jumps,
    /// When it noticed a jump by itself.
    noticed: Timestamp,
    tries: u32,
}

impl Weather {
    pub fn of(jumps: Jumps) -> Self {
        Self { jumps, noticed: Timestamp(i64::MIN), tries: 0 }
    }

    /// A due time was passed by far.
    pub fn overslept(&mut self, now: Timestamp) {
        self.noticed = now;
    }

    /// When to try again after a network fault, if it is one of the weather.
    pub fn retry(&mut self, now: Timestamp, seed: u64) -> Option<Timestamp> {
        let jumped = self.noticed.max(self.jumps.last());
        if jumped > now || now.since(jumped) >= WEATHER {
            self.tries = 0;
            return None;
        }
        self.tries = self.tries.saturating_add(1);
        Some(now.plus(WEATHER_TRIES.wait(self.tries, seed)))
    }

    /// It went well.
    pub fn cleared(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_the_weather_ends() {
        let mut weather = Weather::of(Jumps::default());
        let start = Timestamp(1_000_000_000);
        assert_eq!(weather.retry(start, 1), None);
        weather.jumps.tell(start);
        let waits: Vec<Duration> = (0..4).map(|_| weather.retry(start, 1).unwrap().since(start)).collect();
        assert!(waits.is_sorted() && waits[0] <= Duration::from_secs(2), "{waits:?}");
        assert!(waits[3] <= Duration::from_secs(15), "{waits:?}");
        let later = start.plus(Duration::from_secs(59));
        assert!(weather.retry(later, 1).is_some());
        assert_eq!(weather.retry(start.plus(WEATHER), 1), None);
    }
}
