//! The wait after a fault, by its class. Pure.

use std::time::Duration;

use crate::model::class::ErrorClass;
use crate::model::retry::RestartPolicy;
use crate::model::time::Timestamp;

/// Credentials are looked at again soon; the cycle itself does not touch the far side while they are unchanged.
const AUTH_LOOK: Duration = Duration::from_secs(60);

/// When to run again after `failures` faults in a row; `None`: not by itself.
#[must_use]
pub fn after_fault(
    policy: &RestartPolicy,
    class: ErrorClass,
    failures: u32,
    now: Timestamp,
    seed: u64,
) -> Option<Timestamp> {
    match class {
        ErrorClass::Network { retry_after } => {
            let wait = policy.network.wait(failures, seed);
            Some(now.plus(retry_after.map_or(wait, |asked| asked.max(wait))))
        }
        ErrorClass::RateLimited { until } => Some(until.max(now.plus(Duration::from_secs(1)))),
        ErrorClass::Auth => Some(now.plus(AUTH_LOOK)),
        ErrorClass::Config | ErrorClass::Permanent | ErrorClass::Uncertain => {
            Some(now.plus(policy.config.wait(failures, seed)))
        }
        ErrorClass::Bug if failures >= policy.bug_attempts => None,
        ErrorClass::Bug => Some(now.plus(policy.bug.wait(failures, seed))),
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
    use crate::model::retry::Backoff;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn wait_by(policy: &RestartPolicy, class: ErrorClass, failures: u32) -> Option<u64> {
        after_fault(policy, class, failures, NOW, 1).map(|at| at.since(NOW).as_secs())
    }

    fn wait_s(class: ErrorClass, failures: u32) -> Option<u64> {
        wait_by(&RestartPolicy::default(), class, failures)
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
        assert_eq!((wait_s(ErrorClass::Bug, 9).is_some(), wait_s(ErrorClass::Bug, 10)), (true, None));
    }

    #[test]
    fn each_class_goes_by_its_own_part_of_the_policy() {
        // One wait a class, so that none can stand in for another.
        let only = |s| Backoff { first: Duration::from_secs(s), max: Duration::from_secs(s) };
        let policy = RestartPolicy {
            network: only(1000),
            config: only(2000),
            bug: only(3000),
            bug_attempts: 2,
            ..RestartPolicy::default()
        };
        for (class, failures, most) in [
            (ErrorClass::NETWORK, 1, Some(1000)),
            (ErrorClass::NETWORK, 50, Some(1000)),
            (ErrorClass::Config, 1, Some(2000)),
            (ErrorClass::Permanent, 3, Some(2000)),
            (ErrorClass::Uncertain, 3, Some(2000)),
            (ErrorClass::Bug, 1, Some(3000)),
            (ErrorClass::Bug, 2, None),
        ] {
            let wait = wait_by(&policy, class, failures);
            let fits = match (wait, most) {
                (Some(wait), Some(most)) => wait <= most && wait >= most * 9 / 10,
                (wait, most) => wait == most,
            };
            assert!(fits, "{class}, {failures}: {wait:?}, not {most:?}");
        }
        // What the far side asks for is no matter of policy.
        let limited = ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(90)) };
        assert_eq!(wait_by(&policy, limited, 3), Some(90));
    }
}
