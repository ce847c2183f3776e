//! Letting go of everything that came through one connector. That something was sent, and which text, stays provable by
//! its hash and its receipt, unless that is to go too.

use serde::{Deserialize, Serialize};

use super::rows::{Columns, json, shared};
use super::writer::{Query, Tx};
use super::{Result, Store, StoreError};
use crate::model::draft::Envelope;
use crate::model::limits;

const DOING: &str = "let go of a connector's data";

const COUNT: &str = "SELECT count(*), \
     (SELECT count(*) FROM items i CROSS JOIN connectors l ON l.id = i.connector WHERE l.name = ?1), \
     (SELECT count(*) FROM drafts WHERE connector = ?1), \
     (SELECT count(*) FROM actions WHERE connector = ?1), \
     (SELECT count(*) FROM actions WHERE connector = ?1 AND state IN ('approved', 'sending', 'uncertain', 'held')), \
     count(*) FILTER (WHERE c.state = 'running'), (SELECT count(*) FROM connectors WHERE name = ?1) \
     FROM cases c CROSS JOIN connectors l ON l.id = c.connector WHERE l.name = ?1";

const CASES: &str = "SELECT c.id FROM cases c WHERE c.id > ?1 \
     AND c.connector IN (SELECT id FROM connectors WHERE name = ?2) ORDER BY c.id LIMIT ?3";

/// Everything of these cases; what has an action keeps its rows, emptied.
const EMPTY: &str = "\
     DELETE FROM journal WHERE case_id IN (SELECT value FROM json_each(?)); \
     DELETE FROM replays WHERE case_id IN (SELECT value FROM json_each(?)); \
     DELETE FROM run_prompts WHERE run_id IN (SELECT id FROM runs WHERE case_id IN (SELECT value FROM json_each(?))); \
     DELETE FROM runs WHERE case_id IN (SELECT value FROM json_each(?)); \
     DELETE FROM item_bodies WHERE item_id IN (SELECT id FROM items WHERE case_id IN (SELECT value FROM json_each(?))); \
     DELETE FROM items WHERE case_id IN (SELECT value FROM json_each(?)); \
     DELETE FROM draft_bodies WHERE draft_id IN (SELECT d.id FROM drafts d WHERE d.case_id IN (SELECT value FROM json_each(?)) \
     AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.draft_id = d.id)); \
     DELETE FROM drafts WHERE case_id IN (SELECT value FROM json_each(?)) \
     AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.draft_id = drafts.id); \
     UPDATE draft_bodies SET envelope = ?, body = '', engine_body = '', remarks = '[]' WHERE draft_id IN \
     (SELECT id FROM drafts WHERE case_id IN (SELECT value FROM json_each(?))); \
     UPDATE action_bodies SET envelope = ?, body = '', payload = NULL, last_error = NULL WHERE action_id IN \
     (SELECT id FROM actions WHERE case_id IN (SELECT value FROM json_each(?))); \
     UPDATE case_heads SET title = '(purged)', author = '', labels = '[]' WHERE case_id IN (SELECT value FROM json_each(?)); \
     UPDATE cases SET state = 'closed', reason = 'purged', until = NULL, lease_until = NULL, items = 0 \
     WHERE id IN (SELECT value FROM json_each(?)); \
     DELETE FROM case_heads WHERE case_id IN (SELECT value FROM json_each(?)) \
     AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.case_id = case_heads.case_id); \
     DELETE FROM cases WHERE id IN (SELECT value FROM json_each(?)) \
     AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.case_id = cases.id)";

/// Before the rest, where also the sends are to go.
const SENDS: &str = "\
     DELETE FROM restored_actions WHERE action_id IN (SELECT id FROM actions WHERE case_id IN (SELECT value FROM json_each(?))); \
     DELETE FROM own_marks WHERE action_id IN (SELECT id FROM actions WHERE case_id IN (SELECT value FROM json_each(?))); \
     DELETE FROM action_bodies WHERE action_id IN (SELECT id FROM actions WHERE case_id IN (SELECT value FROM json_each(?))); \
     DELETE FROM actions WHERE case_id IN (SELECT value FROM json_each(?))";

/// Items without a case: what was there before the connector was switched on, and what was ours.
const LEDGER: &str =
    "SELECT i.id FROM items i CROSS JOIN connectors l ON l.id = i.connector WHERE l.name = ?1 LIMIT ?2";

const FORGET_ITEMS: &str = "DELETE FROM item_bodies WHERE item_id IN (SELECT value FROM json_each(?)); \
     DELETE FROM items WHERE id IN (SELECT value FROM json_each(?))";

