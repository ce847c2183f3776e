//! What routes look at, out of the record or out of a sample.

pub mod sample;

use std::collections::BTreeSet;

use super::scheduler::ITEM_KIND as TIMER_KIND;
use crate::engine::router::Router;
use crate::model::routing::{Explanation, RouteFacts};
use crate::model::time::Timestamp;
use crate::store::CaseFacts;
use crate::unit::plan::Plan;

/// One of the user's timers made the case.
#[must_use]
pub fn is_timers(facts: &CaseFacts, timers: &BTreeSet<String>) -> bool {
    facts.newest.kind == TIMER_KIND && timers.contains(&facts.case.connector)
}

/// What routes look at in a case.
#[must_use]
pub fn route_facts(facts: &CaseFacts, by_timer: bool, now: Timestamp) -> RouteFacts<'_> {
    let item = &facts.newest;
    RouteFacts {
        connector: &facts.case.connector,
        kind: &item.kind,
        labels: &item.labels,
        author: item.author.as_ref().map_or("", |author| &author.address),
        answered: facts.answered,
        by_timer,
        size_bytes: item.body.len() as u64,
        text: &item.body,
        now,
    }
}

/// Where a case would go under this plan and now, and why, whatever became of it.
#[must_use]
pub fn explain(plan: &Plan, facts: &CaseFacts, now: Timestamp) -> Explanation {
    let by_timer = is_timers(facts, &plan.timers.keys().cloned().collect());
    judge(plan, &route_facts(facts, by_timer, now))
}

/// Where something with these facts would go under this plan, and why.
#[must_use]
pub fn judge(plan: &Plan, facts: &RouteFacts<'_>) -> Explanation {
    Router::new(plan).explain(facts)
}
