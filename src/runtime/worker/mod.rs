//! The worker runtime: claims queued cases for engines with a free place, runs them as jobs, records what they came
//! to. A case is leased; the lease is extended while its job lives and fences every write.

mod engine_state;
mod job;
pub mod money;
mod pass_on;
mod places;
mod replay;
mod request;
mod verdict;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use self::engine_state::EngineStates;
use self::places::{Pace, Places};
use super::jobs::{Ended, Jobs};
use super::points::Point;
use super::{RuntimeRecord, cycle_error, store_fault};
use crate::engine::ExecutionEngine;
use crate::engine::router::Router;
use crate::model::class::chain;
use crate::model::cycle::{CycleError, RuntimeSummary, WorkerSummary};
use crate::model::limits;
use crate::model::live::Live;
use crate::model::run::RunLimits;
use crate::model::time::Clock;
use crate::secret::scrub::Scrubber;
use crate::store::{Due, Store, StoreError};
use crate::supervise::{Board, Cycle, Group, Next, Pass};
use crate::unit::plan::{EngineUnit, EnvUnit, Plan};

/// Runs between two looks at how many prompts are kept.
const PRUNE_RUNS: usize = 64;

/// An engine with its unit.
#[derive(Clone)]
pub struct WorkerEngine {
    unit: Arc<EngineUnit>,
    engine: Arc<ExecutionEngine>,
    by_route: BTreeMap<String, ForRoute>,
}

/// The same engine with the environment of a route.
#[derive(Clone)]
pub struct ForRoute {
    /// What the route adds.
    pub env: Vec<Arc<EnvUnit>>,
    /// The engine as it is built with that.
    pub engine: Arc<ExecutionEngine>,
}

impl WorkerEngine {
    /// An engine as configured.
    #[must_use]
    pub fn new(unit: Arc<EngineUnit>, engine: Arc<ExecutionEngine>) -> Self {
        Self { unit, engine, by_route: BTreeMap::new() }
    }

    /// Takes what routes add to its environment, by the name of the route.
    pub fn set_routes(&mut self, by_route: BTreeMap<String, ForRoute>) {
        self.by_route = by_route;
    }

    /// As it was built for a route.
    #[must_use]
    pub fn route(&self, name: &str) -> Option<&ForRoute> {
        self.by_route.get(name)
    }

    /// For a case: with the environment of its route.
    fn of(&self, route: Option<&str>) -> &ExecutionEngine {
        route.and_then(|name| self.route(name)).map_or(&self.engine, |part| &part.engine)
    }

    /// Its unit.
    #[must_use]
    pub fn unit(&self) -> &Arc<EngineUnit> {
        &self.unit
    }

    fn limits(&self) -> RunLimits {
        RunLimits {
            first_event: self.unit.first_event_timeout,
            idle: self.unit.idle_timeout,
            total: self.unit.timeout,
        }
    }
}

/// What the worker is made of.
#[derive(Clone)]
pub struct WorkerParts {
    /// The record.
    pub store: Store,
    /// What the plan says.
    pub orders: WorkerOrders,
    /// Where run directories are made.
    pub scratch: PathBuf,
    /// Masks what engines print.
    pub scrubber: Scrubber,
    /// Where each engine's last runs are shown.
    pub board: Board<RuntimeRecord>,
    /// Now.
    pub clock: Clock,
}

/// The part of the worker that comes from a plan.
#[derive(Clone)]
pub struct WorkerOrders {
    /// Routes and their prompts.
    pub plan: Arc<Plan>,
    /// Active engines by unit name.
    pub engines: BTreeMap<String, WorkerEngine>,
    /// Cases at once, over all engines.
    pub slots: usize,
    /// The plan generation.
    pub generation: i64,
}

/// What every job shares. A job keeps the one it began with, also over a reload.
struct Shared {
    parts: WorkerParts,
    router: Router,
    engines: Arc<EngineStates>,
    cancel: CancellationToken,
}

/// Claims cases and runs engines.
pub struct WorkerRuntime {
    shared: Live<Shared>,
    jobs: Jobs<JobEnd>,
    /// The engine that the next pass looks at first, so that a busy one starves no other.
    turn: Mutex<usize>,
    /// When runs began, for engines that may begin only so many.
    pace: Pace,
    /// Runs that ended since old prompts were let go of.
    unpruned: AtomicUsize,
}

/// What one job came to, for the summary.
#[derive(Debug, PartialEq, Eq)]
enum JobEnd {
    Draft,
    NothingToDo,
    Failed(CycleError),
    Parked(Option<CycleError>),
    GivenBack,
    Replayed,
}

