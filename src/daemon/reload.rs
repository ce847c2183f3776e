//! The one way in which unit files become live: for the watcher, SIGHUP, `systemctl --user reload` and `workagent reload`
//! alike; orders to single units go the same way, as a change of what is held back.

mod changes;
mod named;
mod told;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use self::changes::{Changes, Side, differing, needs_restart};
use self::named::{named, still_off};
use self::told::only_about;
pub(super) use self::told::status_line;
use super::assembly::fit_to_plan;
use super::facts::Answers;
use super::findings::FindingLog;
use super::holds::{DEFAULT_TARGET, Holds, with_parts};
use super::logging::Log;
use super::plans::KeptPlan;
use super::run::PROCESS_STOP;
use super::service_manager::ServiceManager;
use super::unit_source::UnitSource;
use super::watch::{WatchMode, WatchModes, too_young};
use crate::bundle::RunningBundle;
use crate::bundle::running::{StopOutcome, stop_time_max};
use crate::control::api::Present;
use crate::control::manager::{LogLevels, Manager, Why};
use crate::control::server::Fault;
use crate::control::wire::units::{ReloadOutcome, ReloadView, UnitOrder, WatchedDir};
use crate::diag::Counts;
use crate::model::class::chain;
use crate::model::cycle::Activation;
use crate::model::environment::Environment;
use crate::model::live::Live;
use crate::model::time::{Clock, Timestamp};
use crate::secret::SecretStore;
use crate::secret::places::Places;
use crate::secret::secrets::Secrets;
use crate::store::Store;
use crate::supervise::UnitState;
use crate::unit::compile::Compiled;
use crate::unit::condition;
use crate::unit::plan::{Kind, Plan, Standing, UnitName};

/// Where the units of a running daemon are changed. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Reloader(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    present: Live<Present>,
    rooms: Rooms,
}

/// What a reload works with besides the units.
pub struct Rooms {
    /// The record.
    pub store: Store,
    /// To see whether a secret is there.
    pub secrets: Secrets,
    /// The daemon's environment.
    pub environment: Environment,
    /// Now.
    pub clock: Clock,
    /// Told of a reload while it goes on.
    pub service: ServiceManager,
    /// How the directories of unit files are watched.
    pub watched: WatchModes,
    /// What is logged, by the daemon unit and by hand.
    pub log: Log,
    /// Told when another plan counts.
    pub told: Arc<Notify>,
}

/// What the daemon was started from.
pub struct Start {
    /// The unit files, looked at once.
    pub files: UnitSource,
    /// What they said.
    pub compiled: Arc<Compiled>,
    /// The bundle built from it.
    pub running: RunningBundle,
}

struct Inner {
    files: UnitSource,
    /// What the unit files said when they were last looked at.
    compiled: Arc<Compiled>,
    /// Hash of the plan that runs, before anything is held back.
    hash: String,
    holds: Holds,
    /// `None` once it is stopped.
    running: Option<RunningBundle>,
    said: FindingLog,
    /// Units whose new version could not be built; the one before goes on.
    unbuilt: BTreeSet<UnitName>,
    /// The daemon unit in canonical form as it was at the start.
    started: Option<Arc<str>>,
}

impl Inner {
    /// The plan that runs, and which of its units run an older version by what the files say now. A unit that breaks or
    /// is mended to what runs anyway changes only this.
    fn with_kept(&self, running: &Arc<Plan>, source: &Compiled) -> Arc<Plan> {
        let mut kept = running.kept.clone();
        kept.retain(|name, _| self.unbuilt.contains(name));
        let broken = source.plan.kept.iter().filter(|(name, _)| running.is_on(name));
        kept.extend(broken.map(|(name, off)| (name.clone(), off.clone())));
        if kept == running.kept {
            return Arc::clone(running);
        }
        Arc::new(Plan { kept, ..(**running).clone() })
    }
}

/// What is to become live.
struct Aim {
    compiled: Arc<Compiled>,
    holds: Holds,
    /// Units that begin again although nothing of theirs changed.
    anew: BTreeSet<UnitName>,
}

