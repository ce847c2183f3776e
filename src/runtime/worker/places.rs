//! Free places: how many cases an engine may be given at this moment.
//!
//! What runs is counted by the jobs themselves, whatever plan they began under, so the numbers hold over reloads, lost
//! leases and units that are renamed. A restart ends the children of the process before it before it gives out any case.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{JobEnd, WorkerEngine, WorkerOrders};
use crate::model::time::Timestamp;
use crate::runtime::jobs::Jobs;
use crate::store::{Rests, Store, StoreError};
use crate::unit::plan::EngineUnit;

/// What `runs_per_minute` counts in.
const MINUTE: Duration = Duration::from_secs(60);

/// What decides.
pub(super) struct Places<'a> {
    pub orders: &'a WorkerOrders,
    pub rests: &'a Rests,
    pub jobs: &'a Jobs<JobEnd>,
    pub pace: &'a Pace,
}

/// The lanes of an engine's jobs.
pub(super) fn lanes(unit: &EngineUnit) -> Vec<String> {
    vec![engine_lane(unit), account_lane(unit)]
}

fn engine_lane(unit: &EngineUnit) -> String {
    format!("engine {}", unit.name)
}

fn account_lane(unit: &EngineUnit) -> String {
    format!("account {}", unit.account)
}

impl Places<'_> {
    /// When engines that rest may be looked at again.
    pub fn ends_of_rests(&self) -> Vec<Timestamp> {
        let units = self.orders.engines.values().map(|engine| &engine.unit);
        units.filter_map(|unit| self.rests.of(&unit.name, &unit.account)).map(|rest| rest.until).collect()
    }

    /// How many cases the engine may be given now, or from when on there may be any, if that is a matter of time.
    pub async fn free(
        &self,
        engine: &WorkerEngine,
        store: &Store,
    ) -> Result<Result<usize, Option<Timestamp>>, StoreError> {
        let unit = &engine.unit;
        // The end of its rest is known already.
        if self.rests.of(&unit.name, &unit.account).is_some() {
            return Ok(Err(None));
        }
        let here = self.jobs.running_in(&engine_lane(unit));
        let most_here = if self.rests.is_probed(&unit.name) { 1 } else { unit.concurrency };
        let free = most_here
            .saturating_sub(here)
            .min(self.most_of(&unit.account).saturating_sub(self.jobs.running_in(&account_lane(unit))))
            .min(self.orders.slots.saturating_sub(self.jobs.running()));
        if free == 0 {
            return Ok(Err(None));
        }
        Ok(match self.pace.left(unit, store).await? {
            Ok(left) => Ok(free.min(left)),
            Err(next) => Err(Some(next)),
        })
    }

    /// Runs at once of all engines of an account.
    fn most_of(&self, account: &str) -> usize {
        let units = self.orders.engines.values().map(|engine| &engine.unit);
        units.filter(|unit| unit.account == account).map(|unit| unit.concurrency).max().unwrap_or(0)
    }
}

/// When the runs of the last minute began, by engine. Begins with what the record says, so that a restart is no way
/// around a limit.
#[derive(Default)]
pub(super) struct Pace(Mutex<BTreeMap<String, VecDeque<Timestamp>>>);

impl Pace {
    /// A case was given to the engine.
    pub fn began(&self, unit: &EngineUnit, now: Timestamp) {
        if unit.runs_per_minute.is_some() {
            self.lock().entry(unit.name.clone()).or_default().push_back(now);
        }
    }

    /// How many more it may be given now, or when it may be given the next.
    async fn left(&self, unit: &EngineUnit, store: &Store) -> Result<Result<usize, Timestamp>, StoreError> {
        let Some(most) = unit.runs_per_minute else { return Ok(Ok(usize::MAX)) };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if !self.lock().contains_key(&unit.name) {
            let known = store.runs_begun(&unit.name, MINUTE, most).await?;
            self.lock().insert(unit.name.clone(), known.into());
        }
        let now = store.time();
        let mut all = self.lock();
        let begun = all.entry(unit.name.clone()).or_default();
        while begun.front().is_some_and(|at| now.since(*at) >= MINUTE) {
            begun.pop_front();
        }
        // Under a plan that allowed more, more may have begun: the oldest that still counts is the one that makes room.
        Ok(match most.checked_sub(begun.len()) {
            Some(left) if left > 0 => Ok(left),
            _ => Err(begun.get(begun.len() - most).map_or(now, |at| at.plus(MINUTE))),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, VecDeque<Timestamp>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
