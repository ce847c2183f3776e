//! Start, swap and stop: a bundle's runtimes get their drivers; the next bundle takes over, driver by driver, only where
//! something changed; stopping takes intake first, then workers, then outbound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::factory::{DaemonRuntimeBundle, Succession};
use crate::model::live::Live;
use crate::runtime::RuntimeRecord;
use crate::runtime::app_runtime::{AppRuntime, Slot};
use crate::supervise::{Board, Cycle, Driver, Group, Kick, Kicks, Pulse, UnitState};
use crate::unit::plan::{EdgeKind, Kind, Plan, Standing, UnitName};

/// A started bundle.
pub struct RunningBundle {
    bundle: DaemonRuntimeBundle,
    drivers: Drivers,
    /// Drivers that were told to end, by unit: the next one of the unit begins after it.
    leaving: BTreeMap<String, Life>,
    kicks: Live<Kicks>,
    intake: Phase,
    workers: Phase,
    outbound: Phase,
}

/// The drivers that run, by unit. Cheap to clone; clones are the same.
type Drivers = Arc<Mutex<BTreeMap<String, Running>>>;

/// A driver that runs.
struct Running {
    /// Which cycle it drives: its address, for a unit of the same name may have been built anew.
    cycle: usize,
    kick: Kick,
    pulse: Pulse,
    life: Life,
}

/// How a driver is told to end, and tells that it has ended.
#[derive(Clone)]
struct Life {
    /// After the pass in flight.
    stop: CancellationToken,
    /// The pass in flight took too long after that, and was dropped: what it had not committed rolled back.
    cut: CancellationToken,
    /// It has ended, however.
    ended: CancellationToken,
}

/// Drivers that stop together.
struct Phase {
    group: Group,
    stop: CancellationToken,
}

/// How a stop went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopOutcome {
    /// Everything ended by itself in time.
    pub graceful: bool,
    /// What had to be cut.
    pub cut: Vec<String>,
}

/// After workers were told to give their cases back, they get this long to end engines and write.
const GIVE_BACK: Duration = Duration::from_secs(15);

/// A send in flight may take long (a mail server's final answer); after this it is left `sending`, which the next
/// start asks about.
const SEND_DEADLINE: Duration = Duration::from_secs(60);

/// The longest that [`RunningBundle::stop`] takes with this drain: intake and workers end, jobs end or are given back,
/// sends in flight come to their end. The packaged service files give a stop more than that.
#[must_use]
pub fn stop_time_max(drain: Duration) -> Duration {
    drain * 3 + GIVE_BACK + SEND_DEADLINE * 2
}

impl Phase {
    fn new(name: &'static str) -> Self {
        Self { group: Group::new(name), stop: CancellationToken::new() }
    }
}

/// What drives one unit of a bundle: makes its driver, which begins after the one before it has ended.
type Begin = Box<dyn FnOnce(&mut RunningBundle, Option<Life>) -> Task>;

/// A driver that is made and does not run yet.
struct Task {
    unit: String,
    group: Group,
    run: BoxFuture<'static, ()>,
}

/// A unit of a bundle that takes part.
struct Wanted {
    unit: String,
    cycle: usize,
    begin: Begin,
}

impl RunningBundle {
    /// Starts every runtime that takes part.
    #[must_use]
    pub fn start(bundle: DaemonRuntimeBundle) -> Self {
        let (intake, workers, outbound) =
            (Phase::new("intake"), Phase::new("workers"), Phase::new("outbound"));
        let (drivers, kicks) = (Drivers::default(), Live::new(Kicks::new()));
        let leaving = BTreeMap::new();
        let mut running = Self { bundle, drivers, leaving, kicks, intake, workers, outbound };
        running.drive(&BTreeSet::new());
        running
    }

    /// Lets the next bundle take over. Drivers of what did not change see nothing of it; those of what is gone or off
    /// end after the pass in flight; those of what changed end, and the new ones begin after them. `anew`: units whose
    /// driver begins anew in any case. Does not wait for any of it.
    pub fn swap(&mut self, next: Succession, anew: &BTreeSet<UnitName>) {
        let old = Arc::clone(&self.bundle.plan);
        self.bundle = next.begin(&old);
        self.drive(&anew.iter().map(ToString::to_string).collect());
    }

