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
    let kick = driver.kick();
    let stop = CancellationToken::new();
    let watch = async {
        for pass in 0..kicks {
            while board.get("scripted.runtime").unwrap().passes <= pass as u64 {
                tokio::task::yield_now().await;
            }
            kick.now(Activation::Manual);
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

/// How often a failure kicks others, over a script of outcomes, the first last.
async fn kicked(outcomes: Vec<Option<ErrorClass>>) -> u32 {
    let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let kick = Kick::new(move |_| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    let board = Board::default();
    let named = std::collections::BTreeMap::from([("other.runtime".to_owned(), kick)]);
    board.on_failure().set(std::collections::BTreeMap::from([("scripted.runtime".to_owned(), named)]));
    let passes = outcomes.len();
    let cycle = Arc::new(Scripted { outcomes: Mutex::new(outcomes), done: Notify::new() });
    let mut driver = Driver::new(cycle, board, Clock::manual(Timestamp(0)));
    for _ in 0..passes {
        driver.pass(Activation::Manual).await;
    }
    count.load(std::sync::atomic::Ordering::Relaxed)
}

#[tokio::test]
async fn others_are_kicked_when_a_well_unit_fails_and_not_again() {
    const FAULT: Option<ErrorClass> = Some(ErrorClass::NETWORK);
    assert_eq!(kicked(vec![FAULT, FAULT, FAULT, None]).await, 1);
    assert_eq!(kicked(vec![FAULT]).await, 1);
    assert_eq!(kicked(vec![None, None]).await, 0);
    // Being asked to wait is healthy, and a look that tries nothing is no failure.
    assert_eq!(kicked(vec![Some(ErrorClass::RateLimited { until: Timestamp(9) }), None]).await, 0);
    assert_eq!(kicked(vec![Some(ErrorClass::Uncertain), None]).await, 0);
    // So is what comes after the look, while it is the same fault.
    assert_eq!(kicked(vec![FAULT, Some(ErrorClass::Uncertain)]).await, 0);
}

#[tokio::test]
async fn a_kick_says_who_gave_it() {
    let board = Board::default();
    let cycle = Arc::new(Scripted { outcomes: Mutex::new(Vec::new()), done: Notify::new() });
    let driver = Driver::new(cycle, board.clone(), Clock::manual(Timestamp(0)));
    let kick = driver.kick();
    let stop = CancellationToken::new();
    tokio::join!(driver.run(stop.clone()), async {
        for (passes, why) in [(1, Activation::OnFailure), (2, Activation::Manual)] {
            while board.get("scripted.runtime").unwrap().passes < passes {
                tokio::task::yield_now().await;
            }
            kick.now(why);
            while board.get("scripted.runtime").unwrap().passes <= passes {
                tokio::task::yield_now().await;
            }
            assert_eq!(board.get("scripted.runtime").unwrap().last_activation, Some(why));
        }
        stop.cancel();
    });
}
