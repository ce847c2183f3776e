//! The pending runtime: wakes parked cases whose time has come, closes answered ones that stayed quiet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{RuntimeRecord, store_fault, well};
use crate::model::case::CaseState;
use crate::model::cycle::{PendingSummary, RuntimeSummary};
use crate::model::live::Live;
use crate::model::time::{Clock, Timestamp};
use crate::store::{Due, Store};
use crate::supervise::{Cycle, Next, Pass};
use crate::unit::plan::{Plan, Standing};

/// A case that was answered stays open for a reaction this long.
const CLOSE_SENT_AFTER: Duration = Duration::from_secs(7 * 86_400);

/// Wakes what is due.
pub struct PendingRuntime {
    store: Store,
    clock: Clock,
    /// After how long without an answer the user is told, by connector.
    nudges: Live<Arc<BTreeMap<String, Duration>>>,
}

impl PendingRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "pending.runtime";

    /// Over a store.
    #[must_use]
    pub fn new(store: Store, clock: Clock, plan: &Plan) -> Self {
        Self { store, clock, nudges: Live::new(nudges(plan)) }
    }

    /// Takes over another plan.
    pub fn adopt(&self, plan: &Plan) {
        self.nudges.set(nudges(plan));
        self.store.wakeups().pending.notify_one();
    }

    async fn pass(&self) -> Pass<RuntimeRecord> {
        match self.work().await {
            Ok((summary, next)) => well(RuntimeSummary::Pending(summary), next, false),
            Err(error) => Pass {
                fault: Some(store_fault("wake parked cases", &error)),
                ..well(RuntimeSummary::Pending(PendingSummary::default()), Next::WhenWoken, false)
            },
        }
    }

    async fn work(&self) -> Result<(PendingSummary, Next), crate::store::StoreError> {
        let nudged = self.nudge().await?;
        let woken = self.store.wake_due(self.clock.now().minus(CLOSE_SENT_AFTER)).await?;
        let counts = self.store.counts().await?;
        let parked =
            counts.cases.iter().find(|(state, _)| *state == CaseState::Parked).map_or(0, |(_, count)| *count);
        let due = self.store.next_due(Due::Parked).await?;
        let next = due.into_iter().chain(nudged).min().map_or(Next::WhenWoken, Next::At);
        Ok((PendingSummary { woken, parked }, next))
    }

    /// Before anything is closed: whoever wants to know hears of silence. Gives when the next one is due.
    async fn nudge(&self) -> Result<Option<Timestamp>, crate::store::StoreError> {
        let mut next = None;
        for (connector, after) in self.nudges.get().iter() {
            let due = self.store.nudge(connector, *after).await?;
            next = next.into_iter().chain(due).min();
        }
        Ok(next)
    }
}

fn nudges(plan: &Plan) -> Arc<BTreeMap<String, Duration>> {
    let active = plan.connectors.iter().filter_map(|(name, standing)| match standing {
        Standing::Active(unit) => unit.nudge.map(|after| (name.clone(), after)),
        Standing::Off(_) => None,
    });
    Arc::new(active.collect())
}

impl Cycle for PendingRuntime {
    type Record = RuntimeRecord;

    fn unit(&self) -> &str {
        Self::UNIT
    }

    fn activate(&self) -> BoxFuture<'_, Pass<RuntimeRecord>> {
        Box::pin(self.pass())
    }

    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.store.wakeups().pending.notified())
    }
}
