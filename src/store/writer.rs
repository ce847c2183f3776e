//! The one writer: takes whatever waits, one transaction a round, answers after COMMIT.
//!
//! It never waits to fill a batch: a lone operation is one commit, sixty-four that wait together are one commit too.
//! Operations of the kinds that come in crowds run as one set of statements; the rest run one by one, each in a
//! savepoint, so that one failing operation fails alone.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Connection, Sqlite};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::error::SharedCause;
use super::group::{self, Group, Pending};
use super::rows::Columns;
use super::runs::Begin;
use super::{Result, StoreError, Wakeups};
use crate::model::ids::DraftId;
use crate::model::limits;
use crate::model::repeat::{RepeatGuard, Say};
use crate::model::time::{Clock, Timestamp};
use crate::store::types::{BeginRun, FinishRun, PageCommit, PageReport};

/// A statement with its values. Several statements in one text save trips to SQLite's thread; they take their values
/// by bare `?`, in order, because numbered ones with gaps are not bound across statements.
pub(super) type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// What a waiting operation is told once its round is over.
pub(super) type Deliver = Box<dyn FnOnce(std::result::Result<(), &SharedCause>) + Send>;

/// Runs inside the round; without a connection it only takes the round's error.
pub(super) type Run = Box<dyn for<'a> FnOnce(Option<&'a mut Tx>) -> BoxFuture<'a, Answer> + Send>;

/// One operation that runs by itself.
pub(super) struct Call {
    pub run: Run,
    /// One statement, which is a transaction by itself when nothing else waits.
    pub single: bool,
}

/// What came of a [`Call`].
pub(super) struct Answer {
    /// What it wrote is to be undone.
    pub failed: bool,
    /// Tells the caller.
    pub deliver: Deliver,
}

/// What the writer takes.
pub(super) enum Op {
    Call(Call),
    Page(Pending<PageCommit, PageReport>),
    Begin(Pending<Begin, BeginRun>),
    Finish(Box<Pending<FinishRun, Option<DraftId>>>),
    Close(oneshot::Sender<()>),
}

/// Which lanes a round woke.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wake {
    pub ingest: bool,
    pub worker: bool,
    pub review: bool,
    pub outbound: bool,
    pub pending: bool,
    /// Beside what review and pending are woken for.
    pub notices: bool,
}

impl Wake {
    pub const ALL: Self =
        Self { ingest: true, worker: true, review: true, outbound: true, pending: true, notices: true };

    fn fire(self, wakeups: &Wakeups) {
        for (set, lane) in [
            (self.ingest, &wakeups.ingest),
            (self.worker, &wakeups.worker),
            (self.review, &wakeups.review),
            (self.outbound, &wakeups.outbound),
            (self.pending, &wakeups.pending),
        ] {
            if set {
                lane.notify_one();
            }
        }
        if self.review || self.pending || self.notices {
            wakeups.notices.send_replace(());
        }
    }
}

/// The writer's connection inside a round.
pub(super) struct Tx {
    pub conn: SqliteConnection,
    /// One moment for everything a round writes.
    pub now: Timestamp,
    pub wake: Wake,
    /// When an earlier state of the record was put back the last time.
    pub restored: Option<Timestamp>,
}

impl Tx {
    /// Rows changed.
    pub async fn run(&mut self, doing: &'static str, query: Query) -> Result<u64> {
        let done = query.execute(&mut self.conn).await.map_err(StoreError::sql(doing))?;
        Ok(done.rows_affected())
    }

    /// All rows.
    pub async fn all(&mut self, doing: &'static str, query: Query) -> Result<Vec<SqliteRow>> {
        query.fetch_all(&mut self.conn).await.map_err(StoreError::sql(doing))
    }

    /// A list that the statement gives as one JSON text. sqlx hands rows from thread to thread one by one, which costs
    /// more than the rows themselves when there are many.
    pub async fn list<T: DeserializeOwned>(&mut self, doing: &'static str, query: Query) -> Result<Vec<T>> {
        match self.first(doing, query).await? {
            Some(row) => Columns::of(&row).json(),
            None => Ok(Vec::new()),
        }
    }

