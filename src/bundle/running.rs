//! Start and stop: a bundle's runtimes get their drivers; stopping takes intake first, then workers, then outbound.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::factory::DaemonRuntimeBundle;
use crate::runtime::RuntimeRecord;
use crate::runtime::app_runtime::Slot;
use crate::supervise::{Board, Cycle, Driver, Group};

/// A started bundle.
pub struct RunningBundle {
    bundle: DaemonRuntimeBundle,
    kicks: BTreeMap<String, Arc<Notify>>,
    intake: Phase,
    workers: Phase,
    outbound: Phase,
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

impl Phase {
    fn new(name: &'static str) -> Self {
        Self { group: Group::new(name), stop: CancellationToken::new() }
    }
}

impl RunningBundle {
    /// Starts every runtime that takes part.
    #[must_use]
    pub fn start(bundle: DaemonRuntimeBundle) -> Self {
        let (intake, workers, outbound) =
            (Phase::new("intake"), Phase::new("workers"), Phase::new("outbound"));
        let mut running = Self { bundle, kicks: BTreeMap::new(), intake, workers, outbound };
        let app = Arc::clone(&running.bundle.app);
        for slot in &app.sync {
            running.drive(slot, |running| &running.intake);
        }
        running.drive(&app.ingest, |running| &running.intake);
        running.drive(&app.pending, |running| &running.intake);
        running.drive(&app.scheduler, |running| &running.intake);
        running.drive(&app.worker, |running| &running.workers);
        running.drive(&app.review, |running| &running.workers);
        running.drive(&app.outbound, |running| &running.outbound);
        running
    }

    fn drive<C: Cycle<Record = RuntimeRecord>>(&mut self, slot: &Slot<C>, phase: fn(&Self) -> &Phase) {
        let Some(cycle) = slot.on() else { return };
        let driver = Driver::new(Arc::clone(cycle), self.board().clone(), self.bundle.clock.clone());
        self.kicks.insert(cycle.unit().to_owned(), driver.kick_handle());
        let phase = phase(self);
        phase.group.spawn(cycle.unit(), driver.run(phase.stop.clone()));
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

    /// Handles that run one cycle of a unit now, by full name.
    #[must_use]
    pub fn kicks(&self) -> &BTreeMap<String, Arc<Notify>> {
        &self.kicks
    }

    /// Tells whether every driver that was started still runs. For the service manager's watchdog.
    pub fn pulse(&self) -> impl Fn() -> bool + Send + 'static {
        let groups = [&self.intake, &self.workers, &self.outbound].map(|phase| phase.group.clone());
        let started: usize = self.kicks.len();
        move || groups.iter().map(Group::len).sum::<usize>() == started
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
        StopOutcome { graceful: cut.is_empty(), cut }
    }
}
