//! What runs cost, put together by day, engine, case or route; and where budgets stand.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Query, State};

use super::{ApiState, Reply, Shared};
use crate::control::wire::cost::{BudgetView, CostBy, CostQuery, CostRow, CostView};
use crate::model::limits;
use crate::model::time::{Timestamp, day_bounds, local_date};
use crate::runtime::worker::money::caps;
use crate::store::{CapScope, RunCost, StoreError};
use crate::unit::plan::{Plan, Standing};

/// Days without a run are shown as well, in a span of up to so many.
const DAYS_FILLED_MAX: usize = 400;

pub(super) async fn cost(State(state): Shared, Query(query): Query<CostQuery>) -> Reply<CostView> {
    let now = state.clock.now();
    let since = Timestamp(query.since);
    let runs = state.store.run_costs(since, limits::COST_RUNS_MAX).await?;
    let cut = runs.len() == limits::COST_RUNS_MAX;
    let budgets = budgets(&state, &state.present.get().plan, now).await?;
    Ok(Json(CostView { budgets, cut, ..view(&runs, since, now, query.by) }))
}

/// Pure: the runs put together.
pub(super) fn view(runs: &[RunCost], since: Timestamp, now: Timestamp, by: CostBy) -> CostView {
    let mut total = CostRow { key: "total".to_owned(), ..CostRow::default() };
    let mut rows: BTreeMap<String, CostRow> = BTreeMap::new();
    let mut months: BTreeMap<String, CostRow> = BTreeMap::new();
    if by == CostBy::Day {
        let oldest = runs.iter().map(|run| run.started_at).min().unwrap_or(now).max(since);
        let mut day = day_bounds(oldest).0;
        for _ in 0..DAYS_FILLED_MAX {
            if day > now {
                break;
            }
            rows.entry(local_date(day)).or_default();
            day = day_bounds(day).1;
        }
    }
    for run in runs {
        let day = local_date(run.started_at);
        let key = match by {
            CostBy::Day => day.clone(),
            CostBy::Engine => run.engine.clone(),
            CostBy::Case => run.case.to_string(),
            CostBy::Route => run.route.clone().unwrap_or_else(|| "no route".to_owned()),
        };
        let month = day.get(..7).unwrap_or_default().to_owned();
        add(&mut total, run);
        add(rows.entry(key).or_default(), run);
        add(months.entry(month).or_default(), run);
    }
    let named = |rows: BTreeMap<String, CostRow>| -> Vec<CostRow> {
        rows.into_iter().map(|(key, row)| CostRow { key, ..row }).collect()
    };
    let (mut rows, months) = (named(rows), named(months));
    if by != CostBy::Day {
        rows.sort_by_key(|row| std::cmp::Reverse((row.cost_micro_usd, row.runs)));
    }
    CostView { since, now, by, rows, total, months, cut: false, budgets: Vec::new() }
}

fn add(row: &mut CostRow, run: &RunCost) {
    let usage = &run.usage;
    row.runs += 1;
    row.input_tokens = row.input_tokens.saturating_add(usage.input_tokens.unwrap_or(0));
    row.output_tokens = row.output_tokens.saturating_add(usage.output_tokens.unwrap_or(0));
    match usage.cost_micro_usd {
        cost if usage.cost_source == "plan" => {
            row.plan_runs += 1;
            row.plan_micro_usd = row.plan_micro_usd.saturating_add(cost.unwrap_or(0));
        }
        Some(cost) => row.cost_micro_usd = row.cost_micro_usd.saturating_add(cost),
        None => {
            row.unknown_runs += 1;
            row.unknown_micro_usd_max = row.unknown_micro_usd_max.saturating_add(run.spent_micro_usd);
        }
    }
}

/// Where every cap on a day or month stands; those of single cases are told with the case.
pub(super) async fn budgets(
    state: &ApiState,
    plan: &Plan,
    now: Timestamp,
) -> Result<Vec<BudgetView>, StoreError> {
    let mut budgets = vec![("workagent.daemon".to_owned(), "", plan.daemon.budget, true)];
    for (name, standing) in &plan.engines {
        if let Standing::Active(unit) = standing {
            budgets.push((format!("{name}.engine"), name, unit.money.budget, false));
        }
    }
    let mut views = Vec::new();
    for (unit, engine, budget, all) in budgets {
        let mut caps = caps(&budget, all, now);
        caps.retain(|cap| matches!(cap.scope, CapScope::All | CapScope::Engine));
        for (cap, spent) in caps.iter().zip(state.store.spent(engine, &caps).await?) {
            views.push(BudgetView {
                unit: unit.clone(),
                span: cap.span.to_owned(),
                spent_micro_usd: spent,
                micro_usd_max: cap.micro_usd_max,
                until: cap.until,
                near: budget.is_near(spent, cap.micro_usd_max),
            });
        }
    }
    Ok(views)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::CaseId;
    use crate::model::run::Usage;

    fn run(days_ago: u64, engine: &str, cost: Option<u64>, source: &str, spent: u64) -> RunCost {
        let now = Timestamp(1_796_025_600_000);
        RunCost {
            started_at: now.minus(std::time::Duration::from_secs(days_ago * 86_400)),
            engine: engine.into(),
            case: CaseId(7),
            route: None,
            usage: Usage {
                input_tokens: Some(10),
                cost_micro_usd: cost,
                cost_source: source.into(),
                ..Usage::default()
            },
            spent_micro_usd: spent,
        }
    }

    #[test]
    fn runs_are_put_together_and_the_unknown_is_not_nothing() {
        let now = Timestamp(1_796_025_600_000);
        let runs = [
            run(0, "a", Some(5), "price", 5),
            run(0, "b", None, "", 70),
            run(3, "a", Some(9), "engine", 9),
            run(3, "c", Some(100), "plan", 0),
        ];
        let shown = |by| {
            let view = view(&runs, Timestamp(0), now, by);
            let row = |row: &CostRow| {
                format!(
                    "{} {} cost {} unknown {}/{} plan {}/{}",
                    row.key,
                    row.runs,
                    row.cost_micro_usd,
                    row.unknown_runs,
                    row.unknown_micro_usd_max,
                    row.plan_runs,
                    row.plan_micro_usd
                )
            };
            let rows: Vec<String> = view.rows.iter().chain([&view.total]).map(row).collect();
            (rows, view.months.len())
        };
        let (engines, _) = shown(CostBy::Engine);
        assert_eq!(
            engines,
            [
                "a 2 cost 14 unknown 0/0 plan 0/0",
                "b 1 cost 0 unknown 1/70 plan 0/0",
                "c 1 cost 0 unknown 0/0 plan 1/100",
                "total 4 cost 14 unknown 1/70 plan 1/100"
            ]
        );
        let (days, months) = shown(CostBy::Day);
        assert_eq!((days.len(), months), (5, 1), "four days, two of them without a run: {days:?}");
        assert!(days[1].ends_with(" 0 cost 0 unknown 0/0 plan 0/0"), "{days:?}");
        assert_eq!(shown(CostBy::Case).0[0], "c7 4 cost 14 unknown 1/70 plan 1/100");
    }
}