    /// The first row, if any. Runs to the end, so writes with RETURNING are whole.
    pub async fn first(&mut self, doing: &'static str, query: Query) -> Result<Option<SqliteRow>> {
        Ok(self.all(doing, query).await?.into_iter().next())
    }

    async fn plain(&mut self, sql: &'static str) -> std::result::Result<(), sqlx::Error> {
        sqlx::query(sql).execute(&mut self.conn).await.map(|_| ())
    }

    /// Everything until [`Tx::keep`] or [`Tx::undo`] can be undone alone.
    pub async fn mark(&mut self) -> std::result::Result<(), sqlx::Error> {
        self.plain("SAVEPOINT op").await
    }

    pub async fn keep(&mut self) -> std::result::Result<(), sqlx::Error> {
        self.plain("RELEASE op").await
    }

    pub async fn undo(&mut self) -> std::result::Result<(), sqlx::Error> {
        self.plain("ROLLBACK TO op; RELEASE op").await
    }

    /// Undoes the whole round and begins it again.
    pub async fn restart(&mut self) -> std::result::Result<(), sqlx::Error> {
        // After a full disk SQLite has rolled back by itself.
        let _ = self.plain("ROLLBACK").await;
        self.plain("BEGIN IMMEDIATE").await
    }
}

/// Rounds committed so far; the checkpointer looks at it.
#[derive(Debug, Default)]
pub(super) struct Activity {
    pub rounds: AtomicU64,
    /// The log is large and nearly all of it is copied: the writer is to copy the rest.
    pub overdue: AtomicBool,
    pub stirred: Notify,
}

/// What the writer task owns.
pub(super) struct Writer {
    pub tx: Tx,
    pub queue: mpsc::Receiver<Op>,
    pub wakeups: Arc<Wakeups>,
    pub clock: Clock,
    /// A full disk fails every round: said, then counted.
    pub failures: RepeatGuard,
    pub activity: Arc<Activity>,
    pub file: DatabaseFile,
}

