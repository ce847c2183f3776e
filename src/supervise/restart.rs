//! The wait after a fault, by its class. Pure.

use std::time::Duration;

use crate::model::class::ErrorClass;
use crate::model::retry::Backoff;
use crate::model::time::Timestamp;

/// Settings faults are looked at again slowly: a missing folder may come back without an edit.
const CONFIG: Backoff = Backoff { first: Duration::from_secs(60), max: Duration::from_secs(3600) };

/// Credentials are looked at again soon; the cycle itself does not touch the far side while they are unchanged.
const AUTH_LOOK: Duration = Duration::from_secs(60);

/// A unit that panicked so often in a row is left alone until somebody restarts it.
pub const PANICS_MAX: u32 = 10;

/// When to run again after `failures` faults in a row; `None`: not by itself.
#[must_use]
pub fn after_fault(class: ErrorClass, failures: u32, now: Timestamp, seed: u64) -> Option<Timestamp> {
    match class {
        ErrorClass::Network { retry_after } => {
            let wait = Backoff::NETWORK.wait(failures, seed);
            Some(now.plus(retry_after.map_or(wait, |asked| asked.max(wait))))
        }
        ErrorClass::RateLimited { until } => Some(until.max(now.plus(Duration::from_secs(1)))),
        ErrorClass::Auth => Some(now.plus(AUTH_LOOK)),
        ErrorClass::Config | ErrorClass::Permanent | ErrorClass::Uncertain => {
            Some(now.plus(CONFIG.wait(failures, seed)))
        }
        ErrorClass::Bug if failures >= PANICS_MAX => None,
        ErrorClass::Bug => Some(now.plus(Backoff::BUG.wait(failures, seed))),
    }
}

/// A class that counts as healthy: the far side is well and asked us to wait.
#[must_use]
pub fn is_healthy(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::RateLimited { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn wait_s(class: ErrorClass, failures: u32) -> Option<u64> {
        after_fault(class, failures, NOW, 1).map(|at| at.since(NOW).as_secs())
    }

    #[test]
    fn network_grows_and_never_gives_up() {
        assert!(wait_s(ErrorClass::NETWORK, 1).unwrap() <= 5);
        let late = wait_s(ErrorClass::NETWORK, 10_000).unwrap();
        assert!((800..=900).contains(&late), "{late}");
    }

    #[test]
    fn a_hint_of_the_far_side_is_obeyed() {
        let asked = ErrorClass::Network { retry_after: Some(Duration::from_secs(300)) };
        assert_eq!(wait_s(asked, 1), Some(300));
        assert_eq!(wait_s(ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(90)) }, 3), Some(90));
    }

    #[test]
    fn a_unit_that_keeps_panicking_is_left_alone() {
        assert!(wait_s(ErrorClass::Bug, 1).is_some());
        assert_eq!(wait_s(ErrorClass::Bug, PANICS_MAX), None);
    }
}
