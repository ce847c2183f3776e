//! Back-off as pure arithmetic.

use std::time::Duration;

/// Exponential waits between two bounds: `first · 2^(failures-1)`, at most `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Wait after the first failure.
    pub first: Duration,
    /// Longest wait.
    pub max: Duration,
}

impl Backoff {
    /// For far sides that may come back any moment.
    pub const NETWORK: Self = Self { first: Duration::from_secs(5), max: Duration::from_secs(15 * 60) };
    /// For a case that failed in an engine.
    pub const CASE: Self = Self { first: Duration::from_secs(30), max: Duration::from_secs(3600) };
    /// For settings that cannot work: a missing folder may come back without an edit.
    pub const CONFIG: Self = Self { first: Duration::from_secs(60), max: Duration::from_secs(3600) };
    /// For a panic of ours.
    pub const BUG: Self = Self { first: Duration::from_secs(10), max: Duration::from_secs(30 * 60) };

    /// The wait after so many failures in a row, with up to a tenth taken off by `seed` so that
    /// many units that failed together do not come back together. Deterministic.
    #[must_use]
    pub fn wait(self, failures: u32, seed: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(30);
        let full = self.first.saturating_mul(1 << doublings).min(self.max);
        // splitmix64's finisher: neighbouring seeds give unrelated shares.
        let mut mixed = seed.wrapping_add(u64::from(failures)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let tenth = full / 10;
        let share = u32::try_from(mixed >> 54).unwrap_or(0);
        full - tenth.mul_f64(f64::from(share) / 1024.0)
    }
}

/// How a unit that failed is tried again, by the class of the fault. A wait that a far side asks for is not among it:
/// that is obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// The far side or the way to it is not there. Never gives up.
    pub network: Backoff,
    /// Settings, or a refusal that asking again does not help.
    pub config: Backoff,
    /// Refused credentials that did not change are tried again this seldom; new ones soon.
    pub auth_every: Duration,
    /// A panic of ours.
    pub bug: Backoff,
    /// After so many of those in a row the unit is left alone until somebody restarts it.
    pub bug_attempts: u32,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            network: Backoff::NETWORK,
            config: Backoff::CONFIG,
            // Far sides lock accounts that hammer.
            auth_every: Duration::from_secs(3600),
            bug: Backoff::BUG,
            bug_attempts: 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_bound() {
        let backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };
        for (failures, full) in [(1, 1.0), (2, 2.0), (4, 8.0), (7, 60.0), (u32::MAX, 60.0)] {
            let wait = backoff.wait(failures, 7).as_secs_f64();
            assert!(wait <= full && wait >= full * 0.9, "{failures}: {wait}");
        }
    }

    #[test]
    fn is_deterministic_and_spread() {
        let wait = |seed| Backoff::NETWORK.wait(3, seed);
        assert_eq!(wait(1), wait(1));
        assert_ne!(wait(1), wait(2));
    }
}
