//! Plan → [`DaemonRuntimeBundle`], explicitly, top to bottom, in the order in which things depend on each other.
//! Building may look at secrets and open clients; it spawns nothing and writes nothing. A part that cannot be built
//! becomes a no-op with the reason; the rest is built.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deps::BundleDeps;
use crate::catalog::CATALOG;
use crate::engine::{EngineContext, ExecutionEngine};
use crate::model::class::{PortError, chain};
use crate::model::time::Clock;
use crate::platform::{Connector, ConnectorContext};
use crate::runtime::RuntimeRecord;
use crate::runtime::app_runtime::{AppRuntime, Slot};
use crate::runtime::disabled::DisabledRuntime;
use crate::runtime::ingest::IngestRuntime;
use crate::runtime::outbound::{Destination, OutboundParts, OutboundRuntime};
use crate::runtime::pending::PendingRuntime;
use crate::runtime::review::{DeskRule, ReviewDesk, ReviewRuntime};
use crate::runtime::scheduler::{SchedulerParts, SchedulerRuntime};
use crate::runtime::sync::{SyncLoop, SyncParts};
use crate::runtime::worker::{WorkerEngine, WorkerParts, WorkerRuntime};
use crate::supervise::{Board, Cycle, UnitState};
use crate::unit::plan::{ConnectorUnit, EngineUnit, Off, OffState, Plan, Standing};

/// Everything built from one plan, not yet started.
pub struct DaemonRuntimeBundle {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The number under which it is applied.
    pub generation: i64,
    /// All runtimes.
    pub app: Arc<AppRuntime>,
    /// Where decisions are made.
    pub desk: ReviewDesk,
    /// What each unit is doing; no-ops are entered at build.
    pub board: Board<RuntimeRecord>,
    /// Now.
    pub clock: Clock,
}

impl DaemonRuntimeBundle {
    /// Builds all parts.
    #[must_use]
    pub fn build(plan: Arc<Plan>, generation: i64, deps: BundleDeps) -> Self {
        let BundleDeps { store, secrets, scrubber, http, process, environment, clock, state_dir } = deps;
        let daemon = Arc::clone(&plan.daemon);
        let board = Board::default();

        tracing::debug!("building the connectors");
        let context = |unit: &ConnectorUnit| ConnectorContext {
            unit: unit.name.clone(),
            settings: unit.settings.clone(),
            secrets: Arc::clone(&secrets),
            clock: clock.clone(),
            state_dir: state_dir.join("connectors").join(&unit.name),
            http: http.clone(),
            process: process.clone(),
            environment: environment.clone(),
        };
        let connectors = parts(&plan.connectors, "connector", |unit| build_connector(unit, context(unit)));

        tracing::debug!("building the engines");
        let engine_context =
            EngineContext { secrets: Arc::clone(&secrets), http, process, environment, clock: clock.clone() };
        let engines = parts(&plan.engines, "engine", |unit| build_engine(unit, engine_context.clone()));

        tracing::debug!("building the sync loops");
        let mut sync = Vec::new();
        let mut destinations = BTreeMap::new();
        let mut rules = BTreeMap::new();
        for (name, part) in connectors {
            let (unit, connector) = match part {
                Part::On(unit, connector) => (unit, connector),
                Part::Off(disabled) => {
                    sync.push(Slot::Off(disabled));
                    continue;
                }
            };
            let rule = unit.outbound;
            rules.insert(name.clone(), DeskRule { outbound: rule, hold: unit.hold });
            destinations.insert(name, Destination { connector: Arc::clone(&connector), rule });
            sync.push(Slot::On(Arc::new(SyncLoop::new(SyncParts {
                unit,
                connector,
                store: store.clone(),
                secrets: Arc::clone(&secrets),
                scrubber: scrubber.clone(),
                clock: clock.clone(),
                generation,
            }))));
        }

        tracing::debug!("building ingest");
        let ingest = IngestRuntime::new(store.clone(), &plan);

        tracing::debug!("building the worker");
        let mut worker_engines = BTreeMap::new();
        for (name, part) in engines {
            match part {
                Part::On(unit, engine) => {
                    board.enter(&format!("{name}.engine"), UnitState::Active, None, clock.now());
                    worker_engines.insert(name, WorkerEngine::new(unit, engine));
                }
                Part::Off(disabled) => enter(&board, &disabled, &clock),
            }
        }
        let worker = WorkerRuntime::new(WorkerParts {
            store: store.clone(),
            plan: Arc::clone(&plan),
            engines: worker_engines,
            slots: daemon.workers,
            scratch: state_dir.join("runs"),
            scrubber: scrubber.clone(),
            board: board.clone(),
            clock: clock.clone(),
            generation,
        });

        tracing::debug!("building review");
        let desk = ReviewDesk::new(store.clone(), rules);
        let review = ReviewRuntime::new(desk.clone(), scrubber.clone());

        tracing::debug!("building outbound");
        let outbound = OutboundRuntime::new(OutboundParts {
            store: store.clone(),
            destinations,
            rehearsal: daemon.rehearsal,
            per_destination: daemon.senders,
            scrubber: scrubber.clone(),
            clock: clock.clone(),
        });

        tracing::debug!("building pending, scheduler, onboarding");
        let scheduler = SchedulerRuntime::new(SchedulerParts {
            store: store.clone(),
            plan: Arc::clone(&plan),
            board: board.clone(),
            scrubber: scrubber.clone(),
            clock: clock.clone(),
            generation,
        });
        let pending = PendingRuntime::new(store, clock.clone());
        let onboarding = not_yet("onboarding.runtime", "nothing to set up: units are edited by hand");

        let app = AppRuntime {
            sync,
            ingest: switched(&plan, IngestRuntime::UNIT, ingest),
            worker: switched(&plan, WorkerRuntime::UNIT, worker),
            review: switched(&plan, ReviewRuntime::UNIT, review),
            outbound: switched(&plan, OutboundRuntime::UNIT, outbound),
            pending: switched(&plan, PendingRuntime::UNIT, pending),
            scheduler: switched(&plan, SchedulerRuntime::UNIT, scheduler),
            onboarding,
            scrubber,
            clock: clock.clone(),
            generation,
        };
        for disabled in no_ops(&app) {
            enter(&board, disabled, &clock);
        }
        // Their drivers enter them again when they start.
        for unit in takes_part(&app) {
            board.enter(unit, UnitState::Activating, None, clock.now());
        }
        enter_routes(&board, &plan, &clock);
        Self { plan, generation, app: Arc::new(app), desk, board, clock }
    }
}

