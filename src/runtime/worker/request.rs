//! What an engine is given for a case, and what stays of it in the record.

use super::{Shared, WorkerEngine};
use crate::model::case::Case;
use crate::model::class::chain;
use crate::model::ids::RunId;
use crate::model::item::Item;
use crate::model::limits;
use crate::model::run::{EngineError, EngineRequest, PromptSlot, RunFailure, Usage};
use crate::model::text::{clean, cut, one_line};
use crate::runtime::routing;
use crate::store::StoreError;
use crate::unit::instruction::{self, Values};
use crate::unit::plan::Standing;

/// The request, and why it cannot be run if it cannot. `prompt`: in place of the route's.
pub(super) async fn request(
    shared: &Shared,
    engine: &WorkerEngine,
    case: &Case,
    items: &[Item],
    prompt: Option<&str>,
) -> Result<(EngineRequest, Option<EngineError>), StoreError> {
    let store = &shared.parts.store;
    let route = case.route.as_deref().and_then(|name| shared.parts.orders.plan.routes.get(name));
    let declared = match route {
        Some(Standing::Active(route)) => route.prompt.as_str(),
        _ => "",
    };
    let (instruction, fault) = match instruct(shared, engine, case, prompt.unwrap_or(declared), items).await?
    {
        Ok(text) => (text, None),
        Err(fault) => (String::new(), Some(fault)),
    };
    let request = EngineRequest {
        case: case.id,
        connector: case.connector.clone(),
        attempt: case.attempts,
        items_total: case.items,
        instruction,
        items: items.to_vec(),
        notes: store.notes_on(case.id).await?,
        session: store.last_session(case.id, &engine.unit.name).await?,
        prompt: PromptSlot::default(),
    };
    Ok((request, fault))
}

/// The prompt with its values.
async fn instruct(
    shared: &Shared,
    engine: &WorkerEngine,
    case: &Case,
    prompt: &str,
    items: &[Item],
) -> Result<Result<String, EngineError>, StoreError> {
    if !instruction::is_template(prompt) {
        return Ok(Ok(prompt.to_owned()));
    }
    let parts = &shared.parts;
    let now = parts.clock.now();
    let newest = items.last();
    let facts = parts.store.route_facts(case.id).await?;
    let explained = facts.map(|facts| routing::explain(&parts.orders.plan, &facts, now));
    let (date, weekday) = now.local_day();
    let values = Values {
        case: case.id.to_string(),
        connector: case.connector.clone(),
        kind: newest.map(|item| item.kind.clone()).unwrap_or_default(),
        route: case.route.clone().unwrap_or_default(),
        engine: engine.unit.name.clone(),
        attempt: case.attempts,
        messages: case.items,
        labels: newest.map(|item| item.labels.clone()).unwrap_or_default(),
        trust: explained.as_ref().map(|explained| explained.trust.word().to_owned()).unwrap_or_default(),
        language: explained.and_then(|explained| explained.language).unwrap_or_else(|| "unknown".to_owned()),
        date,
        weekday,
    };
    Ok(instruction::render(prompt, &values).map_err(|why| EngineError {
        // No other case of the engine has this fault.
        failure: RunFailure::BadRequest,
        detail: format!("fill in the prompt: {why}"),
        usage: Usage::default(),
    }))
}

/// Keeps the exact prompt of a run, secrets masked. The run counts without it too.
pub(super) async fn keep_prompt(shared: &Shared, run: RunId, request: &EngineRequest) {
    let Some(prompt) = request.prompt.take() else { return };
    let masked = shared.parts.scrubber.scrub(&prompt).into_owned();
    // A prompt is cut to this before it is sent; what an engine adds around it may go beyond.
    let kept = cut(&masked, limits::PROMPT_BYTES_MAX * 2).to_owned();
    if let Err(error) = shared.parts.store.keep_prompt(run, kept).await {
        tracing::warn!("the prompt is not kept: {}", chain(&error));
    }
}

/// The labels of a case after an engine proposed these: old ones first, each once, bounded.
pub(super) fn labels(shared: &Shared, case: &Case, proposed: &[String]) -> Vec<String> {
    let scrub =
        |label: &String| one_line(&shared.parts.scrubber.scrub(&clean(label)), limits::LABEL_BYTES_MAX);
    let mut all = case.labels.clone();
    for label in proposed.iter().map(scrub).filter(|label| !label.is_empty()) {
        if all.len() < limits::CASE_LABELS_MAX && !all.contains(&label) {
            all.push(label);
        }
    }
    all
}
