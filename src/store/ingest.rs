//! New cases and where they go.

use std::collections::{BTreeSet, HashMap};

use super::rows::{Columns, case, case_sql, json};
use super::types::{Admission, CaseFacts};
use super::writer::Query;
use super::{Result, Store, StoreError, journal};
use crate::model::case::CaseState;
use crate::model::ids::CaseId;
use crate::model::item::Item;
use crate::model::time::Timestamp;

/// An automatic item within a day counts for the loop guard.
const DAY_MS: i64 = 24 * 3600 * 1000;

pub(super) const NEW_CASES: &str = case_sql!("WHERE c.state = 'new' ORDER BY c.id LIMIT ?1");

/// Parked when they were routed: any other way of parking keeps the route.
const UNROUTED: &str = case_sql!(
    "WHERE c.state = 'parked' AND c.until IS NULL AND c.route IS NULL AND c.id > ?2 ORDER BY c.id LIMIT ?1"
);

const ONE: &str = case_sql!("WHERE c.id = ?1");

pub(super) const ANSWERED: &str =
    "SELECT k.address FROM json_each(?1) j CROSS JOIN correspondents k ON k.address = j.value";

const ROUTE_ANEW: &str = "UPDATE cases SET state = 'new', reason = NULL, changed_at = ?1 \
     FROM json_each(?2) j WHERE cases.id = j.value AND state = 'parked' AND until IS NULL AND route IS NULL \
     RETURNING cases.id";

pub(super) const NEWEST: &str = "SELECT j.key, b.body, EXISTS (SELECT 1 FROM items e WHERE e.case_id = i.case_id AND e.id < i.id \
     AND e.disposition IN (1, 5) AND e.read_at > i.read_at - ?2) \
     FROM json_each(?1) j CROSS JOIN cases c ON c.id = j.value CROSS JOIN items i ON i.id = c.newest_item \
     CROSS JOIN item_bodies b ON b.item_id = i.id";

pub(super) const ADMIT: &str = "UPDATE cases SET state = j.value ->> 1, route = j.value ->> 2, engine = j.value ->> 3, \
     priority = j.value ->> 4, reason = j.value ->> 5, until = j.value ->> 6, changed_at = ?1, news = 0, \
     waits = CASE j.value ->> 1 WHEN 'parked' THEN 'unrouted' END \
     FROM json_each(?2) j WHERE cases.id = j.value ->> 0 AND state = 'new' RETURNING cases.id";

