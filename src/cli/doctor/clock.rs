//! Is the clock one to go by? Schedules, leases and ages are.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::model::time::Timestamp;

/// The first release is from this year; a clock before it was never set.
const FIRST_MS: i64 = 1_767_225_600_000;

/// File systems and clocks differ by seconds.
const TOLERANCE: Duration = Duration::from_secs(120);

pub fn check(facts: &Facts) -> Verdict {
    let written = fs::metadata(facts.paths.database()).and_then(|found| found.modified()).ok();
    let written = written
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .map(Timestamp);
    let mend = if cfg!(target_os = "macos") { "sudo sntp -sS time.apple.com" } else { "timedatectl" };
    Verdict::of(Level::Problem, facts.now.to_string(), faults(facts.now, written), mend)
}

fn faults(now: Timestamp, written: Option<Timestamp>) -> Vec<String> {
    let mut wrong = Vec::new();
    if now < Timestamp(FIRST_MS) {
        wrong.push("the clock was never set".to_owned());
    }
    if let Some(written) = written.filter(|written| written.since(now) > TOLERANCE) {
        wrong.push(format!(
            "the record was written at {written}, which is yet to come: the clock was set back"
        ));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_never_set_or_was_set_back() {
        let now = Timestamp(FIRST_MS).plus(Duration::from_secs(1000));
        assert!(faults(now, Some(now)).is_empty());
        assert_eq!(faults(Timestamp(0), None).len(), 1);
        assert_eq!(faults(now, Some(now.plus(Duration::from_secs(3600)))).len(), 1);
    }
}
