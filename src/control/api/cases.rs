//! Cases: list, the whole record of one, another try, dismissal.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};

use super::{Fault, Reply, Shared, id, state_word};
use crate::control::wire::{
    AnswerBody, ListQuery, PromptQuery, ProposeBody, Proposed, Reason, ReplayBody, RestView, RouteView,
    TakeOverBody,
};
use crate::model::case::Case;
use crate::model::ids::{CaseId, RunId};
use crate::model::item::Item;
use crate::model::limits;
use crate::model::routing::Routing;
use crate::model::text;
use crate::runtime::routing;
use crate::store::{CaseRecord, KeptPrompt, Proposal, Replay};
use crate::unit::instruction;
use crate::unit::plan::Standing;

pub(super) async fn list(State(state): Shared, Query(query): Query<ListQuery>) -> Reply<Vec<Case>> {
    let only = state_word(query.state.as_deref())?;
    let Some(label) = &query.label else { return Ok(Json(state.store.cases(only, query.limit()).await?)) };
    let mut cases = state.store.cases(only, ListQuery::LIMIT_MAX).await?;
    cases.retain(|case| case.labels.contains(label));
    cases.truncate(query.limit());
    Ok(Json(cases))
}

pub(super) async fn show(State(state): Shared, Path(case): Path<String>) -> Reply<CaseRecord> {
    Ok(Json(state.store.case_record(id::<CaseId>(&case)?).await?))
}

pub(super) async fn prompt(
    State(state): Shared,
    Path(case): Path<String>,
    Query(query): Query<PromptQuery>,
) -> Reply<KeptPrompt> {
    let case = id::<CaseId>(&case)?;
    let run = query.run.as_deref().map(id::<RunId>).transpose()?;
    match state.store.prompt_of(case, run).await? {
        Some(prompt) => Ok(Json(prompt)),
        None => {
            let of = run.map_or_else(|| format!("case {case}"), |run| format!("run {run} of case {case}"));
            Err(Fault::not_found(format!("no prompt of {of} is kept"))
                .hint("prompts of runs that ended are kept for a month; the template engine is told none"))
        }
    }
}

pub(super) async fn route(State(state): Shared, Path(case): Path<String>) -> Reply<RouteView> {
    let case = id::<CaseId>(&case)?;
    let Some(facts) = state.store.route_facts(case).await? else {
        return Err(Fault::not_found(format!("there is no case {case}")));
    };
    let record = state.store.case_record(case).await?;
    let unrouted = facts.case.route.is_none();
    let steps = record
        .journal
        .into_iter()
        .filter(|row| row.event == "routed" || row.event == "queued" || (row.event == "parked" && unrouted));
    let present = state.present.get();
    let now = routing::explain(&present.plan, &facts, state.clock.now());
    let engine = match &now.routing {
        Routing::To { engine, .. } => Some(engine.as_str()),
        Routing::Nowhere { .. } => None,
    };
    let rests = state.store.rests().await?;
    let rest = engine.and_then(|name| match present.plan.engines.get(name) {
        Some(Standing::Active(unit)) => rests.of(name, &unit.account),
        _ => None,
    });
    let rest = rest.map(|rest| RestView { until: rest.until, reason: rest.reason, account: None });
    Ok(Json(RouteView {
        case: facts.case,
        steps: steps.collect(),
        generation: present.generation,
        now,
        rest,
    }))
}

pub(super) async fn replay(
    State(state): Shared,
    Path(case): Path<String>,
    Json(body): Json<ReplayBody>,
) -> Reply<Replay> {
    let case = id::<CaseId>(&case)?;
    let known = state.store.case_record(case).await?.case;
    let Some(engine) = body.engine.or(known.engine) else {
        return Err(Fault::usage(format!("case {case} has no engine yet")).hint("name one with --engine"));
    };
    let engine = engine.strip_suffix(".engine").unwrap_or(&engine);
    let plan = Arc::clone(&state.present.get().plan);
    let Some(Standing::Active(unit)) = plan.engines.get(engine) else {
        return Err(Fault::not_found(format!("there is no engine {engine} that is on"))
            .hint("workagent list-units lists them"));
    };
    // What is not to leave this machine does not leave it for a comparison either.
    let route = known.route.as_deref().and_then(|name| plan.routes.get(name));
    if let Some(Standing::Active(route)) = route
        && route.private
        && !unit.local
    {
        let why = format!("the route {} is private, and {engine} is not on this machine", route.name);
        return Err(Fault::refused(why));
    }
    if let Some(problem) = body.prompt.as_deref().and_then(instruction::problem) {
        return Err(Fault::usage(format!("the prompt {problem}")));
    }
    let replay = state.store.ask_replay(case, engine, body.prompt).await?;
    Ok(Json(state.store.replay(replay).await?))
}

