//! The record of a case, line by line, written with what it tells of.

use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteRow;

use super::rows::{Columns, json};
use super::writer::Tx;
use super::{Result, Store};
use crate::model::ids::CaseId;
use crate::model::time::Timestamp;

const WRITING: &str = "write the journal";

/// One line: case, event, detail.
pub(super) type Line<'a> = (i64, &'a str, String);

pub(super) const MANY: &str = "INSERT INTO journal (case_id, at, event, detail) \
     SELECT value ->> 0, ?1, value ->> 1, value ->> 2 FROM json_each(?2)";

const ONE: &str = "INSERT INTO journal (case_id, at, event, detail) VALUES (?1, ?2, ?3, ?4)";

pub(super) const NEWEST: &str =
    "SELECT id, case_id, at, event, detail FROM journal WHERE id > ?1 ORDER BY id DESC LIMIT ?2";

/// A line of the record of all cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalLine {
    /// Grows; what comes later is asked for by it.
    pub id: i64,
    /// The case.
    pub case: CaseId,
    /// When.
    pub at: Timestamp,
    /// `item`, `routed`, `claimed`, `run`, `draft`, `approved`, `sent`…
    pub event: String,
    /// For people.
    pub detail: String,
}

impl Store {
    /// The newest lines after this one, so many at most, oldest first.
    pub async fn journal_after(&self, after: i64, limit: usize) -> Result<Vec<JournalLine>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = sqlx::query(NEWEST).bind(after).bind(limit);
        let rows = self.read_all("read the journal", query).await?;
        rows.iter().rev().map(line).collect()
    }
}

/// From id, case, time, event and detail.
pub(super) fn line(row: &SqliteRow) -> Result<JournalLine> {
    let mut columns = Columns::of(row);
    Ok(JournalLine {
        id: columns.take()?,
        case: CaseId(columns.take()?),
        at: columns.time()?,
        event: columns.take()?,
        detail: columns.take()?,
    })
}

pub(super) async fn note(
    tx: &mut Tx,
    case: CaseId,
    event: &'static str,
    detail: impl Into<String>,
) -> Result<()> {
    let query = sqlx::query(ONE).bind(case.0).bind(tx.now.0).bind(event).bind(detail.into());
    tx.run(WRITING, query).await.map(|_| ())
}

pub(super) async fn notes(tx: &mut Tx, lines: &[Line<'_>]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let query = sqlx::query(MANY).bind(tx.now.0).bind(json(lines));
    tx.run(WRITING, query).await.map(|_| ())
}