impl Store {
    /// Cases in state `new`, oldest first.
    pub async fn new_cases(&self, limit: usize) -> Result<Vec<CaseFacts>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.facts("read the new cases", sqlx::query(NEW_CASES).bind(limit)).await
    }

    /// Cases behind this one that wait for the user because no route or no engine took them when they were routed, by id.
    pub async fn unrouted_cases(&self, after: CaseId, limit: usize) -> Result<Vec<CaseFacts>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.facts("read the cases that no route took", sqlx::query(UNROUTED).bind(limit).bind(after.0)).await
    }

    /// Of such cases, sends these back to be routed.
    pub async fn route_anew(&self, cases: &[CaseId], why: &'static str) -> Result<()> {
        const DOING: &str = "route parked cases anew";
        let ids: Vec<i64> = cases.iter().map(|id| id.0).collect();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let moved = tx.all(DOING, sqlx::query(ROUTE_ANEW).bind(tx.now.0).bind(json(&ids))).await?;
                let line = |row| Ok((Columns::of(row).take()?, "woken", why.to_owned()));
                let lines = moved.iter().map(line).collect::<Result<Vec<_>>>()?;
                tx.wake.ingest |= !lines.is_empty();
                journal::notes(tx, &lines).await
            })
        })
        .await
    }

    /// What routes look at, of one case in whatever state; `None`: there is no such case.
    pub async fn route_facts(&self, case: CaseId) -> Result<Option<CaseFacts>> {
        let facts = self.facts("read what routes look at", sqlx::query(ONE).bind(case.0)).await?;
        Ok(facts.into_iter().next())
    }

    async fn facts(&self, doing: &'static str, query: Query) -> Result<Vec<CaseFacts>> {
        let mut snapshot = self.snapshot().await?;
        let sql = |error| StoreError::sql(doing)(error);
        let rows = query.fetch_all(&mut *snapshot).await.map_err(sql)?;
        let cases = rows.iter().map(|row| case(&mut Columns::of(row))).collect::<Result<Vec<_>>>()?;
        let ids: Vec<i64> = cases.iter().map(|case| case.id.0).collect();
        let query = sqlx::query(NEWEST).bind(json(&ids)).bind(DAY_MS);
        let rows = query.fetch_all(&mut *snapshot).await.map_err(sql)?;
        let mut newest: HashMap<usize, (Item, bool)> = HashMap::with_capacity(rows.len());
        for row in &rows {
            let mut columns = Columns::of(row);
            let position = usize::try_from(columns.take::<i64>()?).unwrap_or(usize::MAX);
            newest.insert(position, (columns.json()?, columns.take()?));
        }
        let addresses: BTreeSet<String> = newest.values().filter_map(|(item, _)| address(item)).collect();
        let mut answered = BTreeSet::new();
        if !addresses.is_empty() {
            let query = sqlx::query(ANSWERED).bind(json(&addresses));
            for row in query.fetch_all(&mut *snapshot).await.map_err(sql)? {
                answered.insert(Columns::of(&row).take::<String>()?);
            }
        }
        let facts = cases.into_iter().enumerate().map(|(position, case)| {
            let (newest, automatic_before) = newest
                .remove(&position)
                .ok_or_else(|| StoreError::unreadable(doing, format!("case {} has no items", case.id)))?;
            let answered = address(&newest).is_some_and(|address| answered.contains(&address));
            Ok(CaseFacts {
                case,
                disposition: newest.disposition.clone(),
                newest,
                automatic_before,
                answered,
            })
        });
        facts.collect()
    }

    /// Moves `new` cases on. A case that is not `new` any more is left alone.
    pub async fn admit(&self, admissions: Vec<(CaseId, Admission)>) -> Result<()> {
        const DOING: &str = "route new cases";
        if admissions.is_empty() {
            return Ok(());
        }
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let rows: Vec<_> = admissions.iter().map(|(id, to)| row(*id, to)).collect();
                let moved = tx.all(DOING, sqlx::query(ADMIT).bind(tx.now.0).bind(json(&rows))).await?;
                let mut ids =
                    moved.iter().map(|row| Columns::of(row).take::<i64>()).collect::<Result<Vec<_>>>()?;
                ids.sort_unstable();
                let mut lines = Vec::with_capacity(ids.len());
                for (id, to) in &admissions {
                    if ids.binary_search(&id.0).is_err() {
                        continue;
                    }
                    match to {
                        Admission::Queue { engine, why, .. } => {
                            tx.wake.worker = true;
                            lines.push((id.0, "routed", format!("to {engine}: {why}")));
                        }
                        Admission::Park { reason, .. } => {
                            tx.wake.pending = true;
                            lines.push((id.0, "parked", reason.clone()));
                        }
                        Admission::Dismiss { reason } => lines.push((id.0, "dismissed", reason.clone())),
                    }
                }
                journal::notes(tx, &lines).await
            })
        })
        .await
    }
}

/// As addresses of correspondents are kept.
fn address(item: &Item) -> Option<String> {
    let address = item.author.as_ref()?.address.to_lowercase();
    (!address.is_empty()).then_some(address)
}

type Row<'a> = (i64, &'static str, Option<&'a str>, Option<&'a str>, i64, Option<&'a str>, Option<Timestamp>);

fn row(id: CaseId, to: &Admission) -> Row<'_> {
    match to {
        Admission::Queue { route, engine, priority, instead, .. } => {
            (id.0, CaseState::Queued.word(), Some(route), Some(engine), *priority, instead.as_deref(), None)
        }
        Admission::Park { reason, until } => {
            (id.0, CaseState::Parked.word(), None, None, 0, Some(reason), *until)
        }
        Admission::Dismiss { reason } => {
            (id.0, CaseState::Dismissed.word(), None, None, 0, Some(reason), None)
        }
    }
}