/// The cursor goes with the connector's row, or is emptied where sends still refer to it.
const FORGET: &str = "\
     DELETE FROM item_identities WHERE connector IN (SELECT id FROM connectors WHERE name = ?); \
     DELETE FROM case_threads WHERE connector IN (SELECT id FROM connectors WHERE name = ?); \
     DELETE FROM ways_out WHERE connector = ?; \
     UPDATE connectors SET cursor = NULL, last_new_item_at = NULL, items_known = 0, items_baseline = 0 WHERE name = ?; \
     DELETE FROM connectors WHERE name = ? AND NOT EXISTS (SELECT 1 FROM cases c WHERE c.connector = connectors.id)";

/// What there is of a connector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Belongings {
    /// Cases.
    pub cases: u64,
    /// Items ever read.
    pub items: u64,
    /// Drafts.
    pub drafts: u64,
    /// Sends, whatever became of them.
    pub sends: u64,
    /// Of these, not over: they keep everything from being let go.
    pub sends_open: u64,
    /// Cases that an engine works on just now.
    pub running: u64,
    /// Accounts it ever had.
    pub accounts: u64,
}

impl Store {
    /// What there is of a connector.
    ///
    /// # Errors
    /// Nothing was ever read through a connector of this name.
    pub async fn belongings(&self, connector: &str) -> Result<Belongings> {
        let row = self.read_first(DOING, sqlx::query(COUNT).bind(connector.to_owned())).await?;
        let row = row.ok_or_else(|| StoreError::unreadable(DOING, "no answer"))?;
        let mut columns = Columns::of(&row);
        let found = Belongings {
            cases: columns.count()?,
            items: columns.count()?,
            drafts: columns.count()?,
            sends: columns.count()?,
            sends_open: columns.count()?,
            running: columns.count()?,
            accounts: columns.count()?,
        };
        if found == Belongings::default() {
            return Err(StoreError::NotFound { what: format!("record of a connector {connector}") });
        }
        Ok(found)
    }

    /// Lets go of all of it, step by step; hashes and receipts of sends stay unless `receipts`. Begun and interrupted, it
    /// is gone on with by doing it once more.
    ///
    /// # Errors
    /// Refused while something of it is being worked on or sent.
    pub async fn purge(&self, connector: &str, receipts: bool) -> Result<Belongings> {
        let found = self.belongings(connector).await?;
        if found.running > 0 {
            let why = format!("an engine works on {} cases of {connector} just now", found.running);
            return Err(StoreError::Refused { why });
        }
        if found.sends_open > 0 {
            let why = format!(
                "{} sends of {connector} are not over: release or cancel them first",
                found.sends_open
            );
            return Err(StoreError::Refused { why });
        }
        let mut after = 0;
        loop {
            let name = connector.to_owned();
            match self.write(DOING, move |tx| Box::pin(empty(tx, name, after, receipts))).await? {
                Some(last) => after = last,
                None => break,
            }
        }
        loop {
            let name = connector.to_owned();
            if !self.write(DOING, move |tx| Box::pin(forget_items(tx, name))).await? {
                break;
            }
        }
        let name: std::sync::Arc<str> = connector.into();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let query = (0..5).fold(sqlx::query(FORGET), |query, _| query.bind(name.clone()));
                tx.wake.review = true;
                tx.run(DOING, query).await.map(|_| ())
            })
        })
        .await?;
        Ok(found)
    }
}

/// Some cases; gives the last of them, or `None` when there are no more.
async fn empty(tx: &mut Tx, connector: String, after: i64, receipts: bool) -> Result<Option<i64>> {
    let rows = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
    let query = sqlx::query(CASES).bind(after).bind(connector).bind(rows);
    let found = tx.all(DOING, query).await?;
    let cases = found.iter().map(|row| Columns::of(row).take()).collect::<Result<Vec<i64>>>()?;
    let Some(last) = cases.last().copied() else { return Ok(None) };
    let ids = shared(&cases);
    let times = |query: Query, count: usize| (0..count).fold(query, |query, _| query.bind(ids.clone()));
    if receipts {
        tx.run(DOING, times(sqlx::query(SENDS), 4)).await?;
    }
    let nobody = shared(&Envelope::default());
    let query = times(sqlx::query(EMPTY), 8).bind(nobody.clone());
    let query = times(query, 1).bind(nobody);
    tx.run(DOING, times(query, 5)).await?;
    Ok(Some(last))
}

/// Some items; `false` when there are no more.
async fn forget_items(tx: &mut Tx, connector: String) -> Result<bool> {
    let rows = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
    let found = tx.all(DOING, sqlx::query(LEDGER).bind(connector).bind(rows)).await?;
    let items = found.iter().map(|row| Columns::of(row).take()).collect::<Result<Vec<i64>>>()?;
    if items.is_empty() {
        return Ok(false);
    }
    let ids = json(&items);
    tx.run(DOING, sqlx::query(FORGET_ITEMS).bind(ids.clone()).bind(ids)).await?;
    Ok(true)
}
