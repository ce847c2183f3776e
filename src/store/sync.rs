//! What is remembered of connectors and plans.

use super::rows::Columns;
use super::types::SyncState;
use super::{Result, Store, StoreError};
use crate::model::item::Cursor;

const SYNC_STATE: &str = "SELECT identity, cursor, last_new_item_at, items_known, items_baseline FROM connectors \
     WHERE name = ?1 AND identity <> ?2 ORDER BY since DESC LIMIT 1";

/// The account under which a timer's cases and its place in its schedule are kept; no platform names one so. A connector
/// may once have had the timer's name.
pub const TIMER_IDENTITY: &str = "workagent:timer";

const TIMER_CURSOR: &str = "SELECT cursor FROM connectors WHERE name = ?1 AND identity = ?2";

const LAST_GENERATION: &str = "SELECT id, plan_hash FROM generations ORDER BY id DESC LIMIT 1";

const ADD_GENERATION: &str = "INSERT INTO generations (plan_hash, at) VALUES (?1, ?2) RETURNING id";

impl Store {
    /// The number of the plan with this hash: the last one's if the hash is the same, else a new one.
    pub async fn generation(&self, plan_hash: &str) -> Result<i64> {
        const DOING: &str = "number the plan";
        let plan_hash = plan_hash.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                if let Some(row) = tx.first(DOING, sqlx::query(LAST_GENERATION)).await? {
                    let mut columns = Columns::of(&row);
                    let id = columns.take()?;
                    if columns.take::<&str>()? == plan_hash {
                        return Ok(id);
                    }
                }
                let query = sqlx::query(ADD_GENERATION).bind(plan_hash).bind(tx.now.0);
                let row = tx.first(DOING, query).await?;
                let row = row.ok_or_else(|| StoreError::unreadable(DOING, "no answer"))?;
                Columns::of(&row).take()
            })
        })
        .await
    }

    /// How far a timer has come, as the scheduler wrote it with its last case.
    pub async fn timer_cursor(&self, timer: &str) -> Result<Option<Cursor>> {
        let query = sqlx::query(TIMER_CURSOR).bind(timer.to_owned()).bind(TIMER_IDENTITY);
        let row = self.read_first("read how far a timer has come", query).await?;
        Ok(row.map(|row| Columns::of(&row).take::<Option<String>>()).transpose()?.flatten().map(Cursor))
    }

    /// What is remembered of a connector.
    pub async fn sync_state(&self, connector: &str) -> Result<Option<SyncState>> {
        let query = sqlx::query(SYNC_STATE).bind(connector.to_owned()).bind(TIMER_IDENTITY);
        let Some(row) = self.read_first("read the state of a connector", query).await? else {
            return Ok(None);
        };
        let mut columns = Columns::of(&row);
        Ok(Some(SyncState {
            identity: columns.take()?,
            cursor: columns.take::<Option<String>>()?.map(Cursor),
            last_new_item_at: columns.maybe_time()?,
            items_known: columns.count()?,
            items_baseline: columns.count()?,
        }))
    }
}
