//! Jobs: work that outlives the pass that began it, with a count of what runs where, and results handed to the next pass.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use tokio::sync::Notify;

use crate::supervise::Group;

/// Jobs of one runtime, each in a lane (an engine, a destination). Cheap to clone; clones are the same jobs.
pub struct Jobs<R> {
    group: Group,
    shared: Arc<Shared<R>>,
}

struct Shared<R> {
    lanes: Mutex<BTreeMap<String, usize>>,
    results: Mutex<Vec<Ended<R>>>,
    ended: Notify,
}

/// A job that ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<R> {
    /// With a result.
    Well(R),
    /// By a panic, with the job's name.
    Panicked(String),
}

impl<R> Clone for Jobs<R> {
    fn clone(&self) -> Self {
        Self { group: self.group.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<R: Send + 'static> Jobs<R> {
    /// No jobs yet.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        let shared = Shared { lanes: Mutex::default(), results: Mutex::default(), ended: Notify::new() };
        Self { group: Group::new(name), shared: Arc::new(shared) }
    }

    /// Starts a job in a lane.
    pub fn start(&self, lane: &str, name: String, job: impl Future<Output = R> + Send + 'static) {
        *lock(&self.shared.lanes).entry(lane.to_owned()).or_default() += 1;
        let (shared, lane, task) = (Arc::clone(&self.shared), lane.to_owned(), name.clone());
        self.group.spawn(task, async move {
            let leave = Leave { shared: Arc::clone(&shared), lane };
            let ended = match AssertUnwindSafe(job).catch_unwind().await {
                Ok(result) => Ended::Well(result),
                Err(_) => Ended::Panicked(name),
            };
            lock(&shared.results).push(ended);
            drop(leave);
        });
    }

    /// Jobs running in a lane.
    #[must_use]
    pub fn running_in(&self, lane: &str) -> usize {
        lock(&self.shared.lanes).get(lane).copied().unwrap_or(0)
    }

    /// Jobs running.
    #[must_use]
    pub fn running(&self) -> usize {
        lock(&self.shared.lanes).values().sum()
    }

    /// A job of this name runs.
    #[must_use]
    pub fn is_running(&self, name: &str) -> bool {
        self.group.names().iter().any(|running| running == name)
    }

    /// Results since the last call.
    #[must_use]
    pub fn take_results(&self) -> Vec<Ended<R>> {
        std::mem::take(&mut *lock(&self.shared.results))
    }

    /// Resolves when a job has ended since the last call.
    pub async fn ended(&self) {
        self.shared.ended.notified().await;
    }

    /// The group, for stopping.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }
}

/// Frees the lane however the job ends, also by abort.
struct Leave<R> {
    shared: Arc<Shared<R>>,
    lane: String,
}

impl<R> Drop for Leave<R> {
    fn drop(&mut self) {
        let mut lanes = lock(&self.shared.lanes);
        if let Some(count) = lanes.get_mut(&self.lane) {
            *count = count.saturating_sub(1);
        }
        drop(lanes);
        self.shared.ended.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_lanes_and_hands_results_on() {
        let jobs = Jobs::new("test");
        jobs.start("a", "one".into(), async { 1 });
        jobs.start("b", "bad".into(), async { panic!("on purpose") });
        assert_eq!((jobs.running_in("a"), jobs.running()), (1, 2));
        jobs.group().idle().await;
        assert_eq!(jobs.running(), 0);
        let mut results = jobs.take_results();
        results.sort_by_key(|ended| matches!(ended, Ended::Panicked(_)));
        assert_eq!(results, [Ended::Well(1), Ended::Panicked("bad".into())]);
        assert!(jobs.take_results().is_empty());
    }
}
