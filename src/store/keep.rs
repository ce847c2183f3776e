//! How long what is over is kept, and giving the room back. Only of cases that are closed or dismissed; in small steps,
//! so that nobody waits for them.

use std::time::Duration;

use super::rows::{Columns, json, shared};
use super::writer::{Query, Tx};
use super::{Result, Store, StoreError};
use crate::model::case::CaseState;
use crate::model::keep::Keep;
use crate::model::limits;
use crate::model::time::Timestamp;

const DOING: &str = "let go of what is over";
const SHRINKING: &str = "give room back";

/// Two index walks, one a state. What comes after the place where the last step ended, oldest first.
pub(super) const OVER: &str = "SELECT id, changed_at FROM cases WHERE state = 'closed' AND changed_at < ?1 \
     AND (changed_at, id) > (?2, ?3) ORDER BY changed_at, id LIMIT ?4";
pub(super) const DISMISSED: &str = "SELECT id, changed_at FROM cases WHERE state = 'dismissed' AND changed_at < ?1 \
     AND (changed_at, id) > (?2, ?3) ORDER BY changed_at, id LIMIT ?4";

const PLACE: &str = "SELECT value FROM life WHERE name = ?1";

const KEEP_PLACE: &str = "INSERT INTO life (name, value) VALUES (?1, ?2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";

pub(super) const TEXTS: &str = "\
     UPDATE item_bodies SET body = json_set(body, '$.body', '', '$.hidden', json('[]'), '$.cut', \
     json_object('kept_bytes', 0, 'total_bytes', length(body ->> '$.body'))) \
     WHERE item_id IN (SELECT i.id FROM json_each(?) j CROSS JOIN items i ON i.case_id = j.value) \
     AND body ->> '$.body' <> ''; \
     UPDATE draft_bodies SET body = '', engine_body = '' \
     WHERE draft_id IN (SELECT d.id FROM json_each(?) j CROSS JOIN drafts d ON d.case_id = j.value); \
     UPDATE action_bodies SET body = '', payload = NULL \
     WHERE action_id IN (SELECT a.id FROM json_each(?) j CROSS JOIN actions a ON a.case_id = j.value \
     WHERE a.state IN ('sent', 'dead', 'cancelled')); \
     DELETE FROM run_prompts WHERE run_id IN (SELECT r.id FROM json_each(?) j CROSS JOIN runs r ON r.case_id = j.value); \
     UPDATE replays SET body = '', prompt = NULL \
     WHERE id IN (SELECT p.id FROM json_each(?) j CROSS JOIN replays p ON p.case_id = j.value)";

pub(super) const JOURNAL: &str = "DELETE FROM journal WHERE id IN (SELECT l.id FROM json_each(?1) j CROSS JOIN journal l ON l.case_id = j.value)";

pub(super) const RUNS: &str = "\
     DELETE FROM run_prompts WHERE run_id IN (SELECT r.id FROM json_each(?) j CROSS JOIN runs r ON r.case_id = j.value); \
     DELETE FROM runs WHERE id IN (SELECT r.id FROM json_each(?) j CROSS JOIN runs r ON r.case_id = j.value)";

/// What is kept for so long.
#[derive(Clone, Copy)]
enum Part {
    Texts,
    Journal,
    Runs,
}

impl Part {
    const ALL: [Self; 3] = [Self::Texts, Self::Journal, Self::Runs];

    fn word(self) -> &'static str {
        match self {
            Self::Texts => "texts",
            Self::Journal => "journal",
            Self::Runs => "runs",
        }
    }

    fn kept(self, keep: &Keep) -> Option<Duration> {
        match self {
            Self::Texts => keep.texts,
            Self::Journal => keep.journal,
            Self::Runs => keep.runs,
        }
    }

    fn remove(self, cases: &[i64]) -> Query {
        let ids = shared(cases);
        let (sql, times) = match self {
            Self::Texts => (TEXTS, 5),
            Self::Journal => (JOURNAL, 1),
            Self::Runs => (RUNS, 2),
        };
        (0..times).fold(sqlx::query(sql), |query, _| query.bind(ids.clone()))
    }
}

impl Store {
    /// One step: of each part, what belongs to some of the oldest cases that were over longer ago than it is kept. Gives
    /// the number of cases; 0: there is nothing left to do.
    pub async fn let_go(&self, keep: &Keep) -> Result<u64> {
        let mut cases = 0;
        for part in Part::ALL {
            let Some(span) = part.kept(keep) else { continue };
            for state in [CaseState::Closed, CaseState::Dismissed] {
                cases += self.write(DOING, move |tx| Box::pin(step(tx, part, span, state))).await?;
            }
        }
        Ok(cases)
    }

    /// Gives free pages back to the file system, a bounded number; none while they are few. `true`: there are more.
    pub async fn shrink(&self) -> Result<bool> {
        self.write(SHRINKING, |tx| Box::pin(shrink(tx))).await
    }
}

async fn step(tx: &mut Tx, part: Part, span: Duration, state: CaseState) -> Result<u64> {
    let name = format!("kept-{}-{}", part.word(), state.word());
    let place = match tx.first(DOING, sqlx::query(PLACE).bind(name.clone())).await? {
        Some(row) => Columns::of(&row).json::<(i64, i64)>().unwrap_or_default(),
        None => (i64::MIN, 0),
    };
    let sql = if state == CaseState::Closed { OVER } else { DISMISSED };
    let rows = i64::try_from(limits::KEEP_CASES_STEP).unwrap_or(i64::MAX);
    let query = sqlx::query(sql).bind(tx.now.minus(span).0).bind(place.0).bind(place.1).bind(rows);
    let found = tx.all(DOING, query).await?;
    let mut cases = Vec::with_capacity(found.len());
    let mut last = (Timestamp(place.0), place.1);
    for row in &found {
        let mut columns = Columns::of(row);
        let id: i64 = columns.take()?;
        last = (columns.time()?, id);
        cases.push(id);
    }
    if cases.is_empty() {
        return Ok(0);
    }
    tx.run(DOING, part.remove(&cases)).await?;
    tx.run(DOING, sqlx::query(KEEP_PLACE).bind(name).bind(json(&last))).await?;
    Ok(cases.len() as u64)
}

async fn shrink(tx: &mut Tx) -> Result<bool> {
    let free = pages(tx, "PRAGMA freelist_count").await?;
    let all = pages(tx, "PRAGMA page_count").await?;
    // A little room to write into is not worth the work of moving it about.
    if free < limits::FREE_PAGES_MIN || free < all / 10 {
        return Ok(false);
    }
    tx.all(SHRINKING, sqlx::query("PRAGMA incremental_vacuum(512)")).await?;
    Ok(pages(tx, "PRAGMA freelist_count").await? < free)
}

async fn pages(tx: &mut Tx, pragma: &'static str) -> Result<i64> {
    let row = tx.first(SHRINKING, sqlx::query(pragma)).await?;
    let row = row.ok_or_else(|| StoreError::unreadable(SHRINKING, "no answer"))?;
    Columns::of(&row).take()
}
