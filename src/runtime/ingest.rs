//! The ingest runtime: takes new cases and gives each to an engine's queue, to the user, or to the archive, with the
//! reason in the record.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;

use super::points::Point;
use super::routing::{is_timers, route_facts};
use super::{RuntimeRecord, store_fault, well};
use crate::engine::router::{FELL_BACK, Router};
use crate::model::cycle::{IngestSummary, RuntimeSummary};
use crate::model::ids::CaseId;
use crate::model::item::{AUTO_REPLY_SUSPECTED, Disposition, ReplyWay};
use crate::model::limits;
use crate::model::live::Live;
use crate::model::routing::Routing;
use crate::model::time::Timestamp;
use crate::store::{Admission, CaseFacts, Store, StoreError};
use crate::supervise::{Cycle, Next, Pass};
use crate::unit::plan::{Plan, Standing};

/// Routes new cases.
pub struct IngestRuntime {
    store: Store,
    rules: Live<Rules>,
    /// The rules are new: cases that the ones before left to the user are looked at once more.
    changed: AtomicBool,
}

/// The part that comes from a plan.
struct Rules {
    router: Router,
    /// Connectors whose platform takes no replies at all.
    mute: BTreeSet<String>,
    /// Timers: their cases are no less meant to be worked on for having nobody to answer.
    timers: BTreeSet<String>,
    /// Engines for which cases may wait.
    engines: Vec<String>,
}

impl Rules {
    fn of(plan: &Plan) -> Self {
        let mute = plan.connectors.values().filter_map(|standing| match standing {
            Standing::Active(unit) => {
                let replies = unit.guarantee.replies();
                (!replies).then(|| unit.name.clone())
            }
            Standing::Off(_) => None,
        });
        let timers = plan.timers.keys().cloned().collect();
        let engines = plan.engines_waited_for();
        Self { router: Router::new(plan), mute: mute.collect(), timers, engines }
    }
}

impl IngestRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "ingest.runtime";

    /// Over a store, with the routes of a plan.
    #[must_use]
    pub fn new(store: Store, plan: &Plan) -> Self {
        Self { store, rules: Live::new(Rules::of(plan)), changed: AtomicBool::new(true) }
    }

    /// Takes over another plan's routes.
    pub fn adopt(&self, plan: &Plan) {
        self.rules.set(Rules::of(plan));
        self.changed.store(true, Ordering::Release);
        self.store.wakeups().ingest.notify_one();
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        let mut summary = IngestSummary::default();
        match self.work(&mut summary).await {
            Ok(next) => well(RuntimeSummary::Ingest(summary), next, false),
            Err(error) => Pass {
                fault: Some(store_fault("route new cases", &error)),
                ..well(RuntimeSummary::Ingest(summary), Next::WhenWoken, false)
            },
        }
    }

    /// A case that no route or no engine took need not wait for the user once one does.
    async fn look_again(&self) -> Result<(), StoreError> {
        let (rules, now) = (self.rules.get(), self.store.time());
        let mut last = CaseId(0);
        loop {
            let cases = self.store.unrouted_cases(last, limits::PAGE_ITEMS_MAX).await?;
            let Some(facts) = cases.last() else { return Ok(()) };
            last = facts.case.id;
            let taken =
                cases.iter().filter(|facts| !matches!(rules.admission(facts, now), Admission::Park { .. }));
            let taken: Vec<CaseId> = taken.map(|facts| facts.case.id).collect();
            if !taken.is_empty() {
                self.store.route_anew(&taken, "routes or engines changed").await?;
            }
        }
    }

    async fn work(&self, summary: &mut IngestSummary) -> Result<Next, StoreError> {
        if self.changed.swap(false, Ordering::AcqRel)
            && let Err(error) = self.look_again().await
        {
            self.changed.store(true, Ordering::Release);
            return Err(error);
        }
        let cases = self.store.new_cases(limits::PAGE_ITEMS_MAX).await?;
        if cases.is_empty() {
            return Ok(Next::WhenWoken);
        }
        let (rules, now) = (self.rules.get(), self.store.time());
        let admissions: Vec<(CaseId, Admission)> =
            cases.iter().map(|facts| (facts.case.id, rules.admission(facts, now))).collect();
        for (_, admission) in &admissions {
            match admission {
                Admission::Queue { .. } => summary.queued += 1,
                Admission::Dismiss { .. } => summary.dismissed += 1,
                Admission::Park { .. } => summary.parked += 1,
            }
        }
        self.store.admit(admissions).await?;
        let now = self.rules.get();
        if !Arc::ptr_eq(&rules, &now) {
            // The plan changed meanwhile, and may have looked through the queue before these came into it.
            self.store.reroute_queued(&now.engines).await?;
        }
        Point::AfterRouting.pass();
        Ok(Next::Now)
    }
}

impl Rules {
    /// Where a new case goes. Pure.
    fn admission(&self, facts: &CaseFacts, now: Timestamp) -> Admission {
        match &facts.disposition {
            Disposition::NoReply { reason } => return Admission::Dismiss { reason: reason.clone() },
            Disposition::Quarantined { reason } => {
                return Admission::Park { reason: reason.clone(), until: None };
            }
            Disposition::Work | Disposition::Own | Disposition::Baseline => {}
        }
        let item = &facts.newest;
        if facts.automatic_before && item.labels.iter().any(|label| label == AUTO_REPLY_SUSPECTED) {
            let reason = "a second mail within a day that looks like an automatic reply".to_owned();
            return Admission::Dismiss { reason };
        }
        let mute = self.mute.contains(&facts.case.connector);
        let by_timer = is_timers(facts, &self.timers);
        if let (ReplyWay::Nowhere { reason }, false) = (&item.reply, mute || by_timer) {
            return Admission::Park { reason: format!("it cannot be answered: {reason}"), until: None };
        }
        let routing = self.router.route(&route_facts(facts, by_timer, now));
        match routing {
            Routing::To { route, engine, priority, why } => {
                let instead = why
                    .starts_with(FELL_BACK)
                    .then(|| why.split("; ").next().unwrap_or(FELL_BACK).to_owned());
                Admission::Queue { route, engine, priority, instead, why }
            }
            Routing::Nowhere { until: None, mendable: false, .. } if mute => {
                let reason = "recorded: no route takes it, and its platform takes no replies".to_owned();
                Admission::Dismiss { reason }
            }
            Routing::Nowhere { why, until, .. } => Admission::Park { reason: why, until },
        }
    }
}

impl Cycle for IngestRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.store.wakeups().ingest.notified())
    }
}