impl Reloader {
    /// Takes over a running bundle. `present`: what the control API tells of it, kept up to date from here on.
    #[must_use]
    pub fn new(rooms: Rooms, start: Start, present: Live<Present>) -> Self {
        let Start { mut files, compiled, running } = start;
        let pinned = files.pinned();
        let source = pinned.as_ref().map_or(&*compiled, |pinned| &pinned.compiled);
        files.remember(source);
        if pinned.is_none() {
            // What breaks next has a last good version even if it is only met by the next start.
            let kept = KeptPlan::of(source, running.bundle().generation, rooms.clock.now());
            if let Err(error) = files.plans().keep(&kept) {
                tracing::error!("keep the plan on disk: {}", chain(&error));
            }
        }
        rooms.log.set_generation(running.bundle().generation);
        let mut said = FindingLog::default();
        said.say(&compiled);
        let inner = Inner {
            hash: source.plan.hash.clone(),
            started: daemon_text(source).cloned(),
            files,
            compiled,
            holds: Holds::default(),
            running: Some(running),
            said,
            unbuilt: BTreeSet::new(),
        };
        Self(Arc::new(Shared { inner: Mutex::new(inner), present, rooms }))
    }

    /// Stops the bundle in order; later reloads are refused. Waits for a reload that goes on.
    pub async fn stop(&self, hurry: &CancellationToken) -> StopOutcome {
        let running = self.0.inner.lock().await.running.take();
        match running {
            Some(running) => {
                let drain = running.bundle().plan.daemon.stop_timeout;
                running.stop(drain, hurry).await
            }
            None => StopOutcome { graceful: true, cut: Vec::new() },
        }
    }

    /// The longest that [`Self::stop`] takes from now on.
    pub async fn stop_time_max(&self) -> Duration {
        let inner = self.0.inner.lock().await;
        let drain = inner.running.as_ref().map(|running| running.bundle().plan.daemon.stop_timeout);
        stop_time_max(drain.unwrap_or_default()) + PROCESS_STOP
    }

    async fn look_again(&self, why: Why, dry_run: bool) -> Result<ReloadView, Fault> {
        let Rooms { clock, service, .. } = &self.0.rooms;
        let begun = clock.now();
        let mut inner = self.0.inner.lock().await;
        // The service manager waits for the end of a reload it asked for, whatever comes of it.
        let reloading = (why != Why::Watch && !dry_run).then(|| service.reloading());
        let mut compiled = at_length(|| inner.files.look(clock.now()));
        if let Some(wait) = too_young(&compiled, clock.now()) {
            tokio::time::sleep(wait).await;
            compiled = at_length(|| inner.files.look(clock.now()));
        }
        let compiled = Arc::new(compiled);
        if !dry_run {
            inner.said.say(&compiled);
        }
        let aim = Aim { compiled, anew: BTreeSet::new(), holds: inner.holds.clone() };
        let view = self.apply(&mut inner, aim, dry_run, begun).await?;
        if let (Some(reloading), Some(running)) = (reloading, &inner.running) {
            reloading.done(&status_line(running, view.errors));
        }
        drop(inner);
        let applied = matches!(view.outcome, ReloadOutcome::Applied | ReloadOutcome::AppliedWithFailures);
        // What is wrong with the files was said when it was new; not again with each look.
        if !dry_run && (applied || why != Why::Watch) {
            tracing::info!(
                outcome = view.outcome.word(),
                generation = view.generation,
                changes = view.changes.len(),
                "reload: {}",
                why.word()
            );
        }
        Ok(view)
    }

