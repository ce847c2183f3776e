//! The report of a day.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Query, State};

use super::{Fault, Reply, Shared, cost, status};
use crate::control::wire::cost::{CostBy, CostView};
use crate::control::wire::digest::{Became, DigestCase, DigestGroup, DigestLine, DigestQuery, DigestView};
use crate::model::case::{Case, CaseState};
use crate::model::ids::CaseId;
use crate::model::limits;
use crate::model::time::{day_bounds, local_date, start_of_date};
use crate::store::JournalLine;

pub(super) async fn digest(State(state): Shared, Query(query): Query<DigestQuery>) -> Reply<DigestView> {
    let now = state.clock.now();
    let day = query.day.unwrap_or_else(|| local_date(now));
    let Some(from) = start_of_date(&day) else {
        return Err(Fault::usage(format!("`{day}` is not a day such as 2026-11-30")));
    };
    if from > now {
        return Err(Fault::usage(format!("{day} is still to come")));
    }
    let to = day_bounds(from).1.min(now);
    let (lines, cases) = state.store.day(from, to, limits::DIGEST_LINES_MAX).await?;
    let runs = state.store.run_costs(from, limits::COST_RUNS_MAX).await?;
    let runs: Vec<_> = runs.into_iter().filter(|run| run.started_at < to).collect();
    let CostView { rows, total, .. } = cost::view(&runs, from, now, CostBy::Engine);
    let counts = state.store.counts().await?.into();
    Ok(Json(DigestView {
        day,
        from,
        to,
        now,
        cut: lines.len() == limits::DIGEST_LINES_MAX,
        events: events(&lines),
        groups: groups(lines, cases),
        costs: rows,
        total,
        waits: status::notes(&counts),
    }))
}

fn events(lines: &[JournalLine]) -> BTreeMap<String, u64> {
    let mut events = BTreeMap::new();
    for line in lines {
        *events.entry(line.event.clone()).or_default() += 1;
    }
    events
}

/// Pure: the lines given to their cases, the cases put together by what became of them.
fn groups(lines: Vec<JournalLine>, cases: Vec<Case>) -> Vec<DigestGroup> {
    let mut of: BTreeMap<CaseId, Vec<DigestLine>> = BTreeMap::new();
    let mut order: Vec<CaseId> = Vec::new();
    for JournalLine { case, at, event, detail, .. } in lines {
        let known = of.entry(case).or_default();
        if known.is_empty() {
            order.push(case);
        }
        known.push(DigestLine { at, event, detail });
    }
    let mut known: BTreeMap<CaseId, Case> = cases.into_iter().map(|case| (case.id, case)).collect();
    let mut groups: BTreeMap<Became, Vec<DigestCase>> = BTreeMap::new();
    for id in order {
        let (Some(case), Some(lines)) = (known.remove(&id), of.remove(&id)) else { continue };
        groups.entry(became(case.state, &lines)).or_default().push(DigestCase {
            id,
            connector: case.connector,
            title: case.title,
            author: case.author,
            state: case.state,
            reason: case.reason,
            lines,
        });
    }
    groups.into_iter().map(|(became, cases)| DigestGroup { became, cases }).collect()
}

/// A send of the day counts, whatever came after it; else the case as it is now.
fn became(state: CaseState, lines: &[DigestLine]) -> Became {
    if lines.iter().any(|line| line.event == "sent") {
        return Became::Sent;
    }
    match state {
        CaseState::Review => Became::Waits,
        CaseState::New | CaseState::Queued | CaseState::Running | CaseState::Approved => Became::UnderWay,
        CaseState::Parked => Became::Parked,
        CaseState::Dead => Became::Dead,
        CaseState::Sent | CaseState::Closed | CaseState::Dismissed => Became::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Timestamp;

    fn line(case: i64, event: &str) -> JournalLine {
        JournalLine {
            id: case,
            case: CaseId(case),
            at: Timestamp(case),
            event: event.into(),
            detail: String::new(),
        }
    }

    #[test]
    fn cases_are_told_by_what_became_of_them() {
        let lines = vec![
            line(3, "item"),
            line(1, "item"),
            line(1, "sent"),
            line(2, "draft"),
            line(3, "parked"),
            line(1, "item"),
            line(4, "closed"),
            // Purged meanwhile.
            line(9, "item"),
        ];
        let cases = vec![
            Case::sample(1, CaseState::New),
            Case::sample(2, CaseState::Review),
            Case::sample(3, CaseState::Parked),
            Case::sample(4, CaseState::Closed),
        ];
        let shown: Vec<String> = groups(lines.clone(), cases)
            .iter()
            .map(|group| {
                let cases: Vec<_> =
                    group.cases.iter().map(|case| format!("{}/{}", case.id, case.lines.len())).collect();
                format!("{:?} {}", group.became, cases.join(" "))
            })
            .collect();
        assert_eq!(shown, ["Sent c1/3", "Waits c2/1", "Parked c3/2", "Done c4/1"]);
        assert_eq!(events(&lines).get("item"), Some(&4));
    }
}
