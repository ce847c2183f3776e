//! Everything that waits, with what it waits for.

use std::collections::BTreeMap;

use super::rows::{Columns, case, case_sql, json};
use super::{Result, Store, StoreError};
use crate::model::case::Case;
use crate::model::ids::{ActionId, CaseId, DraftId};
use crate::model::parked::{Parked, Waits};
use crate::model::time::Timestamp;

/// Those that wait for a person first, then by their time.
pub(super) const PARKED: &str = "SELECT id, waits FROM cases WHERE state = 'parked' ORDER BY until LIMIT ?1";

pub(super) const DEFERRED: &str = "SELECT case_id, id, deferred_until FROM drafts \
     WHERE state = 'open' AND deferred_until > ?1 ORDER BY deferred_until LIMIT ?2";

pub(super) const HELD: &str = "SELECT a.case_id, a.id, coalesce(b.last_error, ''), a.approved_at FROM actions a \
     CROSS JOIN action_bodies b ON b.action_id = a.id WHERE a.state = 'held' ORDER BY a.not_before, a.id LIMIT ?1";

pub(super) const BY_IDS: &str = case_sql!("WHERE c.id IN (SELECT value FROM json_each(?1))");

impl Store {
    /// What waits: parked cases, deferred drafts, held sends, at most so many of each. First what waits for a person.
    pub async fn parked(&self, limit: usize) -> Result<Vec<Parked>> {
        const DOING: &str = "read what is parked";
        let bound = i64::try_from(limit).unwrap_or(i64::MAX);
        let now = self.now();
        let mut snapshot = self.snapshot().await?;
        let mut read = async |query: super::writer::Query| {
            query.fetch_all(&mut *snapshot).await.map_err(StoreError::sql(DOING))
        };
        let cases = read(sqlx::query(PARKED).bind(bound)).await?;
        let deferred = read(sqlx::query(DEFERRED).bind(now.0).bind(bound)).await?;
        let held = read(sqlx::query(HELD).bind(bound)).await?;
        let ids: Vec<i64> = cases
            .iter()
            .chain(&deferred)
            .chain(&held)
            .map(|row| Columns::of(row).take())
            .collect::<Result<_>>()?;
        let rows = read(sqlx::query(BY_IDS).bind(json(&ids))).await?;
        let known: BTreeMap<CaseId, Case> = rows
            .iter()
            .map(|row| case(&mut Columns::of(row)).map(|case| (case.id, case)))
            .collect::<Result<_>>()?;
        let of = |id: i64| {
            let missing = || StoreError::NotFound { what: format!("case {}", CaseId(id)) };
            known.get(&CaseId(id)).cloned().ok_or_else(missing)
        };
        let mut parked = Vec::with_capacity(ids.len());
        for row in &held {
            let mut columns = Columns::of(row);
            let (case, action) = (of(columns.take()?)?, ActionId(columns.take()?));
            let (reason, since): (String, Timestamp) = (columns.take()?, columns.time()?);
            let (waits, action) = (Waits::HeldSend, Some(action));
            parked.push(Parked { case, waits, reason, until: None, since, draft: None, action });
        }
        for row in &cases {
            let mut columns = Columns::of(row);
            let case = of(columns.take()?)?;
            let word: Option<String> = columns.take()?;
            parked.push(Parked {
                waits: Waits::of(word.as_deref()),
                reason: case.reason.clone().unwrap_or_default(),
                until: case.until,
                since: case.changed_at,
                draft: None,
                action: None,
                case,
            });
        }
        for row in &deferred {
            let mut columns = Columns::of(row);
            let (case, draft, until) = (of(columns.take()?)?, DraftId(columns.take()?), columns.time()?);
            parked.push(Parked {
                waits: Waits::Deferred,
                reason: format!("{draft} is deferred"),
                until: Some(until),
                since: case.changed_at,
                draft: Some(draft),
                action: None,
                case,
            });
        }
        parked.sort_by_key(|parked| (parked.until.is_some(), parked.until, parked.since, parked.case.id));
        Ok(parked)
    }
}
