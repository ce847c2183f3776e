//! What follows on a failed run: the one table of retry, fall-back, cool-down and asking the user. Pure.
//!
//! There is exactly one retry loop in the house, and this is its rule; the engines' own retries are set low.

use std::time::Duration;

use crate::model::retry::Backoff;
use crate::model::run::RunFailure;
use crate::model::time::Timestamp;

/// A plan's limit without a time: the first guess, doubled with each failure up to [`USAGE_WAIT_MAX`].
const USAGE_WAIT: Duration = Duration::from_secs(30 * 60);

/// The longest window that plans have.
const USAGE_WAIT_MAX: Duration = Duration::from_secs(5 * 3600);

/// An engine that needs a new secret or an edit is left alone this long: each look costs one run. `kick NAME.engine`
/// ends the wait early.
const MEND_WAIT: Duration = Duration::from_secs(15 * 60);

/// The case it failed with comes again so much later than the engine: the cases behind it go first, so that one which is
/// to blame itself holds up nobody.
const MEND_GRACE: Duration = Duration::from_secs(60);

/// What is known when a run has failed.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Why it failed.
    pub failure: &'a RunFailure,
    /// Tries of this case, this one counted, over restarts and engines.
    pub attempts: u32,
    /// From this many on the case goes to the user instead of being tried again.
    pub attempts_max: u32,
    /// From this try on a program that fell over does not get the case again.
    pub exit_attempts: u32,
    /// Now.
    pub now: Timestamp,
    /// Spreads cases that failed together.
    pub seed: u64,
    /// The route declares another engine for this failure.
    pub fallback: bool,
    /// The engine fails with other cases too and gets none before this time: the case is not to blame.
    pub shut_until: Option<Timestamp>,
}

/// What happens to the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The same engine again, at this time.
    RetryAt(Timestamp),
    /// The same engine again, at this time; this was no try of the case, whose turn it will be.
    WaitUntil(Timestamp),
    /// The next engine that the route declares.
    FallBack,
    /// Waits for the user, or for an edit or a new secret.
    Park,
}

/// What happens to the case and to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The case.
    pub next: After,
    /// No case is given to the engine before this time.
    pub cool_down: Option<Timestamp>,
}

