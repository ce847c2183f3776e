//! The app runtime: coordinates one cycle over all runtimes, in the order of the way through the house.
//! `workagent run --once` does exactly one; the daemon instead gives each runtime its own driver.

use std::sync::Arc;

use super::disabled::DisabledRuntime;
use super::ingest::IngestRuntime;
use super::notices::ChannelLoop;
use super::onboarding::OnboardingRuntime;
use super::outbound::OutboundRuntime;
use super::pending::PendingRuntime;
use super::review::ReviewRuntime;
use super::rotation::RotationRuntime;
use super::scheduler::SchedulerRuntime;
use super::sync::SyncLoop;
use super::worker::WorkerRuntime;
use super::{RuntimeRecord, cycle_error};
use crate::model::cycle::{CycleRecord, CycleSummary, SUMMARY_VERSION};
use crate::model::time::Clock;
use crate::secret::scrub::Scrubber;
use crate::supervise::{Cycle, Group, Pass};

/// Passes of one runtime in one app cycle: work that one pass uncovers is taken by the next, within a bound.
const PASSES_MAX: usize = 10_000;

/// Runtimes of which there is one.
const ROOMS: usize = 8;

/// A runtime, or the visible no-op in its place.
pub enum Slot<C> {
    /// Takes part.
    On(Arc<C>),
    /// Off, with a reason.
    Off(DisabledRuntime),
}

/// What a runtime leaves running behind a pass.
struct Work<'a> {
    group: &'a Group,
    unsettled: &'a (dyn Fn() -> bool + Sync),
}

/// All runtimes of a bundle.
pub struct AppRuntime {
    /// One per connector unit, by name.
    pub sync: Vec<Slot<SyncLoop>>,
    /// Routes new cases.
    pub ingest: Slot<IngestRuntime>,
    /// Runs engines.
    pub worker: Slot<WorkerRuntime>,
    /// Keeps the review queue.
    pub review: Slot<ReviewRuntime>,
    /// Sends.
    pub outbound: Slot<OutboundRuntime>,
    /// Wakes parked cases.
    pub pending: Slot<PendingRuntime>,
    /// Makes the cases of timers.
    pub scheduler: Slot<SchedulerRuntime>,
    /// Says what is next in setting up.
    pub onboarding: Slot<OnboardingRuntime>,
    /// One per channel unit that is on, by name.
    pub channels: Vec<Slot<ChannelLoop>>,
    /// Replaces secrets.
    pub rotation: Slot<RotationRuntime>,
    /// Masks what is recorded.
    pub scrubber: Scrubber,
    /// Now.
    pub clock: Clock,
    /// The plan generation.
    pub generation: i64,
}

impl AppRuntime {
    /// One cycle over all runtimes; each is done with what it can do now before the next begins.
    pub async fn cycle(&self) -> CycleSummary {
        let started_at = self.clock.now();
        let mut runtimes = Vec::with_capacity(self.sync.len() + ROOMS);
        // First: what ends today is replaced before it is used.
        let mut rotation = Vec::new();
        self.one(&self.rotation, None, &mut rotation).await;
        for slot in &self.sync {
            match slot {
                // With a thousand that are off, a future for each would be most of the cycle.
                Slot::Off(disabled) => runtimes.push(disabled.record()),
                Slot::On(_) => self.one(slot, None, &mut runtimes).await,
            }
        }
        self.one(&self.pending, None, &mut runtimes).await;
        self.one(&self.scheduler, None, &mut runtimes).await;
        self.one(&self.ingest, None, &mut runtimes).await;
        let unsettled = || self.worker.on().is_some_and(|worker| worker.is_unsettled());
        let jobs = self.worker.on().map(|worker| Work { group: worker.group(), unsettled: &unsettled });
        self.one(&self.worker, jobs, &mut runtimes).await;
        self.one(&self.review, None, &mut runtimes).await;
        let unsettled = || self.outbound.on().is_some_and(|outbound| outbound.is_unsettled());
        let jobs = self.outbound.on().map(|outbound| Work { group: outbound.group(), unsettled: &unsettled });
        self.one(&self.outbound, jobs, &mut runtimes).await;
        for slot in &self.channels {
            self.one(slot, None, &mut runtimes).await;
        }
        runtimes.append(&mut rotation);
        self.one(&self.onboarding, None, &mut runtimes).await;
        CycleSummary {
            version: SUMMARY_VERSION,
            generation: self.generation,
            started_at,
            ended_at: self.clock.now(),
            runtimes,
        }
    }

    /// Passes of one runtime until it has nothing more to do at once. `jobs`: what it leaves running, waited for.
    async fn one<C: Cycle<Record = RuntimeRecord>>(
        &self,
        slot: &Slot<C>,
        jobs: Option<Work<'_>>,
        into: &mut Vec<CycleRecord>,
    ) {
        let cycle = match slot {
            Slot::On(cycle) => cycle,
            Slot::Off(disabled) => return into.push(disabled.record()),
        };
        let mut total: Option<CycleRecord> = None;
        for _ in 0..PASSES_MAX {
            let Pass { record, fault, next, .. } = cycle.activate().await;
            let mut errors = record.errors;
            let moved = record.summary.moved_jobs();
            if let Some(fault) = &fault {
                let word = fault.word;
                errors.push(cycle_error(cycle.unit(), word, &fault.message, &self.scrubber));
            }
            match &mut total {
                None => {
                    let unit = cycle.unit().into();
                    total = Some(CycleRecord { unit, summary: record.summary, errors });
                }
                Some(total) => {
                    total.summary.add(&record.summary);
                    total.errors.extend(errors);
                }
            }
            // A quick job may have ended by now, before or after this pass counted it: what it made room for is still due.
            let unsettled = jobs.as_ref().is_some_and(|jobs| (jobs.unsettled)());
            if let Some(jobs) = &jobs {
                jobs.group.idle().await;
            }
            let more = next == crate::supervise::Next::Now || unsettled || moved;
            if fault.is_some() || !more {
                break;
            }
        }
        into.extend(total);
    }
}

impl<C> Slot<C> {
    /// The runtime, if it takes part.
    #[must_use]
    pub fn on(&self) -> Option<&Arc<C>> {
        match self {
            Self::On(cycle) => Some(cycle),
            Self::Off(_) => None,
        }
    }

    /// The no-op, if it does not.
    #[must_use]
    pub fn off(&self) -> Option<&DisabledRuntime> {
        match self {
            Self::On(_) => None,
            Self::Off(disabled) => Some(disabled),
        }
    }
}
