//! The driver: repeats a cycle on its due time, on wake-ups and by hand; catches its panics; keeps its entry on the
//! board. A slow cycle holds up no other: each has its own driver.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::model::class::ErrorClass;
use crate::model::cycle::Activation;
use crate::model::time::Clock;

use super::board::{Board, UnitState};
use super::cycle::{Cycle, Fault, Next, Pass};
use super::restart;

/// Wake-ups that come in a burst are taken together: a cycle runs at most once in this span by wake-up alone.
const WAKE_GAP: Duration = Duration::from_millis(1);

/// A due time that a pass could do nothing about must not make it spin.
const TIMER_GAP: Duration = Duration::from_millis(10);

/// Repeats one cycle.
pub struct Driver<C: Cycle> {
    cycle: Arc<C>,
    board: Board<C::Record>,
    clock: Clock,
    kick: Arc<Notify>,
    seed: u64,
}

impl<C: Cycle> Driver<C> {
    /// A driver that is not started yet. The unit is put on the board as activating.
    pub fn new(cycle: Arc<C>, board: Board<C::Record>, clock: Clock) -> Self {
        board.enter(cycle.unit(), UnitState::Activating, None, clock.now());
        let seed = cycle.unit().bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
        Self { cycle, board, clock, kick: Arc::new(Notify::new()), seed }
    }

    /// Notifying this runs a cycle now.
    #[must_use]
    pub fn kick_handle(&self) -> Arc<Notify> {
        Arc::clone(&self.kick)
    }

    /// Runs until `stop`. A pass in flight is finished, never cut.
    pub async fn run(self, stop: CancellationToken) {
        let mut why = Activation::Startup;
        loop {
            let next = self.pass(why).await;
            match self.wait(next, &stop).await {
                Some(reason) => why = reason,
                None => break,
            }
        }
        let now = self.clock.now();
        self.board.update(self.cycle.unit(), |status| status.enter(UnitState::Stopped, now));
    }

    /// Waits for the next reason to run; `None` means stop.
    async fn wait(&self, next: Next, stop: &CancellationToken) -> Option<Activation> {
        if stop.is_cancelled() {
            return None;
        }
        let due = async {
            match next {
                Next::Now => {}
                Next::At(at) => tokio::time::sleep(at.since(self.clock.now()).max(TIMER_GAP)).await,
                Next::WhenWoken => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => None,
            () = self.kick.notified() => Some(Activation::Manual),
            () = due => Some(Activation::Timer),
            () = self.cycle.woken() => {
                tokio::time::sleep(WAKE_GAP).await;
                Some(Activation::WakeUp)
            }
        }
    }

    /// One pass, with its entry on the board.
    async fn pass(&self, why: Activation) -> Next {
        let unit = self.cycle.unit();
        let begun = self.clock.now();
        self.board.update(unit, |status| {
            status.running_since = Some(begun);
            status.last_try = Some(begun);
            status.last_activation = Some(why);
        });
        let outcome = AssertUnwindSafe(self.cycle.activate()).catch_unwind().await;
        let now = self.clock.now();
        let (record, fault, wanted, fresh) = match outcome {
            Ok(Pass { record, fault, next, fresh }) => (Some(record), fault, next, fresh),
            Err(payload) => (None, Some(panic_fault(&*payload)), Next::WhenWoken, false),
        };
        let failures_before = self.board.get(unit).map_or(0, |status| status.failures);
        let failures = if fault.is_some() { failures_before.saturating_add(1) } else { 0 };
        let next = match &fault {
            None => wanted,
            Some(fault) => match restart::after_fault(fault.class, failures, now, self.seed) {
                Some(at) => Next::At(at),
                None => Next::WhenWoken,
            },
        };
        self.report(fault.as_ref(), failures);
        self.board.update(unit, |status| {
            status.running_since = None;
            status.passes += 1;
            status.failures = failures;
            status.next_due = match next {
                Next::At(at) => Some(at),
                Next::Now => Some(now),
                Next::WhenWoken => None,
            };
            if fresh {
                status.last_fresh = Some(now);
            }
            if record.is_some() {
                status.record = record;
            }
            let healthy = fault.as_ref().is_none_or(|fault| restart::is_healthy(fault.class));
            status.enter(if healthy { UnitState::Active } else { UnitState::Failed }, now);
            if fault.is_none() {
                status.last_success = Some(now);
            }
            status.fault = fault;
        });
        next
    }

    /// One line at the first fault, then at each doubling: a unit that fails for days must not fill a disk.
    fn report(&self, fault: Option<&Fault>, failures: u32) {
        let unit = self.cycle.unit();
        match fault {
            None => {
                if let Some(old) = self.board.get(unit).and_then(|status| status.fault) {
                    tracing::info!(unit, after = %old.class, "is well again");
                }
            }
            Some(fault) if failures.is_power_of_two() => {
                tracing::warn!(unit, class = %fault.class, failures, "{}", fault.message);
            }
            Some(_) => {}
        }
    }
}

fn panic_fault(payload: &(dyn std::any::Any + Send)) -> Fault {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Fault { class: ErrorClass::Bug, message: format!("panicked: {text}") }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::BoxFuture;

    use super::*;
    use crate::model::time::Timestamp;

    /// Plays back a list of outcomes, then asks to be left alone.
    struct Scripted {
        outcomes: Mutex<Vec<Option<ErrorClass>>>,
        done: Notify,
    }

    impl Cycle for Scripted {
        type Record = u32;

        fn unit(&self) -> &str {
            "scripted.runtime"
        }

        fn activate(&self) -> BoxFuture<'_, Pass<u32>> {
            Box::pin(async {
                let next = self.outcomes.lock().unwrap().pop();
                let Some(outcome) = next else {
                    self.done.notify_one();
                    return Pass { record: 0, fault: None, next: Next::WhenWoken, fresh: false };
                };
                assert!(outcome != Some(ErrorClass::Permanent), "asked to panic");
                let fault = outcome.map(|class| Fault { class, message: "no".into() });
                Pass { record: 1, fault, next: Next::Now, fresh: true }
            })
        }
    }

