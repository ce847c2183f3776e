//! Signs of life of one task, given when somebody asks: for a watchdog that must not be fooled by a task which runs
//! beside the ones that hang.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// The pulse of one task. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: AtomicU64,
    answered: AtomicU64,
    question: Notify,
}

impl Pulse {
    /// Asks the task whether it goes on.
    pub fn ask(&self) {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        self.0.question.notify_one();
    }

    /// The last question was answered, or none was asked.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.0.answered.load(Ordering::SeqCst) == self.0.asked.load(Ordering::SeqCst)
    }

    /// Does the work, and answers from within the same task: a question finds no answer while the work holds its
    /// thread, waits for a lock that nobody gives back, or is not polled for want of a free thread.
    pub async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.answer() => match never {},
        }
    }

    async fn answer(&self) -> std::convert::Infallible {
        loop {
            self.0.question.notified().await;
            self.0.answered.store(self.0.asked.load(Ordering::SeqCst), Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    async fn until(is_so: impl Fn() -> bool) {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_waits_answers_and_who_blocks_does_not() {
        let pulse = Pulse::default();
        assert!(pulse.is_answered(), "nobody asked");
        let (block, blocked) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (release, released) = mpsc::channel::<()>();
        let mut tasks = tokio::task::JoinSet::new();
        let (theirs, told, tell) = (pulse.clone(), Arc::clone(&block), Arc::clone(&blocked));
        tasks.spawn(async move {
            let work = async move {
                told.notified().await;
                tell.notify_one();
                // Holds its thread, as a hanging driver would.
                let _ = released.recv();
                std::future::pending::<()>().await;
            };
            theirs.beside(work).await;
        });
        pulse.ask();
        until(|| pulse.is_answered()).await;
        block.notify_one();
        blocked.notified().await;
        pulse.ask();
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(!pulse.is_answered(), "a blocked task answered");
        drop(release);
        until(|| pulse.is_answered()).await;
    }

    #[tokio::test]
    async fn the_work_comes_to_its_end() {
        assert_eq!(Pulse::default().beside(async { 7 }).await, 7);
    }
}
