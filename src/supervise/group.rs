//! The group: the only place that spawns tasks. Every task has a name and ends with its group.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// How often a line says what still runs while a group is waited for.
const STILL_RUNNING_EVERY: Duration = Duration::from_secs(3);

/// Owns tasks. Cheap to clone; clones are the same group.
#[derive(Clone, Debug)]
pub struct Group {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: &'static str,
    tasks: Mutex<Tasks>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Tasks {
    next: u64,
    running: BTreeMap<u64, (String, AbortHandle)>,
}

/// How a group ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReport {
    /// All tasks ended by themselves in time.
    pub graceful: bool,
    /// Names of those that had to be aborted.
    pub aborted: Vec<String>,
}

/// Takes its task out of the list however the task ends, also by panic or abort.
struct Leave {
    inner: Arc<Inner>,
    id: u64,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.inner.lock().running.remove(&self.id);
        self.inner.changed.notify_waiters();
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Group {
    /// An empty group.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        let inner = Inner { name, tasks: Mutex::default(), changed: Notify::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Starts a task. It must end by itself when its stop token is cancelled.
    pub fn spawn(&self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.inner.lock();
        let id = tasks.next;
        tasks.next += 1;
        let leave = Leave { inner: Arc::clone(&self.inner), id };
        #[expect(clippy::disallowed_methods, reason = "this is the place that spawns")]
        let handle = tokio::spawn(
            async move {
                let _leave = leave;
                task.await;
            }
            // What is logged in there belongs to the unit that began it.
            .in_current_span(),
        );
        tasks.running.insert(id, (name.into(), handle.abort_handle()));
    }

    /// How many tasks run.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.lock().running.len()
    }

    /// No task runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of running tasks.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.inner.lock().running.values().map(|(name, _)| name.clone()).collect()
    }

    /// Resolves when no task runs.
    pub async fn idle(&self) {
        loop {
            let changed = self.inner.changed.notified();
            tokio::pin!(changed);
            // Registered before the look, so that an end between look and wait is not missed.
            changed.as_mut().enable();
            if self.is_empty() {
                return;
            }
            changed.await;
        }
    }

    /// Waits for all tasks up to the deadline, or until `hurry`; says every few seconds what still runs; aborts the rest.
    pub async fn stop(&self, deadline: Duration, hurry: &CancellationToken) -> StopReport {
        let waited = async {
            loop {
                match tokio::time::timeout(STILL_RUNNING_EVERY, self.idle()).await {
                    Ok(()) => return,
                    Err(_) => {
                        tracing::info!(group = self.inner.name, still = ?self.names(), "waiting for tasks to end");
                    }
                }
            }
        };
        let in_time = tokio::select! {
            done = tokio::time::timeout(deadline, waited) => done.is_ok(),
            () = hurry.cancelled() => self.is_empty(),
        };
        if in_time {
            return StopReport { graceful: true, aborted: Vec::new() };
        }
        let rest: Vec<_> = self.inner.lock().running.values().cloned().collect();
        for (_, handle) in &rest {
            handle.abort();
        }
        self.idle().await;
        StopReport { graceful: rest.is_empty(), aborted: rest.into_iter().map(|(name, _)| name).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_for_what_ends_by_itself() {
        let group = Group::new("test");
        let stop = CancellationToken::new();
        let seen = stop.clone();
        group.spawn("one", async move { seen.cancelled().await });
        assert_eq!(group.names(), ["one"]);
        stop.cancel();
        let report = group.stop(Duration::from_secs(5), &CancellationToken::new()).await;
        assert_eq!(report, StopReport { graceful: true, aborted: vec![] });
    }

    #[tokio::test]
    async fn aborts_what_does_not_end_when_hurried() {
        let group = Group::new("test");
        group.spawn("deaf", std::future::pending());
        let hurry = CancellationToken::new();
        hurry.cancel();
        let report = group.stop(Duration::from_secs(60), &hurry).await;
        assert_eq!(report.aborted, ["deaf"]);
        assert!(group.is_empty());
    }

    #[tokio::test]
    async fn a_panic_leaves_the_group() {
        let group = Group::new("test");
        group.spawn("bad", async { panic!("on purpose") });
        group.idle().await;
        assert!(group.is_empty());
    }
}