    /// Brings the drivers to what the bundle wants.
    fn drive(&mut self, anew: &BTreeSet<String>) {
        let wanted = wanted(&Arc::clone(&self.bundle.app));
        let names: BTreeSet<&str> = wanted.iter().map(|wanted| wanted.unit.as_str()).collect();
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.retain(|_, life| !life.ended.is_cancelled());
        self.lock().retain(|unit, running| {
            let stays = names.contains(unit.as_str());
            if !stays {
                running.life.stop.cancel();
                leaving.insert(unit.clone(), running.life.clone());
            }
            stays
        });
        let mut tasks = Vec::new();
        for Wanted { unit, cycle, begin } in wanted {
            let before = match self.lock().get(&unit) {
                Some(running) if running.cycle == cycle && !anew.contains(&unit) => continue,
                Some(running) => {
                    running.life.stop.cancel();
                    Some(running.life.clone())
                }
                None => leaving.get(&unit).cloned(),
            };
            tasks.push(begin(self, before));
        }
        self.leaving = leaving;
        let kicks = self.all_kicks();
        self.board().on_failure().set(on_failure(&self.bundle.plan, &kicks));
        self.kicks.set(kicks);
        // Only now: who fails at once must know whom to kick.
        for Task { unit, group, run } in tasks {
            group.spawn(unit, run);
        }
    }

    /// The kicks of all drivers, and of the timers that one of them looks after.
    fn all_kicks(&self) -> Kicks {
        let mut kicks: Kicks =
            self.lock().iter().map(|(unit, running)| (unit.clone(), running.kick.clone())).collect();
        let Some(scheduler) = self.bundle.app.scheduler.on() else { return kicks };
        for (name, standing) in &self.bundle.plan.timers {
            if let Standing::Active(_) = standing {
                // The board holds kicks, and the scheduler the board.
                let (scheduler, timer) = (Arc::downgrade(scheduler), name.clone());
                let kick = move |why| {
                    if let Some(scheduler) = scheduler.upgrade() {
                        scheduler.kick(&timer, why);
                    }
                };
                kicks.insert(format!("{name}.timer"), Kick::new(kick));
            }
        }
        kicks
    }

    /// Makes a driver that begins once `before` has ended.
    fn begin<C: Cycle<Record = RuntimeRecord>>(
        &mut self,
        cycle: &Arc<C>,
        phase: fn(&Self) -> &Phase,
        before: Option<Life>,
    ) -> Task {
        let unit = cycle.unit().to_owned();
        let stop = phase(self).stop.child_token();
        let life = Life { stop, cut: CancellationToken::new(), ended: CancellationToken::new() };
        let driver = Driver::new(Arc::clone(cycle), self.board().clone(), self.bundle.clock.clone());
        let pulse = Pulse::default();
        let kick = driver.kick();
        let running = Running { cycle: address(cycle), kick, pulse: pulse.clone(), life: life.clone() };
        self.lock().insert(unit.clone(), running);
        let (name, board, clock) = (unit.clone(), self.board().clone(), self.bundle.clock.clone());
        let patience = cycle.stop_timeout();
        let run = async move {
            let Life { stop, cut, ended } = life;
            // Told however the driver ends.
            let _ended = ended.drop_guard();
            if let Some(before) = before {
                before.ended.cancelled().await;
                // Off, gone or replaced again meanwhile: not even a first pass.
                if stop.is_cancelled() {
                    return;
                }
                // Its last pass has just been entered under this name.
                board.enter(&name, UnitState::Activating, None, clock.now());
            }
            let late = async {
                stop.cancelled().await;
                tokio::time::sleep(patience).await;
            };
            tokio::select! {
                biased;
                () = driver.run(stop.clone()) => {}
                () = late => {
                    tracing::warn!(unit = name, "did not end in time: its pass is cut");
                    cut.cancel();
                    board.update(&name, |status| {
                        status.running_since = None;
                        status.enter(UnitState::Stopped, clock.now());
                    });
                }
            }
        };
        let run = Box::pin(async move { pulse.beside(run).await });
        Task { unit, group: phase(self).group.clone(), run }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Running>> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bundle.
    #[must_use]
    pub fn bundle(&self) -> &DaemonRuntimeBundle {
        &self.bundle
    }

    /// What each unit is doing.
    #[must_use]
    pub fn board(&self) -> &Board<RuntimeRecord> {
        &self.bundle.board
    }

    /// Handles that run one cycle of a unit now, by full name; brought up to date by each swap.
    #[must_use]
    pub fn kicks(&self) -> Live<Kicks> {
        self.kicks.clone()
    }

    /// Tells whether every driver that should run still runs, and has answered since it was asked last; then asks again.
    /// For the service manager's watchdog.
    pub fn pulse(&self) -> impl Fn() -> bool + Send + 'static {
        let drivers = Arc::clone(&self.drivers);
        move || {
            let drivers = drivers.lock().unwrap_or_else(PoisonError::into_inner);
            let mut goes_on = true;
            for (unit, running) in drivers.iter() {
                let answers = running.pulse.is_answered();
                if !answers {
                    tracing::warn!(
                        unit,
                        "its driver does not go on: no sign of life for the service manager"
                    );
                }
                goes_on &= answers && !running.life.ended.is_cancelled();
                running.pulse.ask();
            }
            goes_on
        }
    }

