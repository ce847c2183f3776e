//! The only home of SQL. One writer task on one connection with group commit; a read-only pool of two.
//!
//! Every public operation is one transaction. Runtimes look at the store and do what is due.
//!
//! `writer` runs rounds, `group` what comes in crowds; `look` tells what is there, `open` migrates it, `life` tells
//! whether an earlier state was put back; the other files hold the operations, one concept each, and `state` says which move of a case or an action is allowed.

mod around;
mod auto;
mod channels;
mod checkpoint;
mod copies;
mod day;
mod drafts;
mod error;
mod group;
mod ingest;
mod journal;
mod keep;
mod leases;
mod life;
mod look;
mod money;
mod notices;
mod open;
mod outbox;
mod pages;
mod parked;
mod pauses;
mod pending;
mod people;
mod propose;
mod purge;
mod records;
mod recovery;
mod replays;
mod rests;
mod rotations;
mod rows;
mod runs;
pub mod state;
mod sync;
mod tally;
mod tune;
mod types;
mod writer;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::Sqlite;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use tokio::sync::{Notify, mpsc, oneshot, watch};

pub use around::Around;
pub use channels::{PairingTry, Referred};
pub use copies::{before_migrations, check_copy, check_database, copy_database, empty_log};
pub use drafts::Seen;
pub use error::StoreError;
pub use journal::JournalLine;
pub use life::{Expected, Life, Restored};
pub use purge::Belongings;
pub use records::KeptPrompt;
pub use replays::{Replay, ReplayEnd, WaitingReplay};
pub use rests::{Rest, Rests};
pub use rotations::Rotation;
pub use sync::TIMER_IDENTITY;
pub use tally::RunTally;
pub use tune::tune_allocator;
pub use types::*;

use crate::model::time::{Clock, Timestamp};
use group::{Pending, deliver};
use writer::{Answer, Call, Op, Query, Tx};

/// How to open a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The database file; its directory is made (0700), the file is 0600.
    pub path: PathBuf,
    /// `synchronous=NORMAL` instead of FULL.
    pub normal: bool,
    /// Now.
    pub clock: Clock,
}

/// Wake-ups without data: somebody wrote something that the runtime may want to look at.
#[derive(Debug, Default)]
pub struct Wakeups {
    /// New cases to route.
    pub ingest: Notify,
    /// Queued cases.
    pub worker: Notify,
    /// Drafts came, went or changed.
    pub review: Notify,
    /// Approved actions.
    pub outbound: Notify,
    /// Parked cases.
    pub pending: Notify,
    /// What needs the user came, went or changed. Many listen: each channel for itself.
    pub notices: watch::Sender<()>,
}

/// A handle to the store; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    wakeups: Arc<Wakeups>,
    queue: mpsc::Sender<Op>,
    readers: SqlitePool,
    clock: Clock,
    life: Arc<Life>,
}

type Result<T> = std::result::Result<T, StoreError>;

impl Store {
    /// Takes what still waits in the writer, checkpoints, closes.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        // Readers first: an open one would keep the write-ahead log from being emptied.
        self.readers.close().await;
        if self.queue.send(Op::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
    }

    /// Who is woken by writes.
    #[must_use]
    pub fn wakeups(&self) -> &Wakeups {
        &self.wakeups
    }

    /// Now, by the clock that the record goes by.
    #[must_use]
    pub fn time(&self) -> Timestamp {
        self.clock.now()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs `body` in the writer, in a transaction of its own or a savepoint of a round's.
    async fn write<T, F>(&self, doing: &'static str, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T>> + Send + 'static,
    {
        self.call(doing, false, body).await
    }

    /// Like [`Store::write`], for a body of exactly one statement.
    async fn write_single<T, F>(&self, doing: &'static str, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T>> + Send + 'static,
    {
        self.call(doing, true, body).await
    }

    async fn call<T, F>(&self, doing: &'static str, single: bool, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let run: writer::Run = Box::new(move |tx| {
            let Some(tx) = tx else {
                return Box::pin(
                    async move { Answer { failed: true, deliver: deliver(doing, None, reply) } },
                );
            };
            let work = body(tx);
            Box::pin(async move {
                let result = work.await;
                Answer { failed: result.is_err(), deliver: deliver(doing, Some(result), reply) }
            })
        });
        let call = Call { run, single };
        self.queue.send(Op::Call(call)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Hands an operation to its group and waits for the answer.
    async fn grouped<I, O>(&self, input: I, op: fn(Pending<I, O>) -> Op) -> Result<O> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(op(Pending { input, reply })).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    async fn read_all(&self, doing: &'static str, query: Query) -> Result<Vec<SqliteRow>> {
        query.fetch_all(&self.readers).await.map_err(StoreError::sql(doing))
    }

    async fn read_first(&self, doing: &'static str, query: Query) -> Result<Option<SqliteRow>> {
        query.fetch_optional(&self.readers).await.map_err(StoreError::sql(doing))
    }

    /// Several reads of one moment.
    async fn snapshot(&self) -> Result<sqlx::Transaction<'static, Sqlite>> {
        self.readers.begin().await.map_err(StoreError::sql("begin reading"))
    }
}
