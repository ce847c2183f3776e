//! Plan → [`DaemonRuntimeBundle`], explicitly, top to bottom, in the order in which things depend on each other.
//! Building may look at secrets and open clients; it spawns nothing and writes nothing. A part that cannot be built
//! becomes a no-op with the reason; the rest is built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::board;
use super::channels::{Around, ChannelPart, channel, loops};
use super::deps::BundleDeps;
use super::unknown;
use crate::catalog::CATALOG;
use crate::engine::{EngineContext, ExecutionEngine};
use crate::model::class::{PortError, chain};
use crate::model::live::Live;
use crate::model::time::Clock;
use crate::platform::ConnectorContext;
use crate::runtime::RuntimeRecord;
use crate::runtime::app_runtime::{AppRuntime, Slot};
use crate::runtime::desk_rule::{DeskRule, DeskRules};
use crate::runtime::disabled::DisabledRuntime;
use crate::runtime::ingest::IngestRuntime;
use crate::runtime::notices::{ChannelLoop, Troubles};
use crate::runtime::onboarding::OnboardingRuntime;
use crate::runtime::outbound::{Destination, OutboundOrders, OutboundParts, OutboundRuntime};
use crate::runtime::pending::PendingRuntime;
use crate::runtime::review::{ReviewDesk, ReviewRuntime};
use crate::runtime::rotation::{RotationRuntime, Rotator, RotatorParts};
use crate::runtime::scheduler::{SchedulerParts, SchedulerRuntime};
use crate::runtime::sync::{SyncLoop, SyncParts};
use crate::runtime::worker::{ForRoute, WorkerEngine, WorkerOrders, WorkerParts, WorkerRuntime};
use crate::supervise::Board;
use crate::unit::plan::{
    ChannelUnit, ConnectorUnit, EngineUnit, Kind, Off, OffState, Plan, RouteUnit, Standing, UnitName,
};

/// Everything built from one plan, not yet started.
pub struct DaemonRuntimeBundle {
    /// The plan as it runs: where a unit could not be built anew, with the version that goes on.
    pub plan: Arc<Plan>,
    /// The number under which it is applied.
    pub generation: i64,
    /// All runtimes.
    pub app: Arc<AppRuntime>,
    /// Where decisions are made.
    pub desk: ReviewDesk,
    /// What channels tell beside drafts and cases; whoever knows it is to be named here.
    pub troubles: Troubles,
    /// The loops of the channels that are on, by unit name; the same place for all bundles.
    pub channels: Live<BTreeMap<String, Arc<ChannelLoop>>>,
    /// Replaces secrets.
    pub rotator: Arc<Rotator>,
    /// What each unit is doing; no-ops are entered at build.
    pub board: Board<RuntimeRecord>,
    /// Now.
    pub clock: Clock,
    parts: Parts,
    deps: BundleDeps,
}

/// The parts of a bundle that the next one takes over where nothing of theirs changed.
struct Parts {
    connectors: BTreeMap<String, ConnectorPart>,
    engines: BTreeMap<String, WorkerEngine>,
    channels: BTreeMap<String, ChannelPart>,
    rooms: Rooms,
}

/// A connector with its loop.
#[derive(Clone)]
struct ConnectorPart {
    unit: Arc<ConnectorUnit>,
    rule: DeskRule,
    sync: Arc<SyncLoop>,
}

/// The runtimes of which there is one, on or off. They live as long as the process; a reload hands them new orders.
#[derive(Clone)]
struct Rooms {
    generation: Live<i64>,
    ingest: Arc<IngestRuntime>,
    worker: Arc<WorkerRuntime>,
    review: Arc<ReviewRuntime>,
    outbound: Arc<OutboundRuntime>,
    pending: Arc<PendingRuntime>,
    scheduler: Arc<SchedulerRuntime>,
    onboarding: Arc<OnboardingRuntime>,
    rotation: Arc<RotationRuntime>,
}

/// What the runtimes of which there is one are told by a plan.
struct Orders {
    generation: i64,
    plan: Arc<Plan>,
    worker: WorkerOrders,
    desk: DeskRules,
    outbound: OutboundOrders,
}