/// The table.
///
/// Waits for the far side (network, overload, limits) never use up a case: an offline night must not hand every case
/// to the user. Everything else does: after `attempts_max` tries, over all engines, the user is asked.
#[must_use]
pub fn after(situation: &Situation<'_>) -> Decision {
    let Situation { failure, attempts, attempts_max, exit_attempts, now, seed, fallback, shut_until } =
        *situation;
    let backoff = now.plus(Backoff::CASE.wait(attempts, seed));
    let used_up = attempts >= attempts_max;
    let fall_back_or = |otherwise| if fallback { After::FallBack } else { otherwise };
    let retry_or_park = if used_up { After::Park } else { After::RetryAt(backoff) };
    let only_case = |next| Decision { next, cool_down: None };
    if let Some(until) = shut_until {
        let waits_for_ever = matches!(failure, RunFailure::Network | RunFailure::Overloaded);
        let otherwise =
            if used_up && !waits_for_ever { After::Park } else { After::RetryAt(until.max(backoff)) };
        return only_case(fall_back_or(otherwise));
    }
    match failure {
        // Another throw of the dice helps once; after that it is the engine, then the case.
        RunFailure::Empty
        | RunFailure::Cut
        | RunFailure::Loop
        | RunFailure::TimeoutIdle
        | RunFailure::TimeoutTotal => {
            only_case(if attempts <= 1 { retry_or_park } else { fall_back_or(After::Park) })
        }
        // A program that fell over may do better the next time; then whoever wrote it has to look.
        RunFailure::Exit => {
            only_case(if attempts < exit_attempts { retry_or_park } else { fall_back_or(After::Park) })
        }
        RunFailure::Refused | RunFailure::BadRequest | RunFailure::Protocol => {
            only_case(fall_back_or(After::Park))
        }
        RunFailure::Auth | RunFailure::Config | RunFailure::Billing => {
            let mended = now.plus(MEND_WAIT);
            let next = fall_back_or(After::WaitUntil(mended.plus(MEND_GRACE)));
            Decision { next, cool_down: Some(mended) }
        }
        RunFailure::UsageLimit(until) => {
            let doublings = attempts.saturating_sub(1).min(8);
            let guess = now.plus(USAGE_WAIT.saturating_mul(1 << doublings).min(USAGE_WAIT_MAX));
            let until = until.filter(|until| *until > now).unwrap_or(guess);
            Decision { next: fall_back_or(After::RetryAt(until)), cool_down: Some(until) }
        }
        RunFailure::RateLimited(until) => {
            let until = (*until).max(now);
            let next =
                if attempts <= 1 { After::RetryAt(until) } else { fall_back_or(After::RetryAt(until)) };
            Decision { next, cool_down: Some(until) }
        }
        RunFailure::Overloaded | RunFailure::Network => {
            let retry = After::RetryAt(backoff);
            only_case(if attempts <= 2 { retry } else { fall_back_or(retry) })
        }
        // More of the same would cost the same again; what was reached is for the user to judge.
        RunFailure::TurnLimit | RunFailure::BudgetLimit => only_case(After::Park),
        // Our own stop gives the case back before it comes here; a case cancelled by hand is the user's.
        RunFailure::Cancelled => only_case(After::Park),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn situation(failure: &RunFailure, attempts: u32, fallback: bool) -> Situation<'_> {
        Situation {
            failure,
            attempts,
            attempts_max: 4,
            exit_attempts: 2,
            now: NOW,
            seed: 0,
            fallback,
            shut_until: None,
        }
    }

    fn shown(failure: &RunFailure, attempts: u32, fallback: bool) -> String {
        let Decision { next, cool_down } = after(&situation(failure, attempts, fallback));
        let next = match next {
            After::RetryAt(at) => format!("retry in {}", minutes(at)),
            After::WaitUntil(at) => format!("wait {}", minutes(at)),
            After::FallBack => "fall back".to_owned(),
            After::Park => "park".to_owned(),
        };
        match cool_down {
            Some(until) => format!("{next}, engine rests {}", minutes(until)),
            None => next,
        }
    }

    #[test]
    fn how_often_a_program_may_fall_over_is_the_units_word() {
        let next = |exit_attempts, attempts| {
            after(&Situation { exit_attempts, ..situation(&RunFailure::Exit, attempts, true) }).next
        };
        assert_eq!(next(1, 1), After::FallBack);
        assert!(matches!(next(4, 3), After::RetryAt(_)));
        assert_eq!(next(4, 4), After::FallBack);
    }

    /// To the next half minute, so that the spread does not show.
    fn minutes(at: Timestamp) -> String {
        let halves = at.since(NOW).as_secs().div_ceil(30);
        format!("{}.{}m", halves / 2, if halves.is_multiple_of(2) { 0 } else { 5 })
    }

    #[test]
    fn the_table() {
        let later = NOW.plus(Duration::from_secs(7200));
        let failures = [
            RunFailure::Empty,
            RunFailure::Cut,
            RunFailure::Refused,
            RunFailure::Auth,
            RunFailure::Config,
            RunFailure::Billing,
            RunFailure::UsageLimit(Some(later)),
            RunFailure::UsageLimit(None),
            RunFailure::RateLimited(later),
            RunFailure::Overloaded,
            RunFailure::Network,
            RunFailure::BadRequest,
            RunFailure::TimeoutIdle,
            RunFailure::TimeoutTotal,
            RunFailure::Cancelled,
            RunFailure::Exit,
            RunFailure::Protocol,
        ];
        let mut table = String::new();
        for failure in &failures {
            for fallback in [false, true] {
                let tries: Vec<_> = [1, 2, 3, 4].iter().map(|n| shown(failure, *n, fallback)).collect();
                let with = if fallback { "+" } else { " " };
                table += &format!("{:>13}{with} {}\n", failure.word(), tries.join(" | "));
            }
        }
        insta::assert_snapshot!(table, @r#"
                empty  retry in 0.5m | park | park | park
                empty+ retry in 0.5m | fall back | fall back | fall back
                  cut  retry in 0.5m | park | park | park
                  cut+ retry in 0.5m | fall back | fall back | fall back
              refused  park | park | park | park
              refused+ fall back | fall back | fall back | fall back
                 auth  wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m
                 auth+ fall back, engine rests 15.0m | fall back, engine rests 15.0m | fall back, engine rests 15.0m | fall back, engine rests 15.0m
               config  wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m
               config+ fall back, engine rests 15.0m | fall back, engine rests 15.0m | fall back, engine rests 15.0m | fall back, engine rests 15.0m
              billing  wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m | wait 16.0m, engine rests 15.0m
              billing+ fall back, engine rests 15.0m | fall back, engine rests 15.0m | fall back, engine rests 15.0m | fall back, engine rests 15.0m
          usage-limit  retry in 120.0m, engine rests 120.0m | retry in 120.0m, engine rests 120.0m | retry in 120.0m, engine rests 120.0m | retry in 120.0m, engine rests 120.0m
          usage-limit+ fall back, engine rests 120.0m | fall back, engine rests 120.0m | fall back, engine rests 120.0m | fall back, engine rests 120.0m
          usage-limit  retry in 30.0m, engine rests 30.0m | retry in 60.0m, engine rests 60.0m | retry in 120.0m, engine rests 120.0m | retry in 240.0m, engine rests 240.0m
          usage-limit+ fall back, engine rests 30.0m | fall back, engine rests 60.0m | fall back, engine rests 120.0m | fall back, engine rests 240.0m
         rate-limited  retry in 120.0m, engine rests 120.0m | retry in 120.0m, engine rests 120.0m | retry in 120.0m, engine rests 120.0m | retry in 120.0m, engine rests 120.0m
         rate-limited+ retry in 120.0m, engine rests 120.0m | fall back, engine rests 120.0m | fall back, engine rests 120.0m | fall back, engine rests 120.0m
           overloaded  retry in 0.5m | retry in 1.0m | retry in 2.0m | retry in 4.0m
           overloaded+ retry in 0.5m | retry in 1.0m | fall back | fall back
              network  retry in 0.5m | retry in 1.0m | retry in 2.0m | retry in 4.0m
              network+ retry in 0.5m | retry in 1.0m | fall back | fall back
          bad-request  park | park | park | park
          bad-request+ fall back | fall back | fall back | fall back
         timeout-idle  retry in 0.5m | park | park | park
         timeout-idle+ retry in 0.5m | fall back | fall back | fall back
        timeout-total  retry in 0.5m | park | park | park
        timeout-total+ retry in 0.5m | fall back | fall back | fall back
            cancelled  park | park | park | park
            cancelled+ park | park | park | park
                 exit  retry in 0.5m | park | park | park
                 exit+ retry in 0.5m | fall back | fall back | fall back
             protocol  park | park | park | park
             protocol+ fall back | fall back | fall back | fall back
        "#);
    }

    #[test]
    fn a_case_is_not_to_blame_for_an_ill_engine() {
        let next = |failure: &RunFailure, attempts, fallback| {
            let shut_until = Some(NOW.plus(Duration::from_secs(600)));
            let Decision { next, cool_down } =
                after(&Situation { shut_until, ..situation(failure, attempts, fallback) });
            assert_eq!(cool_down, None);
            match next {
                After::RetryAt(at) => minutes(at),
                other => format!("{other:?}"),
            }
        };
        for failure in [RunFailure::Protocol, RunFailure::Exit, RunFailure::Empty, RunFailure::TimeoutIdle] {
            assert_eq!(next(&failure, 3, false), "10.0m");
            assert_eq!(next(&failure, 1, true), "FallBack");
            // A case that can never succeed must not be what an engine is tried with for ever.
            assert_eq!(next(&failure, 4, false), "Park");
        }
        assert_eq!(next(&RunFailure::Network, 40, false), "59.5m");
    }

    #[test]
    fn a_limit_that_is_over_already_is_not_believed() {
        assert_eq!(
            shown(&RunFailure::UsageLimit(Some(Timestamp(5))), 1, false),
            "retry in 30.0m, engine rests 30.0m"
        );
    }
}