pub(super) async fn replayed(State(state): Shared, Path(replay): Path<i64>) -> Reply<Replay> {
    Ok(Json(state.store.replay(replay).await?))
}

pub(super) async fn retry(State(state): Shared, Path(case): Path<String>) -> Reply<()> {
    let case = id(&case)?;
    state.store.retry_case(case).await?;
    // Somebody who asks for another try has mended something: its engine is not spared any longer.
    if let Some(engine) = state.store.case_record(case).await?.case.engine
        && let Some((engines, account)) = state.present.get().plan.sharing(&engine)
    {
        state.store.end_rests(engines, &account).await?;
    }
    Ok(Json(()))
}

pub(super) async fn dismiss(
    State(state): Shared,
    Path(case): Path<String>,
    Json(reason): Json<Reason>,
) -> Result<Json<()>, Fault> {
    state.store.dismiss_case(id(&case)?, &reason.reason).await?;
    Ok(Json(()))
}

pub(super) async fn take_over(
    State(state): Shared,
    Path(case): Path<String>,
    Json(body): Json<TakeOverBody>,
) -> Reply<()> {
    state.store.take_over_case(id(&case)?, &text::clean(&body.by)).await?;
    Ok(Json(()))
}

pub(super) async fn answer(
    State(state): Shared,
    Path(case): Path<String>,
    Json(body): Json<AnswerBody>,
) -> Reply<()> {
    let text = text::visible(&state.scrubber.scrub(&body.text));
    if text.trim().is_empty() {
        return Err(Fault::usage("the answer is empty"));
    }
    if text.len() > limits::ANSWER_BYTES_MAX {
        return Err(Fault::usage(format!("an answer may have {} bytes", limits::ANSWER_BYTES_MAX)));
    }
    let case = id::<CaseId>(&case)?;
    let answered = state.store.answer_case(case, text.trim()).await;
    answered.map_err(|error| {
        Fault::from(error).hint(format!(
            "what it waits for: workagent case show {case}; another try: workagent case retry {case}"
        ))
    })?;
    Ok(Json(()))
}

/// A draft that somebody else than an engine of ours wrote. It goes where the case says, and waits like every draft.
pub(super) async fn propose(
    State(state): Shared,
    Path(case): Path<String>,
    Json(body): Json<ProposeBody>,
) -> Reply<Proposed> {
    let case = id::<CaseId>(&case)?;
    let clean = |text: &str| text::visible(&state.scrubber.scrub(text));
    let text = clean(&body.body);
    if text.trim().is_empty() {
        return Err(Fault::usage("the text of the reply is empty"));
    }
    if text.len() > limits::DRAFT_BYTES_MAX {
        return Err(Fault::usage(format!("a reply may have {} bytes", limits::DRAFT_BYTES_MAX)));
    }
    let record = state.store.case_record(case).await?;
    let Some((_, envelope)) = Item::answered(&record.items) else {
        return Err(Fault::refused(format!("nobody in case {case} can be answered")));
    };
    let rule = state.desk.rule(&record.case.connector);
    let proposal = Proposal {
        case,
        items: record.case.items,
        destination: rule.map(|rule| rule.destination.to_string()).unwrap_or_default(),
        connector: record.case.connector,
        envelope: envelope.clone(),
        body: text.trim().to_owned(),
        by: text::one_line(&clean(&body.by), limits::JOURNAL_BY_BYTES_MAX),
        remarks: body.remarks.iter().take(10).map(|remark| clean(remark)).collect(),
        generation: state.present.get().generation,
    };
    Ok(Json(Proposed { draft: state.store.propose(proposal).await? }))
}