/// The next bundle, built beside the one that runs. Nothing that runs knows of it until [`Succession::begin`].
pub struct Succession {
    /// The next bundle.
    pub bundle: DaemonRuntimeBundle,
    /// Units whose new version could not be built, with the reason. The old one goes on where there was one.
    pub failed: BTreeMap<UnitName, String>,
    orders: Orders,
}

impl Succession {
    /// The new plan counts from here on: runtimes get their new orders, the board what is on and off now. Drivers are
    /// the caller's.
    #[must_use]
    pub fn begin(self, old: &Plan) -> DaemonRuntimeBundle {
        let Self { bundle, orders, .. } = self;
        let Orders { generation, plan, worker, desk, outbound } = orders;
        let rooms = &bundle.parts.rooms;
        rooms.generation.set(generation);
        bundle.rotator.adopt(Arc::clone(&bundle.plan));
        rooms.ingest.adopt(&plan);
        rooms.worker.adopt(worker);
        bundle.desk.adopt(desk);
        bundle.channels.set(loops(&bundle.parts.channels));
        rooms.outbound.adopt(outbound);
        rooms.onboarding.adopt(&plan);
        rooms.pending.adopt(&plan);
        board::succeed(&bundle, old);
        // After the board, on which it writes the timers' next times.
        rooms.scheduler.adopt(plan, generation);
        bundle
    }
}

impl DaemonRuntimeBundle {
    /// Builds all parts.
    #[must_use]
    pub fn build(plan: Arc<Plan>, generation: i64, deps: BundleDeps) -> Self {
        let BundleDeps { store, scrubber, clock, state_dir, .. } = deps.clone();
        let board = Board::default();
        let number = Live::new(generation);
        let mut build =
            Build { deps: &deps, generation: &number, plan: (*plan).clone(), failed: BTreeMap::new() };
        let connectors = build.connectors(&BTreeMap::new(), &BTreeSet::new());
        let engines = build.engines(&BTreeMap::new(), &BTreeSet::new());
        tracing::debug!("building the desk");
        let desk = ReviewDesk::new(store.clone(), desk_rules(&connectors));
        let troubles = Troubles::default();
        let around = Around { desk: &desk, troubles: &troubles, board: &board };
        let channels = build.channels(around, &BTreeMap::new(), &BTreeSet::new());
        let plan = Arc::new(build.plan);
        let orders = orders(&plan, generation, &connectors, &engines);

        tracing::debug!("building ingest");
        let ingest = IngestRuntime::new(store.clone(), &plan);
        tracing::debug!("building the worker");
        let worker = WorkerRuntime::new(WorkerParts {
            store: store.clone(),
            orders: orders.worker,
            scratch: state_dir.join("runs"),
            scrubber: scrubber.clone(),
            board: board.clone(),
            clock: clock.clone(),
        });
        tracing::debug!("building review");
        let review = ReviewRuntime::new(desk.clone(), scrubber.clone());
        tracing::debug!("building outbound");
        let outbound = OutboundRuntime::new(OutboundParts {
            store: store.clone(),
            orders: orders.outbound,
            secrets: deps.secrets.clone().shared(),
            scrubber: scrubber.clone(),
            clock: clock.clone(),
        });
        tracing::debug!("building the scheduler");
        let scheduler = SchedulerRuntime::new(SchedulerParts {
            store: store.clone(),
            plan: Arc::clone(&plan),
            board: board.clone(),
            scrubber: scrubber.clone(),
            clock: clock.clone(),
            generation,
        });
        tracing::debug!("building rotation");
        let parts = RotatorParts {
            secrets: deps.secrets.clone(),
            http: deps.http.clone(),
            store: store.clone(),
            scrubber,
            clock: clock.clone(),
        };
        let rotator = Arc::new(Rotator::new(parts, Arc::clone(&plan)));
        tracing::debug!("building pending");
        let pending = PendingRuntime::new(store.clone(), clock.clone(), &plan);
        tracing::debug!("building onboarding");
        let onboarding = OnboardingRuntime::new(store, &plan, board.clone());

        let rooms = Rooms {
            generation: number,
            ingest: Arc::new(ingest),
            worker: Arc::new(worker),
            review: Arc::new(review),
            outbound: Arc::new(outbound),
            pending: Arc::new(pending),
            scheduler: Arc::new(scheduler),
            onboarding: Arc::new(onboarding),
            rotation: Arc::new(RotationRuntime::new(Arc::clone(&rotator))),
        };
        let app = Arc::new(app(&plan, generation, (&connectors, &channels), &rooms, &deps));
        let parts = Parts { connectors, engines, channels, rooms };
        let channels = Live::new(loops(&parts.channels));
        let bundle =
            Self { plan, generation, app, desk, troubles, channels, rotator, board, clock, parts, deps };
        board::enter_all(&bundle);
        bundle
    }

