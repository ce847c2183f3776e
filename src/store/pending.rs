//! What becomes due by time alone.

use std::time::Duration;

use super::rows::{Columns, json};
use super::types::Due;
use super::writer::Tx;
use super::{Result, Store, journal};
use crate::model::limits;
use crate::model::time::Timestamp;

pub(super) const WAKE: &str = "UPDATE cases SET state = 'new', reason = NULL, until = NULL, changed_at = ?1 \
     WHERE id IN (SELECT id FROM cases WHERE state = 'parked' AND until <= ?1 ORDER BY until LIMIT ?2) RETURNING id";

pub(super) const CLOSE: &str = "UPDATE cases SET state = 'closed', changed_at = ?1 \
     WHERE id IN (SELECT id FROM cases WHERE state = 'sent' AND changed_at < ?3 ORDER BY changed_at LIMIT ?2) RETURNING id";

pub(super) const NUDGE: &str = "UPDATE cases SET state = 'parked', waits = 'answer', until = NULL, changed_at = ?1, \
     reason = 'nobody answered since ' || strftime('%Y-%m-%d', changed_at / 1000, 'unixepoch') \
     WHERE id IN (SELECT c.id FROM cases c WHERE c.state = 'sent' AND c.changed_at <= ?3 \
     AND c.connector IN (SELECT id FROM connectors WHERE name = ?4) ORDER BY c.changed_at LIMIT ?2) RETURNING id, reason";

pub(super) const NEXT_NUDGE: &str = "SELECT changed_at FROM cases WHERE state = 'sent' \
     AND connector IN (SELECT id FROM connectors WHERE name = ?1) ORDER BY changed_at LIMIT 1";

pub(super) const NEXT_PARKED: &str = "SELECT min(until) FROM cases WHERE state = 'parked'";

pub(super) const NEXT_DRAFT: &str =
    "SELECT min(deferred_until) FROM drafts WHERE state = 'open' AND deferred_until > ?1";

pub(super) const NEXT_ACTION: &str = "SELECT min(at) FROM ( \
     SELECT min(not_before) AS at FROM actions WHERE state = 'approved' \
     AND connector NOT IN (SELECT value FROM json_each(?1)) \
     UNION ALL SELECT min(not_before) FROM actions WHERE state = 'uncertain' \
     AND connector NOT IN (SELECT value FROM json_each(?1)))";

pub(super) const NEXT_LEASE: &str = "SELECT min(lease_until) FROM cases WHERE state = 'running'";

impl Store {
    /// Parked cases with a time that has come go back to `new`; `sent` cases untouched since `sent_before` are closed.
    /// Gives the number of parked ones.
    pub async fn wake_due(&self, sent_before: Timestamp) -> Result<u64> {
        let mut woken = 0;
        // Bounded rounds: a morning after a long sleep must not hold up everybody else.
        loop {
            let (parked, closed) =
                self.write("wake parked cases", move |tx| Box::pin(wake(tx, sent_before))).await?;
            woken += parked as u64;
            if parked.max(closed) < limits::SWEEP_ROWS_MAX {
                return Ok(woken);
            }
        }
    }

    /// Cases of this connector that were answered and to which nothing came for so long wait for the user. Gives when the
    /// next one will.
    pub async fn nudge(&self, connector: &str, after: Duration) -> Result<Option<Timestamp>> {
        const DOING: &str = "look for answers that nobody answered";
        let limit = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
        loop {
            let oldest = self.read_first(DOING, sqlx::query(NEXT_NUDGE).bind(connector.to_owned())).await?;
            let Some(row) = oldest else { return Ok(None) };
            let due = Columns::of(&row).time()?.plus(after);
            if due > self.now() {
                return Ok(Some(due));
            }
            let name = connector.to_owned();
            self.write(DOING, move |tx| {
                Box::pin(async move {
                    let before = tx.now.minus(after);
                    let query =
                        sqlx::query(NUDGE).bind(tx.now.0).bind(limit).bind(before.0).bind(name.clone());
                    let rows = tx.all(DOING, query).await?;
                    let line = |row| {
                        let mut columns = Columns::of(row);
                        Ok((columns.take()?, "parked", columns.take()?))
                    };
                    let lines = rows.iter().map(line).collect::<Result<Vec<_>>>()?;
                    journal::notes(tx, &lines).await
                })
            })
            .await?;
        }
    }

    /// The earliest moment at which something becomes due by time alone.
    pub async fn next_due(&self, what: Due<'_>) -> Result<Option<Timestamp>> {
        let query = match what {
            Due::Parked => sqlx::query(NEXT_PARKED),
            Due::Drafts => sqlx::query(NEXT_DRAFT).bind(self.now().0),
            Due::Actions(but_of) => sqlx::query(NEXT_ACTION).bind(json(&but_of)),
            Due::Leases => sqlx::query(NEXT_LEASE),
        };
        match self.read_first("read what is due next", query).await? {
            Some(row) => Columns::of(&row).maybe_time(),
            None => Ok(None),
        }
    }
}

async fn wake(tx: &mut Tx, sent_before: Timestamp) -> Result<(usize, usize)> {
    const DOING: &str = "wake parked cases";
    let limit = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
    let woken = tx.all(DOING, sqlx::query(WAKE).bind(tx.now.0).bind(limit)).await?;
    let query = sqlx::query(CLOSE).bind(tx.now.0).bind(limit).bind(sent_before.0);
    let closed = tx.all(DOING, query).await?;
    let mut lines = Vec::with_capacity(woken.len() + closed.len());
    for row in &woken {
        lines.push((Columns::of(row).take()?, "woken", String::new()));
    }
    for row in &closed {
        lines.push((Columns::of(row).take()?, "closed", "nothing came after the answer".to_owned()));
    }
    tx.wake.ingest |= !woken.is_empty();
    journal::notes(tx, &lines).await?;
    Ok((woken.len(), closed.len()))
}
