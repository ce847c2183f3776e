//! Replays: an engine runs a case once more, within its places and budgets, and what it says is kept beside the case. It
//! gets no right to send: no draft comes of it, no case moves.

use std::sync::Arc;

use super::job::Scratch;
use super::places::{self, Places};
use super::{JobEnd, Shared, WorkerEngine, WorkerRuntime, job_error, money, request, verdict};
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineResult, RunFailure, Usage};
use crate::model::text::{clean, cut, visible};
use crate::store::{ReplayEnd, StoreError, WaitingReplay};

impl WorkerRuntime {
    /// Starts replays that wait, as far as there are places.
    pub(super) async fn start_replays(
        &self,
        shared: &Arc<Shared>,
        places: &Places<'_>,
    ) -> Result<(), StoreError> {
        let parts = &shared.parts;
        for replay in parts.store.replays_waiting().await? {
            let Some(engine) = parts.orders.engines.get(&replay.engine) else {
                let body = format!("the engine {} is gone or off", replay.engine);
                let end = ReplayEnd { outcome: "config".to_owned(), body, ..ReplayEnd::default() };
                parts.store.end_replay(replay.id, None, end).await?;
                continue;
            };
            if places.free(engine, &parts.store).await?.is_err() {
                continue;
            }
            self.pace.began(&engine.unit, parts.clock.now());
            let task = format!("replay {}", replay.id);
            let job = run(Arc::clone(shared), engine.clone(), replay);
            self.jobs.start(places::lanes(&engine.unit), task, job);
        }
        Ok(())
    }
}

async fn run(shared: Arc<Shared>, engine: WorkerEngine, replay: WaitingReplay) -> JobEnd {
    match attempt(&shared, &engine, &replay).await {
        Ok(()) => JobEnd::Replayed,
        Err(error) => {
            let unit = format!("{}.engine", engine.unit.name);
            let told = job_error(&shared, &unit, &error);
            let body = told.message.clone();
            let end = ReplayEnd { outcome: "interrupted".to_owned(), body, ..ReplayEnd::default() };
            // Whoever asked must not wait for ever; a store that is gone ends it at the next start.
            let _ = shared.parts.store.end_replay(replay.id, None, end).await;
            JobEnd::Failed(told)
        }
    }
}

async fn attempt(shared: &Shared, engine: &WorkerEngine, replay: &WaitingReplay) -> Result<(), StoreError> {
    let parts = &shared.parts;
    let case = parts.store.case_record(replay.case).await?.case;
    let items = parts.store.case_items(replay.case, limits::CASE_ITEMS_PROMPT_MAX).await?;
    let (mut request, fault) =
        request::request(shared, engine, &case, &items, replay.prompt.as_deref()).await?;
    // A look from outside: what was said in the case's own session must not show.
    request.session = None;
    let now = parts.clock.now();
    let allowance = money::allowance(&engine.unit, &parts.orders.plan.daemon, &request, now);
    let name = &engine.unit.name;
    let Some(run) = parts.store.begin_replay(replay.id, name, parts.orders.generation, allowance).await?
    else {
        return Ok(());
    };
    let mut outcome = match (fault, Scratch::make(&parts.scratch, run)) {
        (Some(fault), _) => Err(fault),
        (None, Ok(scratch)) => {
            let cancel = shared.cancel.child_token();
            engine.of(case.route.as_deref()).run(&request, engine.limits(), scratch.path(), &cancel).await
        }
        (None, Err(error)) => {
            let detail = format!("make a run directory in {}: {error}", parts.scratch.display());
            Err(EngineError { failure: RunFailure::Config, detail, usage: Usage::default() })
        }
    };
    request::keep_prompt(shared, run, &request).await;
    let spent_micro_usd = money::settle(&engine.unit, &mut outcome, parts.clock.now());
    if let Err(error) = &outcome {
        let detail = parts.scrubber.scrub(&clean(&error.detail)).into_owned();
        verdict::failed(shared, &engine.unit, replay.case, &error.failure, &detail).await?;
        if let RunFailure::UsageLimit(Some(until)) | RunFailure::RateLimited(until) = error.failure {
            verdict::rest(shared, &engine.unit, &error.failure, until, &detail).await?;
        }
    }
    let end = ReplayEnd { spent_micro_usd, ..end(shared, outcome) };
    parts.store.end_replay(replay.id, Some(run), end).await
}

fn end(shared: &Shared, outcome: Result<EngineOutcome, EngineError>) -> ReplayEnd {
    let scrub = |text: &str| shared.parts.scrubber.scrub(&clean(text)).into_owned();
    match outcome {
        Ok(outcome) => {
            let (word, body) = match &outcome.result {
                EngineResult::Reply(body) => ("reply", visible(&scrub(body))),
                EngineResult::NothingToDo(reason) => ("nothing-to-do", scrub(reason)),
                EngineResult::Question(question) => ("question", scrub(question)),
            };
            ReplayEnd {
                outcome: word.to_owned(),
                body: cut(&body, limits::DRAFT_BYTES_MAX).to_owned(),
                remarks: outcome.remarks.iter().map(|remark| scrub(remark)).collect(),
                usage: outcome.usage,
                facts: outcome.facts,
                spent_micro_usd: None,
            }
        }
        Err(error) => ReplayEnd {
            outcome: error.failure.word().to_owned(),
            body: scrub(&error.detail),
            usage: error.usage,
            ..ReplayEnd::default()
        },
    }
}