    /// Makes it live, or tells what would be.
    async fn apply(
        &self,
        inner: &mut Inner,
        aim: Aim,
        dry_run: bool,
        begun: Timestamp,
    ) -> Result<ReloadView, Fault> {
        let Rooms { store, secrets, environment, clock, .. } = &self.0.rooms;
        let Aim { compiled, anew, holds } = aim;
        let counts = Counts::of(&compiled.findings);
        let errors = counts.errors as u64;
        let pinned = inner.files.pinned();
        let source = pinned.as_ref().map_or(&*compiled, |pinned| &pinned.compiled);
        let Some(running) = &mut inner.running else {
            return Err(Fault::refused("the daemon is stopping"));
        };
        let number = pinned.as_ref().map(|pinned| pinned.generation);
        let is_new = source.plan.hash != inner.hash;
        // The disk writes the new plan's number while it is worked out what changes.
        let numbered = async {
            let asked = is_new && number.is_none() && !dry_run;
            if asked { store.generation(&source.plan.hash).await.map(Some) } else { Ok(number) }
        };
        // As the new plan keeps them; nothing that runs knows of it yet.
        let looked_at = secrets.under(Places::of(&source.plan));
        let plan = effective(&source.plan, &holds, environment, &looked_at);
        let (numbered, plan) = tokio::join!(numbered, plan);
        let numbered = numbered?;
        let bundle = running.bundle();
        let (old, previous) = (Arc::clone(&bundle.plan), bundle.generation);
        let sides = (Side::new(&old, inner.files.last_good()), Side::new(&plan, &source.canonical));
        let mut changes = Changes::between(&sides.0, &sides.1, &anew);
        let view = |changes: Changes, generation| ReloadView {
            // What the files say is not what is to become live while a plan is pinned.
            outcome: match changes.outcome(if pinned.is_some() { 0 } else { errors }) {
                // A unit that is held back changed: it counts when it starts.
                ReloadOutcome::Nothing if generation != previous => ReloadOutcome::Applied,
                outcome => outcome,
            },
            dry_run,
            generation,
            previous,
            pinned: pinned.as_ref().map(|pinned| pinned.generation),
            unchanged: changes.unchanged,
            changes: changes.touched,
            errors,
            warnings: counts.warnings as u64,
            took_ms: u64::try_from(clock.now().since(begun).as_millis()).unwrap_or(u64::MAX),
        };
        if dry_run {
            return Ok(view(changes, previous));
        }
        let becomes_live = changes.applies() || is_new;
        let mut generation = previous;
        let mut ways = Vec::new();
        if becomes_live {
            generation = match numbered {
                Some(number) => number,
                None => store.generation(&source.plan.hash).await?,
            };
            secrets.adopt(Places::of(&plan));
            let next = running.bundle().next(plan, generation, &anew);
            changes.could_not(&next.failed);
            inner.unbuilt = next.failed.keys().cloned().collect();
            running.swap(next, &anew);
            self.0.rooms.log.set_generation(generation);
            let daemon = &running.bundle().plan.daemon;
            self.0.rooms.log.set_usual(&daemon.log.filter);
            self.0.rooms.log.relay().switch(daemon.otlp.endpoint.is_some());
            ways = running.bundle().desk.ways_out();
            inner.hash.clone_from(&source.plan.hash);
            inner.files.remember(source);
        }
        inner.holds = holds;
        inner.compiled = Arc::clone(&compiled);
        self.tell(inner, errors, source, number);
        let view = view(changes, generation);
        // It is live from here on; what follows is for the record, and a fault in it takes nothing back.
        if becomes_live {
            if number.is_none() {
                let plans = inner.files.plans();
                let write = || plans.write(&KeptPlan::of(source, generation, clock.now()));
                if let Err(error) = at_length(write) {
                    tracing::error!("keep the plan on disk: {}", chain(&error));
                }
            }
            store.set_ways_out(ways).await?;
            fit_to_plan(store, &source.plan, Some(&old)).await?;
        }
        Ok(view)
    }

    /// Brings what the control API tells to what runs.
    fn tell(&self, inner: &Inner, errors: u64, source: &Compiled, pinned: Option<i64>) {
        let Some(running) = &inner.running else { return };
        let bundle = running.bundle();
        let before = self.0.present.get();
        let plan = inner.with_kept(&bundle.plan, source);
        for name in plan.kept.keys().filter(|name| !before.plan.kept.contains_key(name)) {
            tracing::warn!(unit = %name, "its file has errors: its last good version stays in force");
        }
        self.0.rooms.service.status(&status_line(running, errors));
        let since = before.findings_since.filter(|_| before.findings > 0);
        self.0.present.set(Present {
            findings_since: (errors > 0).then(|| since.unwrap_or_else(|| self.0.rooms.clock.now())),
            pinned,
            target: inner.holds.target().map(str::to_owned),
            needs_restart: inner.needs_restart(daemon_text(source)),
            ..Present::new(plan, bundle.generation, errors)
        });
        self.0.rooms.told.notify_one();
        // Files that are wrong, or well again, are told on channels.
        self.0.rooms.store.wakeups().notices.send_replace(());
    }
}

impl Manager for Reloader {
    fn watched(&self) -> Vec<WatchedDir> {
        let modes = self.0.rooms.watched.list();
        let view = |(dir, mode): (std::path::PathBuf, WatchMode)| WatchedDir {
            dir: dir.display().to_string(),
            mode: mode.word().to_owned(),
        };
        modes.into_iter().map(view).collect()
    }

    fn reload(&self, why: Why, dry_run: bool) -> BoxFuture<'_, Result<ReloadView, Fault>> {
        Box::pin(self.look_again(why, dry_run))
    }

    fn order(&self, unit: String, order: UnitOrder) -> BoxFuture<'_, Result<ReloadView, Fault>> {
        Box::pin(async move { self.ordered(&unit, order).await })
    }

    fn log(&self) -> &dyn LogLevels {
        &self.0.rooms.log
    }

    fn named(&self, unit: &str) -> Result<String, Fault> {
        named(unit, &self.0.present.get().plan).map(|name| name.to_string())
    }

    fn isolate(&self, target: String) -> BoxFuture<'_, Result<ReloadView, Fault>> {
        Box::pin(async move { self.isolated(&target).await })
    }
}

