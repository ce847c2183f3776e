//! The circuit breaker of one engine: after a few failures of its own it gets no case for a while, then one to see
//! whether it is well again. Pure; the store keeps it over restarts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ids::CaseId;
use super::run::RunFailure;
use super::time::Timestamp;

/// Failures older than this say nothing about the present.
const WINDOW: Duration = Duration::from_secs(5 * 60);

/// So many within [`WINDOW`] are no accident.
const FAILURES_MAX: usize = 3;

/// The first wait, doubled each time that the one case afterwards fails too.
const WAIT: Duration = Duration::from_secs(60);

/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);

/// What is held against an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// Within the last minutes, oldest first; fewer than [`FAILURES_MAX`].
    failures: Vec<Counted>,
    /// Waits in a row, none of which helped.
    waits: u32,
    /// The end of the last wait.
    until: Option<Timestamp>,
    /// Why, as told by the last failure: "network: connection refused".
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    at: Timestamp,
    case: CaseId,
    /// It may be the case's fault, so that a second one of the same case proves nothing.
    perhaps_case: bool,
}

/// What an engine may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Cases.
    Open,
    /// One case at a time, to see whether it is well again.
    Probe,
    /// Nothing before this time.
    Shut(Timestamp),
}

/// What a run's end says about the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// It does not work, whatever the case.
    IsIll,
    /// It does not work, at least with this case.
    MayBeIll,
    /// It works: it answered, if not as wished.
    Works,
    /// Nothing: limits, login and settings have their own waits, and what we ended ourselves is no sign.
    Nothing,
}

fn said(failure: &RunFailure) -> Said {
    match failure {
        RunFailure::Network | RunFailure::Overloaded => Said::IsIll,
        RunFailure::TimeoutIdle
        | RunFailure::TimeoutTotal
        | RunFailure::Protocol
        | RunFailure::Exit
        | RunFailure::Empty => Said::MayBeIll,
        RunFailure::Cut
        | RunFailure::Refused
        | RunFailure::BadRequest
        | RunFailure::Loop
        | RunFailure::TurnLimit
        | RunFailure::BudgetLimit => Said::Works,
        RunFailure::Auth
        | RunFailure::Config
        | RunFailure::Billing
        | RunFailure::UsageLimit(_)
        | RunFailure::RateLimited(_)
        | RunFailure::Cancelled => Said::Nothing,
    }
}

impl Breaker {
    /// Failures of this kind are held against an engine.
    #[must_use]
    pub fn counts(failure: &RunFailure) -> bool {
        matches!(said(failure), Said::IsIll | Said::MayBeIll)
    }

    /// A run that failed so shows all the same that the engine works.
    #[must_use]
    pub fn is_answer(failure: &RunFailure) -> bool {
        said(failure) == Said::Works
    }

    /// What the engine may get now.
    #[must_use]
    pub fn gate(&self, now: Timestamp) -> Gate {
        match self.until {
            None => Gate::Open,
            Some(until) if until > now => Gate::Shut(until),
            Some(_) => Gate::Probe,
        }
    }

