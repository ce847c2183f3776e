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
use crate::model::schedule::MISSED_AFTER;
use crate::model::time::{Clock, Timestamp};

use super::board::{Board, UnitState};
use super::cycle::{Cycle, Fault, Next, Pass};
use super::jumps::Weather;
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
    weather: Weather,
}

impl<C: Cycle> Driver<C> {
    /// A driver that is not started yet. The unit is put on the board as activating.
    pub fn new(cycle: Arc<C>, board: Board<C::Record>, clock: Clock) -> Self {
        board.enter(cycle.unit(), UnitState::Activating, None, clock.now());
        let seed = cycle.unit().bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
        let weather = Weather::of(board.jumps().clone());
        Self { cycle, board, clock, kick: Arc::new(Notify::new()), seed, weather }
    }

    /// Notifying this runs a cycle now.
    #[must_use]
    pub fn kick_handle(&self) -> Arc<Notify> {
        Arc::clone(&self.kick)
    }

    /// Runs until `stop`. A pass in flight is finished, never cut.
    pub async fn run(mut self, stop: CancellationToken) {
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
    async fn wait(&mut self, mut next: Next, stop: &CancellationToken) -> Option<Activation> {
        let jumps = self.board.jumps().clone();
        let cycle = Arc::clone(&self.cycle);
        // Begun once: a jump of time must not lose what it has heard.
        let mut woken = cycle.woken();
        loop {
            if stop.is_cancelled() {
                return None;
            }
            // Before the look at the clock: a jump between the two is heard.
            let jumped = jumps.next();
            let begun = self.clock.now();
            let due = async {
                match next {
                    Next::Now => {}
                    Next::At(at) => tokio::time::sleep(at.since(begun).max(TIMER_GAP)).await,
                    Next::WhenWoken => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = self.kick.notified() => return Some(Activation::Manual),
                () = due => {}
                () = jumped => {}
                () = &mut woken => {
                    tokio::time::sleep(WAKE_GAP).await;
                    return Some(Activation::WakeUp);
                }
            }
            match self.look_again(next, begun) {
                Some(later) => next = later,
                None => return Some(Activation::Timer),
            }
        }
    }

    /// After a wait or a jump of time: when to run, if not now. The wait goes by a clock that stands still while the
    /// machine sleeps, the due time by one that goes on.
    fn look_again(&mut self, next: Next, begun: Timestamp) -> Option<Next> {
        let Next::At(at) = next else { return Some(next).filter(|next| *next == Next::WhenWoken) };
        let now = self.clock.now();
        let set_back = begun.since(now) > MISSED_AFTER;
        if now < at && !set_back {
            return Some(next);
        }
        if now.since(at) <= MISSED_AFTER && !set_back {
            return None;
        }
        self.weather.overslept(now);
        let next = self.cycle.overslept();
        tracing::debug!(unit = self.cycle.unit(), due = %at, "a due time was missed: {next:?}");
        if next == Next::Now {
            return None;
        }
        self.board.update(self.cycle.unit(), |status| status.next_due = due(next, now));
        Some(next)
    }

    /// One pass, with its entry on the board.
    async fn pass(&mut self, why: Activation) -> Next {
        let cycle = Arc::clone(&self.cycle);
        let unit = cycle.unit();
        let begun = self.clock.now();
        self.board.update(unit, |status| {
            status.running_since = Some(begun);
            status.last_activation = Some(why);
        });
        let outcome = AssertUnwindSafe(self.cycle.activate()).catch_unwind().await;
        let now = self.clock.now();
        let panicked = outcome.is_err();
        let Done { record, fault, next: wanted, fresh, tried } = outcome.map_or_else(Done::badly, Done::of);
        if let Some(next) = self.weathered(fault.as_ref(), now) {
            return next;
        }
        let failures_before = self.board.get(unit).map_or(0, |status| status.failures);
        let failures = match &fault {
            None => 0,
            Some(_) if tried => failures_before.saturating_add(1),
            Some(_) => failures_before.max(1),
        };
        let next = match &fault {
            None => wanted,
            Some(fault) => restart::after_fault(fault.class, failures, now, self.seed)
                .and_then(|at| self.cycle.allowed_from(at))
                .map_or(Next::WhenWoken, Next::At),
        };
        if tried {
            self.report(fault.as_ref(), failures);
        }
        self.board.update(unit, |status| {
            status.running_since = None;
            status.passes += 1;
            status.panics = status.panics.saturating_add(u32::from(panicked));
            status.failures = failures;
            if tried {
                status.last_try = Some(begun);
            }
            status.next_due = due(next, now);
            if fresh {
                status.last_fresh = Some(now);
            }
            if record.is_some() {
                status.record = record;
            }
            let healthy = fault.as_ref().is_none_or(|fault| restart::is_healthy(fault.class));
            status.enter(if healthy { UnitState::Active } else { UnitState::Failed }, now);
            if fault.is_none() && tried {
                status.last_success = Some(now);
            }
            status.fault = fault;
        });
        next
    }

    /// A network fault right after the machine woke up says nothing about the unit: it stays what it was and is tried
    /// again soon.
    fn weathered(&mut self, fault: Option<&Fault>, now: Timestamp) -> Option<Next> {
        let Some(fault) = fault else {
            self.weather.cleared();
            return None;
        };
        let ErrorClass::Network { retry_after } = fault.class else { return None };
        let at = self.weather.retry(now, self.seed)?.max(now.plus(retry_after.unwrap_or_default()));
        let next = self.cycle.allowed_from(at).map_or(Next::WhenWoken, Next::At);
        let unit = self.cycle.unit();
        tracing::debug!(unit, "the network is not back yet: {}", fault.message);
        self.board.update(unit, |status| {
            status.running_since = None;
            status.passes += 1;
            status.next_due = due(next, now);
        });
        Some(next)
    }

    /// One line at the first fault, then at each doubling: a unit that fails for days must not fill a disk.
    fn report(&self, fault: Option<&Fault>, failures: u32) {
        let unit = self.cycle.unit();
        match fault {
            None => {
                if let Some(old) = self.board.get(unit).and_then(|status| status.fault) {
                    tracing::info!(unit, after = old.word, "is well again");
                }
            }
            Some(fault) if failures.is_power_of_two() => {
                tracing::warn!(unit, class = fault.word, failures, "{}", fault.message);
            }
            Some(_) => {}
        }
    }
}

fn due(next: Next, now: Timestamp) -> Option<Timestamp> {
    match next {
        Next::At(at) => Some(at),
        Next::Now => Some(now),
        Next::WhenWoken => None,
    }
}

/// A pass as the board takes it.
struct Done<R> {
    record: Option<R>,
    fault: Option<Fault>,
    next: Next,
    fresh: bool,
    tried: bool,
}

impl<R> Done<R> {
    fn of(pass: Pass<R>) -> Self {
        let Pass { record, fault, next, fresh, tried } = pass;
        Self { record: Some(record), fault, next, fresh, tried }
    }

    fn badly(payload: Box<dyn std::any::Any + Send>) -> Self {
        let fault = Some(panic_fault(&*payload));
        Self { record: None, fault, next: Next::WhenWoken, fresh: false, tried: true }
    }
}

fn panic_fault(payload: &(dyn std::any::Any + Send)) -> Fault {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    Fault::new(ErrorClass::Bug, format!("panicked: {text}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::BoxFuture;

    use super::*;

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
                    return Pass { record: 0, fault: None, next: Next::WhenWoken, fresh: false, tried: true };
                };
                assert!(outcome != Some(ErrorClass::Permanent), "asked to panic");
                let tried = outcome != Some(ErrorClass::Uncertain);
                let fault = outcome.map(|class| Fault::new(class, "no"));
                Pass { record: 1, fault, next: Next::Now, fresh: true, tried }
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
        assert_eq!((fault.class, status.failures, status.panics), (ErrorClass::Bug, 1, 1));
        assert!(fault.message.contains("asked to panic"), "{}", fault.message);
    }

    #[tokio::test]
    async fn a_look_that_tries_nothing_is_no_further_failure() {
        let script = vec![Some(ErrorClass::Uncertain), Some(ErrorClass::Uncertain), Some(ErrorClass::Auth)];
        let status = run(script, 2).await;
        assert_eq!((status.failures, status.passes, status.last_try), (1, 3, Some(Timestamp(0))));
        let only_looks = run(vec![Some(ErrorClass::Uncertain)], 0).await;
        assert_eq!((only_looks.failures, only_looks.last_try), (1, None));
    }

    /// Wants to run every hour and counts; after a sleep, in its own place.
    struct Hourly {
        clock: Clock,
        faults: Mutex<Vec<Option<ErrorClass>>>,
    }

    impl Cycle for Hourly {
        type Record = u32;

        fn unit(&self) -> &str {
            "hourly.runtime"
        }

        fn activate(&self) -> BoxFuture<'_, Pass<u32>> {
            Box::pin(async {
                let fault = self.faults.lock().unwrap().pop().flatten();
                let fault = fault.map(|class| Fault::new(class, "no"));
                let next = Next::At(self.clock.now().plus(HOUR));
                Pass { record: 0, fault, next, fresh: false, tried: true }
            })
        }

        fn overslept(&self) -> Next {
            Next::At(self.clock.now().plus(PLACE))
        }
    }

    const HOUR: Duration = Duration::from_secs(3600);
    const PLACE: Duration = Duration::from_secs(17);

    /// Drives an hourly cycle while `scene` moves the clock and tells of it.
    async fn hourly<F: Future<Output = ()>>(
        faults: Vec<Option<ErrorClass>>,
        scene: impl FnOnce(Clock, Board<u32>) -> F,
    ) {
        let clock = Clock::manual(Timestamp(1_000_000_000));
        let board = Board::default();
        let cycle = Arc::new(Hourly { clock: clock.clone(), faults: Mutex::new(faults) });
        let driver = Driver::new(cycle, board.clone(), clock.clone());
        let stop = CancellationToken::new();
        let scene = scene(clock, board);
        tokio::join!(driver.run(stop.clone()), async {
            scene.await;
            stop.cancel();
        });
    }

    async fn until(board: &Board<u32>, is_so: impl Fn(&UnitStatus) -> bool) -> UnitStatus {
        for _ in 0..1_000_000 {
            let status = board.get("hourly.runtime").unwrap();
            if is_so(&status) {
                return status;
            }
            tokio::task::yield_now().await;
        }
        panic!("{:?}", board.get("hourly.runtime"));
    }

    async fn jump(clock: &Clock, board: &Board<u32>, span: Duration) {
        clock.advance(span);
        board.jumps().tell(clock.now());
    }

    #[tokio::test]
    async fn s41_hours_of_sleep_are_one_run_in_its_own_place() {
        hourly(Vec::new(), async |clock, board| {
            until(&board, |status| status.passes == 1).await;
            jump(&clock, &board, 5 * HOUR).await;
            let place = clock.now().plus(PLACE);
            let waiting = until(&board, |status| status.next_due == Some(place)).await;
            assert_eq!(waiting.passes, 1, "not at once with everybody else");
            jump(&clock, &board, PLACE).await;
            let ran = until(&board, |status| status.passes == 2).await;
            assert_eq!(ran.next_due, Some(clock.now().plus(HOUR)));
        })
        .await;
    }

    #[tokio::test]
    async fn s41_a_short_sleep_moves_no_due_time() {
        hourly(Vec::new(), async |clock, board| {
            let before = until(&board, |status| status.passes == 1).await;
            jump(&clock, &board, HOUR / 2).await;
            tokio::task::yield_now().await;
            let after = until(&board, |_| true).await;
            assert_eq!((after.next_due, after.passes), (before.next_due, 1));
            jump(&clock, &board, HOUR / 2).await;
            until(&board, |status| status.passes == 2).await;
        })
        .await;
    }

    #[tokio::test]
    async fn s41_the_network_after_a_sleep_is_the_weather_for_a_minute() {
        let faults = vec![Some(ErrorClass::NETWORK), Some(ErrorClass::NETWORK), None];
        hourly(faults, async |clock, board| {
            until(&board, |status| status.passes == 1).await;
            jump(&clock, &board, 5 * HOUR).await;
            let place = clock.now().plus(PLACE);
            until(&board, |status| status.next_due == Some(place)).await;
            for passes in 2..4 {
                jump(&clock, &board, PLACE).await;
                let quiet = until(&board, |status| status.passes == passes).await;
                assert_eq!((quiet.state, quiet.failures, quiet.fault), (UnitState::Active, 0, None));
                let soon = quiet.next_due.unwrap().since(clock.now());
                assert!(soon <= Duration::from_secs(15), "{soon:?}");
            }
            jump(&clock, &board, Duration::from_secs(15)).await;
            let well = until(&board, |status| status.passes == 4).await;
            assert_eq!((well.state, well.failures), (UnitState::Active, 0));
        })
        .await;
    }

    #[tokio::test]
    async fn being_asked_to_wait_is_healthy() {
        let limited = ErrorClass::RateLimited { until: Timestamp(90_000) };
        let status = run(vec![Some(limited)], 0).await;
        assert_eq!((status.state, status.next_due), (UnitState::Active, Some(Timestamp(90_000))));
    }
}
