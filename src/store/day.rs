//! What happened in a span of time, over all cases: for the report of a day.

use super::journal::{self, JournalLine};
use super::rows::{Columns, case, case_sql, json};
use super::{Result, Store, StoreError};
use crate::model::case::Case;
use crate::model::time::Timestamp;

const DOING: &str = "read what happened in a day";

/// The journal grows in the order of time, so the first line of a day is found by halving. Where the clock was set
/// back, lines stand out of order: then the report begins a little early or late, and loses nothing of the record.
pub(super) const FROM_HERE: &str = "SELECT id, at FROM journal WHERE id >= ?1 ORDER BY id LIMIT 1";

pub(super) const LAST_LINE: &str = "SELECT max(id) FROM journal";

/// Another try of a send and the like are noise in a report; what is left out here is in the record of the case.
pub(super) const OF_DAY: &str = "SELECT id, case_id, at, event, detail FROM journal \
     WHERE id >= ?1 AND at >= ?2 AND at < ?3 AND event NOT IN ('claimed', 'sending', 'routed', 'queued') \
     ORDER BY id LIMIT ?4";

pub(super) const CASES_OF: &str = case_sql!("WHERE c.id IN (SELECT value FROM json_each(?1)) ORDER BY c.id");

impl Store {
    /// What the journal says from a moment on and before another, oldest first, with the cases as they are now. At most
    /// so many lines.
    pub async fn day(
        &self,
        from: Timestamp,
        to: Timestamp,
        lines_max: usize,
    ) -> Result<(Vec<JournalLine>, Vec<Case>)> {
        let mut snapshot = self.snapshot().await?;
        let row =
            sqlx::query(LAST_LINE).fetch_optional(&mut *snapshot).await.map_err(StoreError::sql(DOING))?;
        let last = match row {
            Some(row) => Columns::of(&row).take::<Option<i64>>()?.unwrap_or(0),
            None => 0,
        };
        let (mut low, mut high) = (0_i64, last.saturating_add(1));
        while low < high {
            let middle = low + (high - low) / 2;
            let query = sqlx::query(FROM_HERE).bind(middle);
            let row = query.fetch_optional(&mut *snapshot).await.map_err(StoreError::sql(DOING))?;
            let early = match &row {
                Some(row) => {
                    let mut columns = Columns::of(row);
                    let id: i64 = columns.take()?;
                    (columns.time()? < from).then_some(id)
                }
                None => None,
            };
            match early {
                Some(id) => low = id.saturating_add(1),
                None => high = middle,
            }
        }
        let limit = i64::try_from(lines_max).unwrap_or(i64::MAX);
        let query = sqlx::query(OF_DAY).bind(low).bind(from.0).bind(to.0).bind(limit);
        let rows = query.fetch_all(&mut *snapshot).await.map_err(StoreError::sql(DOING))?;
        let lines = rows.iter().map(journal::line).collect::<Result<Vec<JournalLine>>>()?;
        let mut ids: Vec<i64> = lines.iter().map(|line| line.case.0).collect();
        ids.sort_unstable();
        ids.dedup();
        let query = sqlx::query(CASES_OF).bind(json(&ids));
        let rows = query.fetch_all(&mut *snapshot).await.map_err(StoreError::sql(DOING))?;
        let cases = rows.iter().map(|row| case(&mut Columns::of(row))).collect::<Result<Vec<_>>>()?;
        Ok((lines, cases))
    }
}
