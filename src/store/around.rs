//! What a person sees around a draft: the thread, what came into it since, the run, the route. A whole queue in four reads.

use std::collections::HashMap;

use super::rows::{Columns, RUNS_BY_ID, json, run};
use super::{Result, Store, StoreError};
use crate::model::draft::Draft;
use crate::model::ids::CaseId;
use crate::model::item::Item;
use crate::model::run::Run;
use crate::model::time::Timestamp;

pub(super) const ITEMS: &str = "SELECT i.case_id, i.id, i.read_at, b.body FROM json_each(?1) j \
     CROSS JOIN items i ON i.id IN (SELECT id FROM items WHERE case_id = j.value ORDER BY id DESC LIMIT ?2) \
     CROSS JOIN item_bodies b ON b.item_id = i.id";

pub(super) const CASES: &str = "SELECT c.id, c.items, \
     (SELECT detail FROM journal WHERE case_id = c.id AND event = 'routed' ORDER BY id DESC LIMIT 1) \
     FROM json_each(?1) j CROSS JOIN cases c ON c.id = j.value";

/// What stands around a draft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// The newest items of the thread, oldest first.
    pub items: Vec<Item>,
    /// How many older ones the case holds beside `items`.
    pub items_left_out: usize,
    /// How many of `items`, at their end, came after the run that made the draft had begun.
    pub items_since: usize,
    /// The run that made it.
    pub run: Option<Run>,
    /// Why the case went to its engine, as it was recorded when it was routed last.
    pub route: Option<String>,
}

#[derive(Default)]
struct OfCase {
    /// With its place in the ledger, and when it was read.
    items: Vec<(i64, Timestamp, Item)>,
    total: usize,
    route: Option<String>,
}

impl Store {
    /// What stands around these drafts, in their order; of each thread at most the newest `items_max`.
    pub async fn around(&self, drafts: &[Draft], items_max: usize) -> Result<Vec<Around>> {
        const DOING: &str = "read what drafts answer";
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let mut ids: Vec<i64> = drafts.iter().map(|draft| draft.case.0).collect();
        ids.sort_unstable();
        ids.dedup();
        let ids = json(&ids);
        let runs = json(&drafts.iter().map(|draft| draft.run.0).collect::<Vec<_>>());
        let bound = i64::try_from(items_max).unwrap_or(i64::MAX);
        let mut snapshot = self.snapshot().await?;
        let mut read = async |query: super::writer::Query| {
            query.fetch_all(&mut *snapshot).await.map_err(StoreError::sql(DOING))
        };
        let mut cases: HashMap<CaseId, OfCase> = HashMap::new();
        for row in &read(sqlx::query(CASES).bind(ids.clone())).await? {
            let mut columns = Columns::of(row);
            let of = cases.entry(CaseId(columns.take()?)).or_default();
            of.total = usize::try_from(columns.count()?).unwrap_or(usize::MAX);
            of.route = columns.take()?;
        }
        for row in &read(sqlx::query(ITEMS).bind(ids).bind(bound)).await? {
            let mut columns = Columns::of(row);
            let of = cases.entry(CaseId(columns.take()?)).or_default();
            of.items.push((columns.take()?, columns.time()?, columns.json()?));
        }
        for of in cases.values_mut() {
            of.items.sort_by_key(|(id, ..)| *id);
        }
        let mut made = HashMap::new();
        for row in &read(sqlx::query(RUNS_BY_ID).bind(runs)).await? {
            let run = run(row)?;
            made.insert(run.id, run);
        }
        Ok(drafts.iter().map(|draft| of_draft(draft, &cases, made.remove(&draft.run))).collect())
    }
}

fn of_draft(draft: &Draft, cases: &HashMap<CaseId, OfCase>, run: Option<Run>) -> Around {
    let Some(of) = cases.get(&draft.case) else { return Around { run, ..Around::default() } };
    let begun = run.as_ref().map_or(draft.made_at, |run| run.started_at);
    let came = of.items.iter().rev().take_while(|(_, read_at, _)| *read_at > begun).count();
    // Of two things in the same millisecond nobody knows the order; that something came is known.
    let items_since = if draft.stale { came.max(1).min(of.items.len()) } else { 0 };
    Around {
        items: of.items.iter().map(|(.., item)| item.clone()).collect(),
        items_left_out: of.total.saturating_sub(of.items.len()),
        items_since,
        run,
        route: of.route.clone(),
    }
}
