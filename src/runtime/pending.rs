//! The pending runtime: wakes parked cases whose time has come, closes answered ones that stayed quiet.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{RuntimeRecord, store_fault, well};
use crate::model::case::CaseState;
use crate::model::cycle::{PendingSummary, RuntimeSummary};
use crate::model::time::Clock;
use crate::store::{Due, Store};
use crate::supervise::{Cycle, Next, Pass};

/// A case that was answered stays open for a reaction this long.
const CLOSE_SENT_AFTER: Duration = Duration::from_secs(7 * 86_400);

/// Wakes what is due.
pub struct PendingRuntime {
    store: Store,
    clock: Clock,
}

impl PendingRuntime {
    /// The unit's full name.
    pub const UNIT: &'static str = "pending.runtime";

    /// Over a store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
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
        let woken = self.store.wake_due(self.clock.now().minus(CLOSE_SENT_AFTER)).await?;
        let counts = self.store.counts().await?;
        let parked =
            counts.cases.iter().find(|(state, _)| *state == CaseState::Parked).map_or(0, |(_, count)| *count);
        let next = self.store.next_due(Due::Parked).await?.map_or(Next::WhenWoken, Next::At);
        Ok((PendingSummary { woken, parked }, next))
    }
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