    /// Builds what the plan says differently, beside this bundle; the rest is taken over. `anew`: units to build again
    /// although nothing of theirs changed. Nothing that runs is touched.
    #[must_use]
    pub fn next(&self, plan: Plan, generation: i64, anew: &BTreeSet<UnitName>) -> Succession {
        let rooms = self.parts.rooms.clone();
        let mut build =
            Build { deps: &self.deps, generation: &rooms.generation, plan, failed: BTreeMap::new() };
        let connectors = build.connectors(&self.parts.connectors, anew);
        let engines = build.engines(&self.parts.engines, anew);
        let around = Around { desk: &self.desk, troubles: &self.troubles, board: &self.board };
        let channels = build.channels(around, &self.parts.channels, anew);
        let Build { plan, failed, .. } = build;
        let plan = Arc::new(plan);
        let orders = orders(&plan, generation, &connectors, &engines);
        let app = Arc::new(app(&plan, generation, (&connectors, &channels), &rooms, &self.deps));
        let bundle = Self {
            plan,
            generation,
            app,
            desk: self.desk.clone(),
            troubles: self.troubles.clone(),
            channels: self.channels.clone(),
            rotator: Arc::clone(&self.rotator),
            board: self.board.clone(),
            clock: self.clock.clone(),
            parts: Parts { connectors, engines, channels, rooms },
            deps: self.deps.clone(),
        };
        Succession { bundle, failed, orders }
    }
}

/// What is being built from a plan. What cannot be built is written into the plan as off, or as the version that goes on.
struct Build<'a> {
    deps: &'a BundleDeps,
    generation: &'a Live<i64>,
    plan: Plan,
    failed: BTreeMap<UnitName, String>,
}

impl Build<'_> {
    fn connectors(
        &mut self,
        old: &BTreeMap<String, ConnectorPart>,
        anew: &BTreeSet<UnitName>,
    ) -> BTreeMap<String, ConnectorPart> {
        tracing::debug!("building the connectors");
        let (deps, generation) = (self.deps, self.generation);
        let before = Before { kind: Kind::Connector, parts: old, unit: |part| &part.unit, anew };
        let build = |unit: &Arc<ConnectorUnit>| connector(unit, deps, generation);
        before.carry(&mut self.plan.connectors, build, &mut self.plan.kept, &mut self.failed)
    }

    fn engines(
        &mut self,
        old: &BTreeMap<String, WorkerEngine>,
        anew: &BTreeSet<UnitName>,
    ) -> BTreeMap<String, WorkerEngine> {
        tracing::debug!("building the engines");
        let BundleDeps { secrets, http, process, environment, clock, .. } = self.deps.clone();
        let secrets = secrets.shared();
        let context = EngineContext { secrets, http, process, environment, clock };
        let before = Before { kind: Kind::Engine, parts: old, unit: WorkerEngine::unit, anew };
        let build =
            |unit: &Arc<EngineUnit>| Ok(WorkerEngine::new(Arc::clone(unit), engine(unit, context.clone())?));
        let mut engines = before.carry(&mut self.plan.engines, build, &mut self.plan.kept, &mut self.failed);
        add_routes(&mut engines, old, &mut self.plan.routes, &context);
        engines
    }

    fn channels(
        &mut self,
        around: Around<'_>,
        old: &BTreeMap<String, ChannelPart>,
        anew: &BTreeSet<UnitName>,
    ) -> BTreeMap<String, ChannelPart> {
        let deps = self.deps;
        let before = Before { kind: Kind::Channel, parts: old, unit: |part| &part.unit, anew };
        let build = |unit: &Arc<ChannelUnit>| channel(unit, deps, around);
        before.carry(&mut self.plan.channels, build, &mut self.plan.kept, &mut self.failed)
    }
}