    /// Why it is not open.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Counts a failure of this engine with a case. Gives the cases that failed one after another, this one among them,
    /// when that shuts the gate.
    pub fn failed(
        &mut self,
        case: CaseId,
        failure: &RunFailure,
        reason: &str,
        now: Timestamp,
    ) -> Option<Vec<CaseId>> {
        // Runs that were under way when it shut tell nothing new.
        if !Self::counts(failure) || matches!(self.gate(now), Gate::Shut(_)) {
            return None;
        }
        let perhaps_case = said(failure) == Said::MayBeIll;
        self.failures.retain(|counted| now.since(counted.at) < WINDOW);
        if perhaps_case {
            self.failures.retain(|counted| !(counted.perhaps_case && counted.case == case));
        }
        self.failures.push(Counted { at: now, case, perhaps_case });
        self.reason = reason.to_owned();
        if self.until.is_none() && self.failures.len() < FAILURES_MAX {
            return None;
        }
        let wait = WAIT.saturating_mul(1 << self.waits.min(8)).min(WAIT_MAX);
        self.waits = self.waits.saturating_add(1);
        self.until = Some(now.plus(wait));
        Some(std::mem::take(&mut self.failures).into_iter().map(|counted| counted.case).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn at(seconds: u64) -> Timestamp {
        NOW.plus(Duration::from_secs(seconds))
    }

    /// What the gate says after failures of these cases at these seconds.
    fn after(failures: &[(u64, i64, RunFailure)]) -> Breaker {
        let mut breaker = Breaker::default();
        for (seconds, case, failure) in failures {
            breaker.failed(CaseId(*case), failure, failure.word(), at(*seconds));
        }
        breaker
    }

    #[test]
    fn three_in_five_minutes_shut_it_for_one() {
        let network = |seconds| (seconds, 1, RunFailure::Network);
        assert_eq!(after(&[network(0), network(60)]).gate(at(60)), Gate::Open);
        let shut = after(&[network(0), network(60), network(120)]);
        assert_eq!(shut.gate(at(120)), Gate::Shut(at(180)));
        assert_eq!(shut.gate(at(180)), Gate::Probe);
        assert_eq!(after(&[network(0), network(200), network(301)]).gate(at(301)), Gate::Open);
    }

    #[test]
    fn waits_double_up_to_a_quarter_of_an_hour() {
        let mut breaker =
            after(&[(0, 1, RunFailure::Exit), (0, 2, RunFailure::Exit), (0, 3, RunFailure::Exit)]);
        let mut waits = Vec::new();
        let mut now = NOW;
        for _ in 0..7 {
            let Gate::Shut(until) = breaker.gate(now) else { panic!("open") };
            waits.push(until.since(now).as_secs());
            now = until;
            assert_eq!(breaker.gate(now), Gate::Probe);
            breaker.failed(CaseId(1), &RunFailure::Protocol, "", now);
        }
        assert_eq!(waits, [60, 120, 240, 480, 900, 900, 900]);
    }

    #[test]
    fn one_bad_case_is_no_ill_engine() {
        let exits: Vec<_> = (0..20).map(|seconds| (seconds, 7, RunFailure::Exit)).collect();
        assert_eq!(after(&exits).gate(at(20)), Gate::Open);
        let several = [7, 7, 8, 7, 9].map(|case| (1, case, RunFailure::Exit));
        assert!(matches!(after(&several).gate(at(1)), Gate::Shut(_)));
    }

    #[test]
    fn limits_logins_and_answers_are_not_held_against_it() {
        for failure in [
            RunFailure::UsageLimit(None),
            RunFailure::RateLimited(NOW),
            RunFailure::Auth,
            RunFailure::Config,
            RunFailure::Billing,
            RunFailure::Refused,
            RunFailure::Cut,
            RunFailure::BadRequest,
            RunFailure::Cancelled,
        ] {
            let all: Vec<_> = (0..9).map(|case| (0, case, failure.clone())).collect();
            assert_eq!(after(&all), Breaker::default(), "{failure:?}");
        }
    }

    #[test]
    fn runs_that_were_under_way_do_not_make_the_wait_longer() {
        let many: Vec<_> = (0..20).map(|case| (0, case, RunFailure::Overloaded)).collect();
        assert_eq!(after(&many).gate(NOW), Gate::Shut(at(60)));
    }

    #[test]
    fn those_that_shut_it_are_named() {
        let mut breaker = Breaker::default();
        let mut fail = |case| breaker.failed(CaseId(case), &RunFailure::Protocol, "no JSON", NOW);
        assert_eq!((fail(4), fail(5)), (None, None));
        assert_eq!(fail(6), Some(vec![CaseId(4), CaseId(5), CaseId(6)]));
        assert_eq!(breaker.reason(), "no JSON");
    }
}
