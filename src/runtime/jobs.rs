//! Jobs: work that outlives the pass that began it, with a count of what runs where, and results handed to the next pass.
//!
//! Counts belong to the process, not to a plan: a job that began under an earlier one still takes its places.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use tokio::sync::Notify;

use crate::supervise::Group;

/// Jobs of one runtime, each in one lane or several (an engine and its account, a destination). Cheap to clone; clones are the same jobs.
pub struct Jobs<R> {
    group: Group,
    shared: Arc<Shared<R>>,
}

struct Shared<R> {
    places: Mutex<Places>,
    results: Mutex<Vec<Ended<R>>>,
    ended: Notify,
}

/// How many run, in all and in each lane.
#[derive(Default)]
struct Places {
    all: usize,
    lanes: BTreeMap<String, usize>,
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
        let shared = Shared { places: Mutex::default(), results: Mutex::default(), ended: Notify::new() };
        Self { group: Group::new(name), shared: Arc::new(shared) }
    }

    /// Starts a job that takes a place in each of these lanes until it ends.
    pub fn start(&self, lanes: Vec<String>, name: String, job: impl Future<Output = R> + Send + 'static) {
        let mut places = lock(&self.shared.places);
        places.all += 1;
        for lane in &lanes {
            *places.lanes.entry(lane.clone()).or_default() += 1;
        }
        drop(places);
        let (shared, task) = (Arc::clone(&self.shared), name.clone());
        // Made here: a job that is aborted before its first step leaves its places too.
        let leave = Leave { shared: Arc::clone(&shared), lanes };
        self.group.spawn(task, async move {
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
        lock(&self.shared.places).lanes.get(lane).copied().unwrap_or(0)
    }

    /// Jobs running.
    #[must_use]
    pub fn running(&self) -> usize {
        lock(&self.shared.places).all
    }

    /// A job of this name runs.
    #[must_use]
    pub fn is_running(&self, name: &str) -> bool {
        self.group.names().iter().any(|running| running == name)
    }

    /// A job runs, or has ended and its result was not taken yet.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.running() > 0 || !lock(&self.shared.results).is_empty()
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

/// Frees the places however the job ends, also by abort.
struct Leave<R> {
    shared: Arc<Shared<R>>,
    lanes: Vec<String>,
}

impl<R> Drop for Leave<R> {
    fn drop(&mut self) {
        let mut places = lock(&self.shared.places);
        places.all = places.all.saturating_sub(1);
        for lane in &self.lanes {
            if let Some(count) = places.lanes.get_mut(lane) {
                *count -= 1;
                if *count == 0 {
                    places.lanes.remove(lane);
                }
            }
        }
        drop(places);
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
        jobs.start(vec!["a".into(), "both".into()], "one".into(), async { 1 });
        jobs.start(vec!["b".into(), "both".into()], "bad".into(), async { panic!("on purpose") });
        assert_eq!((jobs.running_in("a"), jobs.running_in("both"), jobs.running()), (1, 2, 2));
        jobs.group().idle().await;
        assert_eq!(jobs.running(), 0);
        let mut results = jobs.take_results();
        results.sort_by_key(|ended| matches!(ended, Ended::Panicked(_)));
        assert_eq!(results, [Ended::Well(1), Ended::Panicked("bad".into())]);
        assert!(jobs.take_results().is_empty());
    }
}