/// The parts of one kind that run.
struct Before<'a, U, P> {
    kind: Kind,
    parts: &'a BTreeMap<String, P>,
    unit: fn(&P) -> &Arc<U>,
    anew: &'a BTreeSet<UnitName>,
}

impl<U: PartialEq, P: Clone> Before<'_, U, P> {
    /// The parts of a plan's active units: those that run where nothing of theirs changed, else built. One that cannot be
    /// built goes on as it runs, or is off.
    fn carry(
        &self,
        standings: &mut BTreeMap<String, Standing<U>>,
        build: impl Fn(&Arc<U>) -> Result<P, PortError>,
        kept: &mut BTreeMap<UnitName, Off>,
        failed: &mut BTreeMap<UnitName, String>,
    ) -> BTreeMap<String, P> {
        let mut parts = BTreeMap::new();
        for (name, standing) in standings {
            let Standing::Active(unit) = standing else { continue };
            let full = UnitName { name: name.clone(), kind: self.kind };
            let before = self.parts.get(name);
            let same = before.filter(|part| (self.unit)(part) == unit && !self.anew.contains(&full));
            let built = same.map_or_else(|| build(unit), |part| Ok(part.clone()));
            match (built, before) {
                (Ok(part), _) => {
                    parts.insert(name.clone(), part);
                }
                (Err(error), before) => {
                    let why = chain(&error);
                    let off = Off { state: OffState::BadSetting, reason: why.clone(), place: None };
                    match before {
                        Some(part) => {
                            *standing = Standing::Active(Arc::clone((self.unit)(part)));
                            kept.insert(full.clone(), off);
                            parts.insert(name.clone(), part.clone());
                        }
                        None => *standing = Standing::Off(off),
                    }
                    failed.insert(full, why);
                }
            }
        }
        parts
    }
}

fn connector(
    unit: &Arc<ConnectorUnit>,
    deps: &BundleDeps,
    generation: &Live<i64>,
) -> Result<ConnectorPart, PortError> {
    let BundleDeps { store, secrets, scrubber, http, process, environment, clock, state_dir } = deps.clone();
    let secrets = secrets.shared();
    let spec = CATALOG.platform(&unit.platform).ok_or_else(|| unknown("platform", &unit.platform))?;
    let connector = (spec.build)(ConnectorContext {
        unit: unit.name.clone(),
        settings: unit.settings.clone(),
        secrets: Arc::clone(&secrets),
        clock: clock.clone(),
        state_dir: state_dir.join("connectors").join(&unit.name),
        http,
        process,
        environment,
    })?;
    let sync = Arc::new(SyncLoop::new(SyncParts {
        unit: Arc::clone(unit),
        connector: Arc::clone(&connector),
        store,
        secrets,
        scrubber,
        clock,
        generation: generation.clone(),
    }));
    let rule = DeskRule::of(unit, connector)?;
    Ok(ConnectorPart { unit: Arc::clone(unit), rule, sync })
}

fn engine(unit: &EngineUnit, context: EngineContext) -> Result<Arc<ExecutionEngine>, PortError> {
    let spec = CATALOG.engine(&unit.engine).ok_or_else(|| unknown("engine", &unit.engine))?;
    (spec.build)(unit, context).map(Arc::new)
}

