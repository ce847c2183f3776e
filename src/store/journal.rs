//! The record of a case, line by line, written with what it tells of.

use super::Result;
use super::rows::json;
use super::writer::Tx;
use crate::model::ids::CaseId;

const WRITING: &str = "write the journal";

/// One line: case, event, detail.
pub(super) type Line<'a> = (i64, &'a str, String);

pub(super) const MANY: &str = "INSERT INTO journal (case_id, at, event, detail) \
     SELECT value ->> 0, ?1, value ->> 1, value ->> 2 FROM json_each(?2)";

const ONE: &str = "INSERT INTO journal (case_id, at, event, detail) VALUES (?1, ?2, ?3, ?4)";

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
