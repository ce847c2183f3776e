//! Money of a run: what it may cost before it begins, what it did cost when it has ended.

use super::Shared;
use crate::model::budget::Budget;
use crate::model::limits;
use crate::model::money::shown_usd;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFailure};
use crate::model::time::{Timestamp, day_bounds, month_bounds};
use crate::store::{Allowance, Cap, CapScope, StoreError};
use crate::unit::plan::{DaemonUnit, EngineUnit};

/// Bytes around what the request holds: the frame of the prompt, marks, heads, the schema of the answer.
const FRAME_BYTES_MAX: usize = 16 * 1024;

/// Bytes around one message.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// What a run may take. No token is shorter than a byte, so the bytes of a prompt bound its tokens.
pub(super) fn allowance(
    unit: &EngineUnit,
    daemon: &DaemonUnit,
    request: &EngineRequest,
    now: Timestamp,
) -> Allowance {
    let (day_start, day_end) = day_bounds(now);
    Allowance {
        runs: unit.daily_runs.map(|most| (most, day_start, day_end)),
        reserve: unit.money.worst(now, prompt_bytes_max(request) as u64),
        caps: [caps(&unit.money.budget, false, now), caps(&daemon.budget, true, now)].concat(),
    }
}

/// The caps of a budget, as they are now.
pub fn caps(budget: &Budget, all: bool, now: Timestamp) -> Vec<Cap> {
    let ((day, tomorrow), (month, next_month)) = (day_bounds(now), month_bounds(now));
    let (scope, case) =
        if all { (CapScope::All, CapScope::Case) } else { (CapScope::Engine, CapScope::EngineCase) };
    let cap = |most: Option<u64>, scope, since, until, span| {
        most.map(|micro_usd_max| Cap { scope, since, until, micro_usd_max, span })
    };
    [
        cap(budget.daily, scope, day, Some(tomorrow), "today"),
        cap(budget.monthly, scope, month, Some(next_month), "this month"),
        cap(budget.per_case, case, Timestamp(0), None, "for this case"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says so, once a span, when a cap is nearly reached by what the engine spent.
pub(super) async fn warn(shared: &Shared, unit: &EngineUnit) -> Result<(), StoreError> {
    let parts = &shared.parts;
    let now = parts.clock.now();
    for (budget, all) in [(unit.money.budget, false), (parts.orders.plan.daemon.budget, true)] {
        let mut caps = caps(&budget, all, now);
        caps.retain(|cap| matches!(cap.scope, CapScope::Engine | CapScope::All));
        for (cap, spent) in caps.iter().zip(parts.store.spent(&unit.name, &caps).await?) {
            let whose = cap.of(&unit.name);
            if budget.is_near(spent, cap.micro_usd_max)
                && shared.engines.is_news(format!("{whose} {} {}", cap.span, cap.since))
            {
                let (spent, most) = (shown_usd(spent), shown_usd(cap.micro_usd_max));
                tracing::warn!(engine = unit.name, "{whose} has spent {spent} of {most} USD {}", cap.span);
            }
        }
    }
    Ok(())
}

fn prompt_bytes_max(request: &EngineRequest) -> usize {
    let items = request.items.iter().map(|item| item.body.len() + HEAD_BYTES_MAX);
    let trusted = request.instruction.len() + request.notes.iter().map(String::len).sum::<usize>();
    // The prompt is cut there; its frame is not.
    (items.sum::<usize>() + trusted).min(limits::PROMPT_BYTES_MAX) + FRAME_BYTES_MAX
}

/// Prices what was used, and says what the run counts for; `None`: all that was set aside for it.
pub(super) fn settle(
    unit: &EngineUnit,
    outcome: &mut Result<EngineOutcome, EngineError>,
    now: Timestamp,
) -> Option<u64> {
    let (usage, failure) = match outcome {
        Ok(outcome) => (&mut outcome.usage, None),
        Err(error) => (&mut error.usage, Some(&error.failure)),
    };
    unit.money.price_usage(usage, now);
    let unused = usage.input_tokens.is_none() && usage.output_tokens.is_none();
    match unit.money.spent(usage) {
        Some(spent) => Some(spent),
        None if unused && failure.is_some_and(refused_at_the_door) => {
            usage.cost_micro_usd = Some(0);
            "price".clone_into(&mut usage.cost_source);
            Some(0)
        }
        None => None,
    }
}

/// Nothing was worked on, so nothing is billed, although the engine gives no figure.
fn refused_at_the_door(failure: &RunFailure) -> bool {
    matches!(
        failure,
        RunFailure::Auth
            | RunFailure::Config
            | RunFailure::Billing
            | RunFailure::UsageLimit(_)
            | RunFailure::RateLimited(_)
            | RunFailure::BadRequest
    )
}