/// A built part, or the no-op in its place.
enum Part<U, T> {
    On(Arc<U>, T),
    Off(DisabledRuntime),
}

/// Builds each active unit of a kind; what cannot be built is off with the reason.
fn parts<U, T>(
    units: &BTreeMap<String, Standing<U>>,
    kind: &str,
    build: impl Fn(&Arc<U>) -> Result<T, PortError>,
) -> BTreeMap<String, Part<U, T>> {
    let one = |(name, standing): (&String, &Standing<U>)| {
        let full_name = format!("{name}.{kind}");
        let part = match standing {
            Standing::Off(off) => Part::Off(DisabledRuntime::new(full_name, off.clone())),
            Standing::Active(unit) => match build(unit) {
                Ok(built) => Part::On(Arc::clone(unit), built),
                Err(error) => {
                    let off = Off { state: OffState::BadSetting, reason: chain(&error), place: None };
                    Part::Off(DisabledRuntime::new(full_name, off))
                }
            },
        };
        (name.clone(), part)
    };
    units.iter().map(one).collect()
}

fn build_connector(unit: &ConnectorUnit, context: ConnectorContext) -> Result<Arc<dyn Connector>, PortError> {
    let spec = CATALOG.platform(&unit.platform).ok_or_else(|| unknown("platform", &unit.platform))?;
    (spec.build)(context)
}

fn build_engine(unit: &EngineUnit, context: EngineContext) -> Result<Arc<ExecutionEngine>, PortError> {
    let spec = CATALOG.engine(&unit.engine).ok_or_else(|| unknown("engine", &unit.engine))?;
    (spec.build)(unit, context).map(Arc::new)
}

fn unknown(what: &str, word: &str) -> PortError {
    PortError::new(crate::model::class::ErrorClass::Config, format!("build the {what} `{word}`: not known"))
}

/// A runtime, unless its unit switches it off.
fn switched<C>(plan: &Plan, unit: &str, cycle: C) -> Slot<C> {
    let word = unit.trim_end_matches(".runtime");
    match plan.runtimes.get(word) {
        Some(Standing::Off(off)) => Slot::Off(DisabledRuntime::new(unit, off.clone())),
        Some(Standing::Active(_)) | None => Slot::On(Arc::new(cycle)),
    }
}

fn not_yet(unit: &str, why: &str) -> DisabledRuntime {
    DisabledRuntime::new(unit, Off { state: OffState::Disabled, reason: why.to_owned(), place: None })
}

fn no_ops(app: &AppRuntime) -> Vec<&DisabledRuntime> {
    let mut found: Vec<&DisabledRuntime> = app.sync.iter().filter_map(Slot::off).collect();
    found.extend(app.ingest.off());
    found.extend(app.worker.off());
    found.extend(app.review.off());
    found.extend(app.outbound.off());
    found.extend(app.pending.off());
    found.extend(app.scheduler.off());
    found.push(&app.onboarding);
    found
}

fn takes_part(app: &AppRuntime) -> Vec<&str> {
    let mut found: Vec<&str> = app.sync.iter().filter_map(unit_of).collect();
    found.extend(unit_of(&app.ingest));
    found.extend(unit_of(&app.worker));
    found.extend(unit_of(&app.review));
    found.extend(unit_of(&app.outbound));
    found.extend(unit_of(&app.pending));
    found.extend(unit_of(&app.scheduler));
    found
}

fn unit_of<C: Cycle>(slot: &Slot<C>) -> Option<&str> {
    slot.on().map(|cycle| cycle.unit())
}

fn enter(board: &Board<RuntimeRecord>, disabled: &DisabledRuntime, clock: &Clock) {
    board.enter(disabled.unit(), UnitState::Inactive, Some(disabled.reason()), clock.now());
}

/// Routes and environments run nothing, and the scheduler runs the timers; those that are off are on the board with
/// their reason all the same.
fn enter_routes(board: &Board<RuntimeRecord>, plan: &Plan, clock: &Clock) {
    for (name, standing) in &plan.routes {
        enter_standing(board, &format!("{name}.route"), standing, clock);
    }
    for (name, standing) in &plan.timers {
        enter_standing(board, &format!("{name}.timer"), standing, clock);
    }
    for (name, standing) in &plan.envs {
        enter_standing(board, &format!("{name}.env"), standing, clock);
    }
}

fn enter_standing<U>(board: &Board<RuntimeRecord>, unit: &str, standing: &Standing<U>, clock: &Clock) {
    match standing {
        Standing::Active(_) => board.enter(unit, UnitState::Active, None, clock.now()),
        Standing::Off(off) => enter(board, &DisabledRuntime::new(unit, off.clone()), clock),
    }
}