    async fn run(outcomes: Vec<Option<ErrorClass>>, kicks: usize) -> UnitStatus {
        let clock = Clock::manual(Timestamp(0));
        let board = Board::default();
        let cycle = Arc::new(Scripted { outcomes: Mutex::new(outcomes), done: Notify::new() });
        let driver = Driver::new(Arc::clone(&cycle), board.clone(), clock);
        let kick = driver.kick_handle();
        let stop = CancellationToken::new();
        let watch = async {
            for pass in 0..kicks {
                while board.get("scripted.runtime").unwrap().passes <= pass as u64 {
                    tokio::task::yield_now().await;
                }
                kick.notify_one();
            }
            while board.get("scripted.runtime").unwrap().passes < kicks as u64 + 1 {
                tokio::task::yield_now().await;
            }
            let status = board.get("scripted.runtime").unwrap();
            stop.cancel();
            status
        };
        tokio::join!(driver.run(stop.clone()), watch).1
    }

    type UnitStatus = super::super::board::UnitStatus<u32>;

    #[tokio::test]
    async fn a_fault_is_kept_until_a_good_pass() {
        let failed = run(vec![Some(ErrorClass::NETWORK)], 0).await;
        assert_eq!((failed.state, failed.failures), (UnitState::Failed, 1));
        assert!(failed.next_due.is_some() && failed.last_success.is_none());
        let healed = run(vec![None, Some(ErrorClass::NETWORK)], 2).await;
        assert_eq!((healed.state, healed.failures), (UnitState::Active, 0));
        assert!(healed.fault.is_none() && healed.last_success.is_some());
    }

    #[tokio::test]
    async fn a_panic_is_a_fault_and_the_driver_goes_on() {
        let status = run(vec![Some(ErrorClass::Permanent)], 0).await;
        let fault = status.fault.unwrap();
        assert_eq!((fault.class, status.failures), (ErrorClass::Bug, 1));
        assert!(fault.message.contains("asked to panic"), "{}", fault.message);
    }

    #[tokio::test]
    async fn being_asked_to_wait_is_healthy() {
        let limited = ErrorClass::RateLimited { until: Timestamp(90_000) };
        let status = run(vec![Some(limited)], 0).await;
        assert_eq!((status.state, status.next_due), (UnitState::Active, Some(Timestamp(90_000))));
    }
}
