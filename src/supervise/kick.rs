//! Kicks: one cycle of a unit now, asked for by hand or because another unit failed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::model::cycle::Activation;
use crate::model::live::Live;
use crate::model::time::Timestamp;

/// A unit that comes and goes kicks others at most once in this span: where the kick makes work that may fail too, work
/// must not make work without end.
const FAILURE_GAP: Duration = Duration::from_secs(60);

/// Runs one cycle of a unit now, or as soon as the one in flight is over. Kicks that come in between are one. Cheap to
/// clone.
#[derive(Clone)]
pub struct Kick(Arc<dyn Fn(Activation) + Send + Sync>);

/// Kicks by the full name of the unit.
pub type Kicks = BTreeMap<String, Kick>;

impl Kick {
    /// Does this. It must not wait.
    pub fn new(kick: impl Fn(Activation) + Send + Sync + 'static) -> Self {
        Self(Arc::new(kick))
    }

    /// Kicks; `why` is told to people.
    pub fn now(&self, why: Activation) {
        (self.0)(why);
    }
}

impl fmt::Debug for Kick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kick")
    }
}

/// Who is kicked when a unit fails: a unit's full name, and those that it names. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct OnFailure(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    named: Live<BTreeMap<String, Kicks>>,
    /// When a unit last kicked others; only units that name some.
    last: Mutex<BTreeMap<String, Timestamp>>,
}

impl Default for OnFailure {
    fn default() -> Self {
        Self(Arc::new(Inner { named: Live::new(BTreeMap::new()), last: Mutex::default() }))
    }
}

impl OnFailure {
    /// From here on, these.
    pub fn set(&self, named: BTreeMap<String, Kicks>) {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.retain(|unit, _| named.contains_key(unit));
        drop(last);
        self.0.named.set(named);
    }

    /// A unit that was well has failed: those that it names are kicked once.
    pub fn failed(&self, unit: &str, now: Timestamp) {
        let named = self.0.named.get();
        let Some(kicks) = named.get(unit) else { return };
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.get(unit).copied();
        // A time ahead of now was told by a clock that has been set back.
        let lately = before.is_some_and(|before| before <= now && now.since(before) < FAILURE_GAP);
        if lately {
            tracing::debug!(unit, "failed again so soon that its on_failure units are not kicked");
            return;
        }
        last.insert(unit.to_owned(), now);
        drop(last);
        let names: Vec<&str> = kicks.keys().map(String::as_str).collect();
        tracing::info!(unit, "failed, so that it kicks {}", names.join(", "));
        for kick in kicks.values() {
            kick.now(Activation::OnFailure);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn only_those_named_are_kicked_and_at_most_once_a_minute() {
        let on_failure = OnFailure::default();
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let kick = Kick::new(move |why| {
            assert_eq!(why, Activation::OnFailure);
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let named = || {
            let two = BTreeMap::from([("x".to_owned(), kick.clone()), ("y".to_owned(), kick.clone())]);
            BTreeMap::from([("a".to_owned(), two)])
        };
        on_failure.set(named());
        let after = |unit: &str, at| {
            on_failure.failed(unit, Timestamp(at));
            count.swap(0, Ordering::Relaxed)
        };
        assert_eq!(after("a", 1_000_000), 2);
        assert_eq!(after("b", 1_000_000), 0);
        assert_eq!(after("a", 1_059_999), 0);
        // Another plan that still names it is no way round.
        on_failure.set(named());
        assert_eq!(after("a", 1_059_999), 0);
        assert_eq!(after("a", 1_060_000), 2);
        // The clock was set back.
        assert_eq!(after("a", 500_000), 2);
        on_failure.set(BTreeMap::new());
        assert_eq!(after("a", 9_000_000), 0);
    }
}
