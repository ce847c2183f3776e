//! The driver: repeats a cycle on its due time, on wake-ups and by hand; catches its panics; keeps its entry on the
//! board. A slow cycle holds up no other: each has its own driver.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::model::class::ErrorClass;
use crate::model::cycle::Activation;
use crate::model::schedule::MISSED_AFTER;
use crate::model::time::{Clock, Timestamp};

use super::board::{Board, UnitState};
use super::cycle::{Cycle, Fault, Next, Pass};
use super::jumps::Weather;
use super::kick::Kick;
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
    /// The kick that another unit's failure gives.
    called: Arc<Notify>,
    seed: u64,
    weather: Weather,
}

impl<C: Cycle> Driver<C> {
    /// A driver that is not started yet. The unit is put on the board as activating.
    pub fn new(cycle: Arc<C>, board: Board<C::Record>, clock: Clock) -> Self {
        board.enter(cycle.unit(), UnitState::Activating, None, clock.now());
        let seed = cycle.unit().bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
        let weather = Weather::of(board.jumps().clone());
        let (kick, called) = Default::default();
        Self { cycle, board, clock, kick, called, seed, weather }
    }

    /// Runs a cycle now.
    #[must_use]
    pub fn kick(&self) -> Kick {
        let (kick, called) = (Arc::clone(&self.kick), Arc::clone(&self.called));
        Kick::new(
            move |why| {
                if why == Activation::OnFailure { called.notify_one() } else { kick.notify_one() }
            },
        )
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
                () = self.called.notified() => return Some(Activation::OnFailure),
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
        // Whatever is logged meanwhile, by whomever, belongs to the unit.
        let span = tracing::info_span!("pass", unit);
        span.in_scope(|| tracing::debug!(why = ?why, "a pass begins"));
        let work = self.cycle.activate().instrument(span.clone());
        let outcome = AssertUnwindSafe(work).catch_unwind().await;
        let now = self.clock.now();
        span.in_scope(|| tracing::debug!(took_ms = now.since(begun).as_millis(), "the pass ends"));
        let panicked = outcome.is_err();
        let Done { record, fault, next: wanted, fresh, tried } = outcome.map_or_else(Done::badly, Done::of);
        if let Some(next) = self.weathered(fault.as_ref(), now) {
            return next;
        }
        let before = self.board.get(unit);
        let failures_before = before.as_ref().map_or(0, |status| status.failures);
        let was_failed = before.is_some_and(|status| status.state == UnitState::Failed);
        let healthy = fault.as_ref().is_none_or(|fault| restart::is_healthy(fault.class));
        let failures = match &fault {
            None => 0,
            Some(_) if tried => failures_before.saturating_add(1),
            Some(_) => failures_before.max(1),
        };
        let next = match &fault {
            None => wanted,
            Some(fault) => restart::after_fault(&self.cycle.restart(), fault.class, failures, now, self.seed)
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
            status.enter(if healthy { UnitState::Active } else { UnitState::Failed }, now);
            if fault.is_none() && tried {
                status.last_success = Some(now);
            }
            status.fault = fault;
        });
        if (failures == 0) != (failures_before == 0) {
            self.board.turns().send_replace(());
        }
        if !healthy && tried && !was_failed {
            self.board.on_failure().failed(unit, now);
        }
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
mod tests;