impl Reloader {
    async fn ordered(&self, unit: &str, order: UnitOrder) -> Result<ReloadView, Fault> {
        let begun = self.0.rooms.clock.now();
        let mut inner = self.0.inner.lock().await;
        let inner = &mut *inner;
        let compiled = Arc::clone(&inner.compiled);
        let name = named(unit, &compiled.plan)?;
        let mut aim = Aim { compiled, holds: inner.holds.clone(), anew: BTreeSet::new() };
        match order {
            UnitOrder::Stop => aim.holds.stop(&name, &aim.compiled.plan, begun),
            UnitOrder::Start => aim.holds.start(&name, &aim.compiled.plan),
            UnitOrder::Restart => {
                aim.holds.start(&name, &aim.compiled.plan);
                aim.anew = with_parts(&name, &aim.compiled.plan);
            }
            UnitOrder::ResetFailed => {}
        }
        let view = only_about(self.apply(inner, aim, false, begun).await?, &name);
        let Some(running) = &inner.running else { return Ok(view) };
        if order != UnitOrder::Stop
            && let Some(off) = running.bundle().plan.why_off(&name)
        {
            let fault = still_off(&name, off);
            // What a pinned plan says is not mended by a unit file.
            return Err(if view.pinned.is_some() { fault.hint("workagent plan unpin") } else { fault });
        }
        if order == UnitOrder::ResetFailed
            || order == UnitOrder::Start && view.outcome == ReloadOutcome::Nothing
        {
            self.try_now(running, &name).await?;
        }
        tracing::info!(unit = %name, "{} by hand", order.word());
        Ok(view)
    }

    /// Forgets failures and their waits.
    async fn try_now(&self, running: &RunningBundle, name: &UnitName) -> Result<(), Fault> {
        let now = self.0.rooms.clock.now();
        running.board().update(&name.to_string(), |status| {
            (status.failures, status.fault) = (0, None);
            status.enter(UnitState::Active, now);
        });
        if name.kind == Kind::Engine
            && let Some((engines, account)) = running.bundle().plan.sharing(&name.name)
        {
            self.0.rooms.store.end_rests(engines, &account).await?;
        }
        if let Some(kick) = running.kicks().get().get(&name.to_string()) {
            kick.now(Activation::Manual);
        }
        Ok(())
    }

    async fn isolated(&self, target: &str) -> Result<ReloadView, Fault> {
        let begun = self.0.rooms.clock.now();
        let mut inner = self.0.inner.lock().await;
        let target = target.strip_suffix(".target").unwrap_or(target);
        let compiled = Arc::clone(&inner.compiled);
        if target != DEFAULT_TARGET && !matches!(compiled.plan.targets.get(target), Some(Standing::Active(_)))
        {
            let known: Vec<&str> = compiled.plan.targets.keys().map(String::as_str).collect();
            let fault = Fault::not_found(format!("there is no target {target} that is on"));
            return Err(fault.hint(format!("there are: {}", known.join(", "))));
        }
        let mut holds = inner.holds.clone();
        holds.isolate(target);
        let aim = Aim { compiled, holds, anew: BTreeSet::new() };
        let view = self.apply(&mut inner, aim, false, begun).await?;
        let view = only_about(view, &UnitName { name: target.to_owned(), kind: Kind::Target });
        tracing::info!(target, "isolated by hand");
        Ok(view)
    }
}

impl Inner {
    /// What the daemon asked for only when it started, and has changed since.
    fn needs_restart(&self, now: Option<&Arc<str>>) -> Vec<String> {
        let (Some(started), Some(now)) = (&self.started, now) else { return Vec::new() };
        let keys = differing(started, now);
        keys.into_iter().filter(|key| needs_restart(Kind::Daemon, key)).collect()
    }
}

/// Work that may take long and waits for nothing, such as the compiling of a large folder: the other runtimes go on
/// meanwhile.
fn at_length<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// The plan with everything taken out that must not run now: by its conditions, by hand.
pub(super) async fn effective(
    plan: &Plan,
    holds: &Holds,
    environment: &Environment,
    secrets: &dyn SecretStore,
) -> Plan {
    let answers = Answers::ask(plan, environment, secrets).await;
    let mut off = condition::unmet(plan, &answers);
    off.extend(holds.off(plan));
    if off.is_empty() { plan.clone() } else { plan.without(&off) }
}

fn daemon_text(compiled: &Compiled) -> Option<&Arc<str>> {
    compiled.canonical.iter().find(|(name, _)| name.kind == Kind::Daemon).map(|(_, text)| text)
}