impl WorkerRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "worker.runtime";

    /// No job runs yet.
    #[must_use]
    pub fn new(parts: WorkerParts) -> Self {
        let router = Router::new(&parts.orders.plan);
        let engines = Arc::new(EngineStates::new(parts.board.clone()));
        let shared = Shared { parts, router, engines, cancel: CancellationToken::new() };
        Self {
            shared: Live::new(shared),
            jobs: Jobs::new("worker"),
            turn: Mutex::new(0),
            pace: Pace::default(),
            unpruned: AtomicUsize::new(PRUNE_RUNS),
        }
    }

    /// Takes over another plan. Running jobs go on with the one they began with.
    pub fn adopt(&self, orders: WorkerOrders) {
        let old = self.shared.get();
        let router = Router::new(&orders.plan);
        let parts = WorkerParts { orders, ..old.parts.clone() };
        self.shared.set(Shared {
            parts,
            router,
            engines: Arc::clone(&old.engines),
            cancel: old.cancel.clone(),
        });
        old.parts.store.wakeups().worker.notify_one();
    }

    /// Jobs in flight, for stopping.
    #[must_use]
    pub fn group(&self) -> &Group {
        self.jobs.group()
    }

    /// A job runs, or has ended and was not counted yet.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.jobs.is_unsettled()
    }

    /// Tells running jobs to end their engines and give their cases back.
    pub fn cancel_jobs(&self) {
        self.shared.get().cancel.cancel();
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let mut summary = WorkerSummary::default();
        let mut errors = Vec::new();
        let started = self.start(&mut summary).await;
        self.collect(&mut summary, &mut errors);
        self.prune().await;
        let fitted = if summary.failed > 0 { self.fit_queue().await } else { Ok(()) };
        let (fault, next) = match fitted.and(started) {
            Ok(next) => (None, next),
            Err(error) => (Some(store_fault("claim cases", &error)), Next::WhenWoken),
        };
        let fresh = summary.drafts > 0;
        let record = RuntimeRecord { summary: RuntimeSummary::Worker(summary), errors };
        Pass { record, fault, next, fresh, tried: true }
    }

    async fn start(&self, summary: &mut WorkerSummary) -> Result<Next, StoreError> {
        let shared = self.shared.get();
        let (parts, orders) = (&shared.parts, &shared.parts.orders);
        summary.reaped = parts.store.reap(limits::CASE_ATTEMPTS_MAX).await?;
        if shared.cancel.is_cancelled() {
            return Ok(Next::WhenWoken);
        }
        let pauses = parts.store.pauses().await?;
        if let Some(all) = pauses.all {
            return Ok(all.until.map_or(Next::WhenWoken, Next::At));
        }
        let rests = parts.store.rests().await?;
        pass_on::pass_on(&shared, &rests).await?;
        let places = Places { orders, rests: &rests, jobs: &self.jobs, pace: &self.pace };
        let mut wake = places.ends_of_rests();
        let names: Vec<&String> = orders.engines.keys().collect();
        let first = {
            let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            *turn = turn.wrapping_add(1);
            *turn
        };
        for index in 0..names.len() {
            let Some(name) = names.get((first + index) % names.len()) else { continue };
            let Some(engine) = orders.engines.get(*name) else { continue };
            if let Some(pause) = pauses.of(&format!("{name}.engine")) {
                wake.extend(pause.until);
                continue;
            }
            let free = match places.free(engine, &parts.store).await? {
                Ok(free) => free,
                Err(until) => {
                    wake.extend(until);
                    continue;
                }
            };
            for lease in parts.store.claim(name, free, limits::LEASE).await? {
                Point::AfterClaim.pass();
                summary.claimed += 1;
                self.pace.began(&engine.unit, parts.clock.now());
                let task = lease.case.id.to_string();
                let doubted = rests.is_doubted(name);
                let job = job::run(Arc::clone(&shared), engine.clone(), lease, doubted);
                self.jobs.start(places::lanes(&engine.unit), task, job);
            }
        }
        self.start_replays(&shared, &places).await?;
        // Jobs wake the next pass by their end; time alone matters for rests, for the pace of engines, and for leases that
        // no job of ours holds.
        let leases = if self.jobs.running() == 0 { parts.store.next_due(Due::Leases).await? } else { None };
        Ok(wake.into_iter().chain(leases).min().map_or(Next::WhenWoken, Next::At))
    }

    /// A job goes by the plan that it began with: what it falls back on may be gone by its end.
    async fn fit_queue(&self) -> Result<(), StoreError> {
        let shared = self.shared.get();
        let engines = shared.parts.orders.plan.engines_waited_for();
        shared.parts.store.reroute_queued(&engines).await.map(drop)
    }

    /// Lets go of old prompts, now and then.
    async fn prune(&self) {
        if self.unpruned.load(Ordering::Relaxed) < PRUNE_RUNS {
            return;
        }
        self.unpruned.store(0, Ordering::Relaxed);
        let store = &self.shared.get().parts.store;
        for done in [store.prune_prompts().await, store.forget_replays().await] {
            if let Err(error) = done {
                tracing::debug!("{}", chain(&error));
            }
        }
    }

    fn collect(&self, summary: &mut WorkerSummary, errors: &mut Vec<CycleError>) {
        let shared = self.shared.get();
        for ended in self.jobs.take_results() {
            self.unpruned.fetch_add(1, Ordering::Relaxed);
            match ended {
                Ended::Well(JobEnd::Draft) => summary.drafts += 1,
                Ended::Well(JobEnd::NothingToDo) => summary.nothing_to_do += 1,
                Ended::Well(JobEnd::GivenBack | JobEnd::Replayed) => {}
                Ended::Well(JobEnd::Failed(error)) => {
                    summary.failed += 1;
                    errors.push(error);
                }
                Ended::Well(JobEnd::Parked(error)) => {
                    summary.parked += 1;
                    errors.extend(error);
                }
                Ended::Panicked(name) => {
                    summary.failed += 1;
                    let message = format!("the job on case {name} panicked; its lease runs out");
                    errors.push(cycle_error(Self::UNIT, "bug", &message, &shared.parts.scrubber));
                }
            }
        }
    }
}

impl Cycle for WorkerRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        let shared = self.shared.get();
        Box::pin(async move {
            tokio::select! {
                () = shared.parts.store.wakeups().worker.notified() => {}
                () = self.jobs.ended() => {}
            }
        })
    }
}

/// A store error inside a job, for the record of the pass.
fn job_error(shared: &Shared, unit: &str, error: &StoreError) -> CycleError {
    cycle_error(unit, "network", &chain(error), &shared.parts.scrubber)
}
