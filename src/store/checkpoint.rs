//! Copies the write-ahead log into the database, on a connection of its own and off the commit path.
//!
//! Sleeps until the writer stirs it; then waits for a pause, or for the log to grow large. An idle store has no timer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::oneshot;

use super::writer::Activity;
use crate::model::limits;

pub(super) struct Checkpointer {
    pub conn: SqliteConnection,
    pub wal: PathBuf,
    pub activity: Arc<Activity>,
}

impl Checkpointer {
    /// Until told to stop. The connection is closed then and not just dropped: the last one to close tidies the log
    /// away, and that is to be the writer.
    pub async fn work(mut self, stop: oneshot::Receiver<()>) {
        tokio::select! {
            _ = stop => {}
            () = self.watch() => {}
        }
        let _ = self.conn.close().await;
    }

    async fn watch(&mut self) {
        let mut copied = 0;
        loop {
            self.activity.stirred.notified().await;
            loop {
                let seen = self.activity.rounds.load(Ordering::Relaxed);
                if seen == copied {
                    break;
                }
                tokio::time::sleep(limits::WAL_QUIET).await;
                let quiet = self.activity.rounds.load(Ordering::Relaxed) == seen;
                if !quiet && self.wal_bytes().await <= limits::WAL_BYTES_MAX {
                    continue;
                }
                if let Err(error) =
                    sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut self.conn).await
                {
                    tracing::warn!(%error, "the write-ahead log could not be copied");
                    break;
                }
                copied = seen;
                if !quiet {
                    // The log starts over only when all of it is copied: the writer does the last bit between rounds.
                    self.activity.overdue.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    async fn wal_bytes(&self) -> u64 {
        tokio::fs::metadata(&self.wal).await.map_or(0, |meta| meta.len())
    }
}