/// Adds what routes with an environment of their own need. A route for which an engine cannot be built that way is off:
/// without that environment its cases would be worked by another rule than the written one.
fn add_routes(
    engines: &mut BTreeMap<String, WorkerEngine>,
    old: &BTreeMap<String, WorkerEngine>,
    routes: &mut BTreeMap<String, Standing<RouteUnit>>,
    context: &EngineContext,
) {
    let mut parts: BTreeMap<String, BTreeMap<String, ForRoute>> = BTreeMap::new();
    for (route, standing) in routes {
        let Standing::Active(unit) = standing else { continue };
        if unit.env.is_empty() {
            continue;
        }
        let mut broken = None;
        for name in &unit.engines {
            let Some(part) = engines.get(name) else { continue };
            let before = old.get(name).filter(|before| Arc::ptr_eq(before.unit(), part.unit()));
            let same = before.and_then(|before| before.route(route)).filter(|same| same.env == unit.env);
            let built = same.map_or_else(
                || {
                    let with = part.unit().in_route(unit);
                    engine(&with, context.clone()).map(|engine| ForRoute { env: unit.env.clone(), engine })
                },
                |same| Ok(same.clone()),
            );
            match built {
                Ok(built) => drop(parts.entry(name.clone()).or_default().insert(route.clone(), built)),
                Err(error) => broken = Some(chain(&error)),
            }
        }
        if let Some(reason) = broken {
            *standing = Standing::Off(Off { state: OffState::BadSetting, reason, place: None });
        }
    }
    for (name, part) in engines {
        part.set_routes(parts.remove(name).unwrap_or_default());
    }
}

fn desk_rules(connectors: &BTreeMap<String, ConnectorPart>) -> DeskRules {
    Arc::new(connectors.iter().map(|(name, part)| (name.clone(), part.rule.clone())).collect())
}

fn orders(
    plan: &Arc<Plan>,
    generation: i64,
    connectors: &BTreeMap<String, ConnectorPart>,
    engines: &BTreeMap<String, WorkerEngine>,
) -> Orders {
    let desk = desk_rules(connectors);
    let destinations = desk.iter().filter_map(|(name, rule)| {
        let part = connectors.get(name)?;
        let secrets = part.unit.settings.secrets();
        Some((name.clone(), Destination { rule: rule.clone(), secrets, shadow: part.unit.shadow }))
    });
    let destinations = destinations.collect();
    Orders {
        generation,
        plan: Arc::clone(plan),
        worker: WorkerOrders {
            plan: Arc::clone(plan),
            engines: engines.clone(),
            slots: plan.daemon.workers,
            generation,
        },
        desk,
        outbound: OutboundOrders {
            destinations,
            rehearsal: plan.daemon.rehearsal,
            per_destination: plan.daemon.senders,
        },
    }
}

fn app(
    plan: &Plan,
    generation: i64,
    (connectors, channels): (&BTreeMap<String, ConnectorPart>, &BTreeMap<String, ChannelPart>),
    rooms: &Rooms,
    deps: &BundleDeps,
) -> AppRuntime {
    let sync = plan.connectors.iter().filter_map(|(name, standing)| match standing {
        Standing::Off(off) => {
            Some(Slot::Off(DisabledRuntime::new(&format!("{name}.connector"), off.clone())))
        }
        Standing::Active(_) => Some(Slot::On(Arc::clone(&connectors.get(name)?.sync))),
    });
    AppRuntime {
        sync: sync.collect(),
        channels: channels.values().map(|part| Slot::On(Arc::clone(&part.cycle))).collect(),
        ingest: switched(plan, IngestRuntime::UNIT, &rooms.ingest),
        worker: switched(plan, WorkerRuntime::UNIT, &rooms.worker),
        review: switched(plan, ReviewRuntime::UNIT, &rooms.review),
        outbound: switched(plan, OutboundRuntime::UNIT, &rooms.outbound),
        pending: switched(plan, PendingRuntime::UNIT, &rooms.pending),
        scheduler: switched(plan, SchedulerRuntime::UNIT, &rooms.scheduler),
        onboarding: switched(plan, OnboardingRuntime::UNIT, &rooms.onboarding),
        rotation: switched(plan, RotationRuntime::UNIT, &rooms.rotation),
        scrubber: deps.scrubber.clone(),
        clock: deps.clock.clone(),
        generation,
    }
}

/// A runtime, unless its unit switches it off.
fn switched<C>(plan: &Plan, unit: &str, cycle: &Arc<C>) -> Slot<C> {
    let word = unit.trim_end_matches(".runtime");
    match plan.runtimes.get(word) {
        Some(Standing::Off(off)) => Slot::Off(DisabledRuntime::new(unit, off.clone())),
        Some(Standing::Active(_)) | None => Slot::On(Arc::clone(cycle)),
    }
}