    /// Stops in order. `drain`: how long running engines may go on; `hurry` shortens every wait.
    pub async fn stop(self, drain: Duration, hurry: &CancellationToken) -> StopOutcome {
        let mut cut = Vec::new();
        tracing::info!("stopping: intake first");
        for phase in [&self.intake, &self.workers] {
            phase.stop.cancel();
        }
        cut.extend(self.intake.group.stop(drain, hurry).await.aborted);
        cut.extend(self.workers.group.stop(drain, hurry).await.aborted);
        if let Some(worker) = self.bundle.app.worker.on() {
            let jobs = worker.group();
            let in_time = tokio::select! {
                done = tokio::time::timeout(drain, jobs.idle()) => done.is_ok(),
                () = hurry.cancelled() => jobs.is_empty(),
            };
            if !in_time {
                cut.extend(jobs.names());
                tracing::info!(still = ?jobs.names(), "giving running cases back to the queue");
                worker.cancel_jobs();
                jobs.stop(GIVE_BACK, &CancellationToken::new()).await;
            }
        }
        self.outbound.stop.cancel();
        cut.extend(self.outbound.group.stop(SEND_DEADLINE, hurry).await.aborted);
        if let Some(outbound) = self.bundle.app.outbound.on() {
            cut.extend(outbound.group().stop(SEND_DEADLINE, hurry).await.aborted);
        }
        let drivers = self.lock();
        let late = drivers.iter().filter(|(_, running)| running.life.cut.is_cancelled());
        cut.extend(late.map(|(unit, _)| unit.clone()));
        drop(drivers);
        StopOutcome { graceful: cut.is_empty(), cut }
    }
}

/// The units of a bundle that have a driver, in the order in which they start.
fn wanted(app: &AppRuntime) -> Vec<Wanted> {
    let mut all = Vec::new();
    for slot in &app.sync {
        want(&mut all, slot, |running| &running.intake);
    }
    want(&mut all, &app.ingest, |running| &running.intake);
    want(&mut all, &app.pending, |running| &running.intake);
    want(&mut all, &app.scheduler, |running| &running.intake);
    want(&mut all, &app.rotation, |running| &running.intake);
    want(&mut all, &app.worker, |running| &running.workers);
    want(&mut all, &app.review, |running| &running.workers);
    want(&mut all, &app.outbound, |running| &running.outbound);
    for slot in &app.channels {
        want(&mut all, slot, |running| &running.workers);
    }
    want(&mut all, &app.onboarding, |running| &running.intake);
    all
}

fn want<C: Cycle<Record = RuntimeRecord>>(
    all: &mut Vec<Wanted>,
    slot: &Slot<C>,
    phase: fn(&RunningBundle) -> &Phase,
) {
    let Some(cycle) = slot.on().cloned() else { return };
    all.push(Wanted {
        unit: cycle.unit().to_owned(),
        cycle: address(&cycle),
        begin: Box::new(move |running, before| running.begin(&cycle, phase, before)),
    });
}

/// Whom a unit kicks when it fails, for those that name some that can be kicked.
fn on_failure(plan: &Plan, kicks: &Kicks) -> BTreeMap<String, Kicks> {
    let mut named: BTreeMap<String, Kicks> = BTreeMap::new();
    for edge in plan.edges.iter().filter(|edge| edge.kind == EdgeKind::OnFailure && edge.from != edge.to) {
        let to = on_board(plan, &edge.to);
        if let Some(kick) = kicks.get(&to) {
            named.entry(on_board(plan, &edge.from)).or_default().insert(to, kick.clone());
        }
    }
    named
}

/// The name under which a unit runs: runtimes go by their word, however their unit is called.
fn on_board(plan: &Plan, unit: &UnitName) -> String {
    let word = plan.runtimes.iter().find_map(|(word, standing)| match standing {
        Standing::Active(runtime) if runtime.name == unit.name => Some(word),
        _ => None,
    });
    match word {
        Some(word) if unit.kind == Kind::Runtime => format!("{word}.{}", Kind::Runtime.word()),
        _ => unit.to_string(),
    }
}

fn address<C>(cycle: &Arc<C>) -> usize {
    Arc::as_ptr(cycle).addr()
}