/// The file that was opened. SQLite writes on into a file that has no name any more: all of it would be lost with the
/// process, and sent once more by the next one.
pub(super) struct DatabaseFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl DatabaseFile {
    /// The file that is there now.
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path) }
    }

    /// Why nothing may be written any more, if it is not the file that was opened.
    fn lost(&self) -> Option<SharedCause> {
        if identity(&self.path) == self.identity {
            return None;
        }
        let text = format!(
            "the database {} was removed or replaced while in use: nothing is recorded, so nothing is sent; stop the \
             daemon and put the file back",
            self.path.display()
        );
        Some(SharedCause(Arc::new(sqlx::Error::Io(std::io::Error::other(text)))))
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// One round's operations by kind. The order among them is free: no caller has had an answer yet.
#[derive(Default)]
struct Round {
    calls: Vec<Call>,
    pages: Vec<Pending<PageCommit, PageReport>>,
    begins: Vec<Pending<Begin, BeginRun>>,
    finishes: Vec<Pending<FinishRun, Option<DraftId>>>,
}

impl Writer {
    /// Lives until the store is closed or every handle is gone.
    pub async fn work(mut self, copying: JoinHandle<()>, stop: oneshot::Sender<()>) {
        let mut batch = Vec::with_capacity(limits::WRITER_BATCH_LEN_MAX);
        let mut closers = Vec::new();
        while self.queue.recv_many(&mut batch, limits::WRITER_BATCH_LEN_MAX).await > 0 {
            let mut round = Round::default();
            for op in batch.drain(..) {
                match op {
                    Op::Call(call) => round.calls.push(call),
                    Op::Page(page) => round.pages.push(page),
                    Op::Begin(begin) => round.begins.push(begin),
                    Op::Finish(finish) => round.finishes.push(*finish),
                    Op::Close(done) => {
                        // What is queued behind is still taken; nothing new gets in.
                        self.queue.close();
                        closers.push(done);
                    }
                }
            }
            self.tx.now = self.clock.now();
            self.tx.wake = Wake::default();
            let deliveries = self.round(round).await;
            self.tx.wake.fire(&self.wakeups);
            if deliveries > 0 && self.activity.rounds.fetch_add(1, Ordering::Relaxed).is_multiple_of(16) {
                self.activity.stirred.notify_one();
            }
            if self.activity.overdue.swap(false, Ordering::Relaxed) {
                let _ = self.tx.plain("PRAGMA wal_checkpoint(PASSIVE)").await;
            }
        }
        // An open connection would keep the log from being emptied.
        let _ = stop.send(());
        let _ = copying.await;
        if !closers.is_empty() {
            let _ = self.tx.plain("PRAGMA wal_checkpoint(TRUNCATE)").await;
        }
        let _ = self.tx.conn.close().await;
        for done in closers {
            let _ = done.send(());
        }
    }

    async fn round(&mut self, round: Round) -> usize {
        let Round { mut calls, pages, begins, finishes } = round;
        let groups: Vec<Box<dyn Group>> =
            [group::of(pages), group::of(begins), group::of(finishes)].into_iter().flatten().collect();
        let alone = calls.len() + groups.len() == 1;
        let lost = self.file.lost();
        if let Some(call) = calls.pop_if(|call| alone && call.single && lost.is_none()) {
            let answer = (call.run)(Some(&mut self.tx)).await;
            (answer.deliver)(Ok(()));
            return 1;
        }
        if calls.is_empty() && groups.is_empty() {
            return 0;
        }
        let mut deliveries: Vec<Deliver> = Vec::new();
        let outcome = self.attempt(calls, groups, (alone, lost), &mut deliveries).await;
        let count = deliveries.len();
        let outcome = match outcome {
            Ok(()) => Ok(()),
            Err(cause) => {
                // After a full disk SQLite may have rolled back by itself; then this says so, harmlessly.
                let _ = self.tx.plain("ROLLBACK").await;
                let now = self.clock.now();
                match self.failures.see(&cause.0.to_string(), now) {
                    Say::New => {
                        tracing::warn!(error = %cause.0, operations = count, "a round of the store was not committed");
                    }
                    Say::Again(repeats) => {
                        let repeats = repeats.sentence(now);
                        tracing::warn!(error = %cause.0, repeats, "rounds of the store are not committed");
                    }
                    Say::Quiet => {}
                }
                Err(cause)
            }
        };
        for deliver in deliveries {
            deliver(outcome.as_ref().map(|&()| ()));
        }
        count
    }

    /// Runs everything and commits. On an error nothing of the round is in the database.
    async fn attempt(
        &mut self,
        calls: Vec<Call>,
        groups: Vec<Box<dyn Group>>,
        (alone, lost): (bool, Option<SharedCause>),
        deliveries: &mut Vec<Deliver>,
    ) -> std::result::Result<(), SharedCause> {
        let shared = |error| SharedCause(Arc::new(error));
        let mut broken = match lost {
            Some(lost) => Some(lost),
            None => self.tx.plain("BEGIN IMMEDIATE").await.map_err(shared).err(),
        };
        let mut undone = false;
        for call in calls {
            if broken.is_none() && !alone {
                broken = self.tx.mark().await.map_err(shared).err();
            }
            if broken.is_some() {
                deliveries.push((call.run)(None).await.deliver);
                continue;
            }
            let answer = (call.run)(Some(&mut self.tx)).await;
            deliveries.push(answer.deliver);
            if alone {
                undone = answer.failed;
            } else {
                let end = if answer.failed { self.tx.undo().await } else { self.tx.keep().await };
                broken = end.map_err(shared).err();
            }
        }
        for mut group in groups {
            if broken.is_none() {
                broken = group.run(&mut self.tx, alone).await.map_err(shared).err();
            }
            deliveries.append(&mut group.deliveries());
        }
        if let Some(cause) = broken {
            return Err(cause);
        }
        let end = if undone { "ROLLBACK" } else { "COMMIT" };
        self.tx.plain(end).await.map_err(shared)
    }
}
