//! What is known of each engine from its last runs, on the board and in the log: an engine that fails at every start
//! must not look well, and must not fill the log with one sentence a case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::model::class::ErrorClass;
use crate::model::repeat::{RepeatGuard, Say};
use crate::model::run::RunFailure;
use crate::model::time::Timestamp;
use crate::runtime::RuntimeRecord;
use crate::supervise::{Board, Fault, UnitState};

/// Keeps the board's entries of engines.
pub(super) struct EngineStates {
    board: Board<RuntimeRecord>,
    said: Mutex<BTreeMap<String, RepeatGuard>>,
    /// Engines against which the record holds something.
    doubted: Mutex<BTreeSet<String>>,
    told: Mutex<BTreeSet<String>>,
}

/// Budgets told of before the memory of it begins anew.
const TOLD_LEN_MAX: usize = 1000;

impl EngineStates {
    pub(super) fn new(board: Board<RuntimeRecord>) -> Self {
        Self { board, said: Mutex::default(), doubted: Mutex::default(), told: Mutex::default() }
    }

    /// The record holds something against an engine.
    pub(super) fn doubt(&self, engine: &str) {
        self.doubted.lock().unwrap_or_else(PoisonError::into_inner).insert(engine.to_owned());
    }

    /// Whether it did, so that only then the record has to be touched; it does not any more.
    pub(super) fn cleared(&self, engine: &str) -> bool {
        self.doubted.lock().unwrap_or_else(PoisonError::into_inner).remove(engine)
    }

    /// This was not said before.
    pub(super) fn is_news(&self, what: String) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD_LEN_MAX {
            told.clear();
        }
        told.insert(what)
    }

    /// A run begins.
    pub(super) fn began(&self, engine: &str, now: Timestamp) {
        self.board.update(&unit(engine), |status| status.last_try = Some(now));
    }

    /// A run gave an outcome.
    pub(super) fn succeeded(&self, engine: &str, now: Timestamp) {
        self.board.update(&unit(engine), |status| {
            status.last_success = Some(now);
            status.passes += 1;
            (status.failures, status.fault) = (0, None);
            status.enter(UnitState::Active, now);
        });
        let was = self
            .said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_mut(engine)
            .and_then(RepeatGuard::clear);
        if let Some(repeats) = was {
            tracing::info!(engine, "works again after: {}", repeats.sentence(now));
        }
    }

    /// A run failed. `detail` is masked.
    pub(super) fn failed(&self, engine: &str, failure: &RunFailure, detail: &str, now: Timestamp) {
        let fault = Fault { class: class(failure), word: failure.word(), message: detail.to_owned() };
        let state = match fault.class {
            ErrorClass::RateLimited { .. } => UnitState::Active,
            _ => UnitState::Failed,
        };
        let unit = unit(engine);
        let mut newly = false;
        self.board.update(&unit, |status| {
            newly = state == UnitState::Failed && status.state != state;
            status.passes += 1;
            status.failures = status.failures.saturating_add(1);
            status.fault = Some(fault);
            status.enter(state, now);
        });
        if newly {
            self.board.on_failure().failed(&unit, now);
        }
    }

    /// Whether this failure is worth a line, and which.
    pub(super) fn line(
        &self,
        engine: &str,
        failure: &RunFailure,
        detail: &str,
        now: Timestamp,
    ) -> Option<String> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{}: {detail}", failure.word());
        match said.entry(engine.to_owned()).or_default().see(&key, now) {
            Say::New => Some(format!("run failed: {detail}")),
            Say::Again(repeats) => Some(format!("run failed, {}: {detail}", repeats.sentence(now))),
            Say::Quiet => None,
        }
    }
}

fn unit(engine: &str) -> String {
    format!("{engine}.engine")
}

/// The nearest class: what it means for the engine, not for the case.
fn class(failure: &RunFailure) -> ErrorClass {
    match failure {
        RunFailure::Auth | RunFailure::Billing => ErrorClass::Auth,
        RunFailure::Config => ErrorClass::Config,
        RunFailure::RateLimited(until) | RunFailure::UsageLimit(Some(until)) => {
            ErrorClass::RateLimited { until: *until }
        }
        RunFailure::UsageLimit(None) | RunFailure::Overloaded | RunFailure::Network => ErrorClass::NETWORK,
        RunFailure::Empty
        | RunFailure::Cut
        | RunFailure::Refused
        | RunFailure::BadRequest
        | RunFailure::TimeoutIdle
        | RunFailure::TimeoutTotal
        | RunFailure::Cancelled
        | RunFailure::Exit
        | RunFailure::Protocol
        | RunFailure::Loop
        | RunFailure::TurnLimit
        | RunFailure::BudgetLimit => ErrorClass::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> (EngineStates, Board<RuntimeRecord>) {
        let board = Board::default();
        board.enter("local.engine", UnitState::Active, None, Timestamp(0));
        (EngineStates::new(board.clone()), board)
    }

    #[test]
    fn failures_are_counted_until_a_run_goes_well() {
        let (states, board) = states();
        for at in 1..4 {
            states.began("local", Timestamp(at));
            states.failed("local", &RunFailure::Exit, "exit status 3", Timestamp(at));
        }
        let failed = board.get("local.engine").unwrap();
        assert_eq!((failed.failures, failed.state, failed.since), (3, UnitState::Failed, Timestamp(1)));
        assert_eq!((failed.last_try, failed.last_success), (Some(Timestamp(3)), None));
        assert_eq!(failed.fault.unwrap().word, "exit");
        states.succeeded("local", Timestamp(9));
        let well = board.get("local.engine").unwrap();
        assert_eq!(
            (well.failures, well.state, well.last_success),
            (0, UnitState::Active, Some(Timestamp(9)))
        );
        assert!(well.fault.is_none());
    }

    #[test]
    fn a_thousand_cases_with_one_failure_are_one_line() {
        let (states, _) = states();
        let line = |at| states.line("local", &RunFailure::Exit, "exit status 3", Timestamp(at));
        assert_eq!((0..1000).filter_map(line).collect::<Vec<_>>(), ["run failed: exit status 3"]);
    }
}
