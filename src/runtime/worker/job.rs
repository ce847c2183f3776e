//! One job: one attempt of one engine on one leased case, from budget to recorded end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::{JobEnd, Shared, WorkerEngine, job_error, money, request, verdict};
use crate::engine::after::{After, Situation, after};
use crate::engine::router::FELL_BACK;
use crate::model::case::Lease;
use crate::model::class::chain;
use crate::model::draft::Envelope;
use crate::model::effect::{self, Effect};
use crate::model::ids::RunId;
use crate::model::item::Item;
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineResult, RunFacts, RunFailure, Usage};
use crate::model::text;
use crate::runtime::cycle_error;
use crate::runtime::points::Point;
use crate::store::{AfterFailure, BeginRun, FinishRun, RunEnd, StoreError};

/// Times a result that could not be recorded is tried again, and the wait between: ten minutes in all.
const FINISH_TRIES_MAX: u32 = 120;
const FINISH_WAIT: Duration = Duration::from_secs(5);

/// Runs a job to its end. Every path leaves the case in a state from which it goes on.
///
/// `doubted`: failures are held against the engine.
pub(super) async fn run(shared: Arc<Shared>, engine: WorkerEngine, lease: Lease, doubted: bool) -> JobEnd {
    let unit = format!("{}.engine", engine.unit.name);
    if doubted {
        shared.engines.doubt(&engine.unit.name);
    }
    let span = tracing::info_span!(
        "job",
        unit,
        case = %lease.case.id,
        run = tracing::field::Empty,
        generation = shared.parts.orders.generation,
        connector = lease.case.connector,
    );
    match attempt(&shared, &engine, &lease).instrument(span).await {
        Ok(end) => end,
        // Nothing was written: whoever holds the case now goes on with it.
        Err(StoreError::LeaseLost(_)) => JobEnd::GivenBack,
        // The lease runs out and the case is taken again.
        Err(error) => JobEnd::Failed(job_error(&shared, &unit, &error)),
    }
}

async fn attempt(shared: &Shared, engine: &WorkerEngine, lease: &Lease) -> Result<JobEnd, StoreError> {
    let parts = &shared.parts;
    let (case, token) = (lease.case.id, lease.token);
    let items = parts.store.case_items(case, limits::CASE_ITEMS_PROMPT_MAX).await?;
    let (request, fault) = request::request(shared, engine, &lease.case, &items, None).await?;
    let allowance = money::allowance(&engine.unit, &parts.orders.plan.daemon, &request, parts.clock.now());
    let run = match parts
        .store
        .begin_run(case, token, &engine.unit.name, parts.orders.generation, allowance)
        .await?
    {
        BeginRun::Started(run) => run,
        BeginRun::OverBudget { until, reason } => {
            let soon = until.is_some_and(|until| until.since(parts.clock.now()) <= Duration::from_secs(300));
            let until = until.map(|until| until.to_string());
            if soon {
                tracing::debug!(until, "parked: {reason}");
            } else if shared.engines.is_news(format!("{} {until:?}", engine.unit.name)) {
                tracing::warn!(until, "parked: {reason}");
            } else {
                tracing::info!(until, "parked: {reason}");
            }
            return Ok(JobEnd::Parked(None));
        }
    };
    tracing::Span::current().record("run", tracing::field::display(run));
    Point::AfterBegin.pass();
    if let Some(fault) = fault {
        return finish(shared, engine, lease, run, &items, Err(fault)).await;
    }
    let scratch = match Scratch::make(&parts.scratch, run) {
        Ok(scratch) => scratch,
        Err(error) => {
            let why = format!("make a run directory in {}: {error}", parts.scratch.display());
            let failed = EngineError { failure: RunFailure::Config, detail: why, usage: Usage::default() };
            return finish(shared, engine, lease, run, &items, Err(failed)).await;
        }
    };
    let cancel = shared.cancel.child_token();
    shared.engines.began(&engine.unit.name, parts.clock.now());
    let outcome = {
        let work =
            engine.of(lease.case.route.as_deref()).run(&request, engine.limits(), scratch.path(), &cancel);
        let keep = keep_lease(shared, lease, &cancel);
        tokio::pin!(work);
        tokio::select! {
            outcome = &mut work => outcome,
            // Lost: the engine was cancelled; its process room still has to come to its end.
            () = keep => work.await,
        }
    };
    Point::AfterEngine.pass();
    drop(scratch);
    request::keep_prompt(shared, run, &request).await;
    if shared.cancel.is_cancelled() && outcome.is_err() {
        parts.store.give_back(case, token, Some(run), "the daemon was stopping").await?;
        return Ok(JobEnd::GivenBack);
    }
    finish(shared, engine, lease, run, &items, outcome).await
}

/// Extends the lease until it is lost; then cancels the engine and returns.
async fn keep_lease(shared: &Shared, lease: &Lease, cancel: &CancellationToken) {
    loop {
        tokio::time::sleep(limits::LEASE / 3).await;
        match shared.parts.store.renew(vec![(lease.case.id, lease.token)], limits::LEASE).await {
            Ok(lost) if lost.is_empty() => {}
            // A busy disk: the lease still has two thirds to go.
            Err(error) => tracing::debug!("extending the lease: {}", chain(&error)),
            Ok(_) => {
                cancel.cancel();
                return;
            }
        }
    }
}

async fn finish(
    shared: &Shared,
    engine: &WorkerEngine,
    lease: &Lease,
    run: RunId,
    items: &[Item],
    mut outcome: Result<EngineOutcome, EngineError>,
) -> Result<JobEnd, StoreError> {
    let parts = &shared.parts;
    let spent_micro_usd = money::settle(&engine.unit, &mut outcome, parts.clock.now());
    let unit = format!("{}.engine", engine.unit.name);
    let (mut facts, mut labels) = (RunFacts::default(), None);
    let (end, usage, job_end) = match outcome {
        Ok(outcome) => {
            shared.engines.succeeded(&engine.unit.name, parts.clock.now());
            verdict::works(shared, &engine.unit.name).await?;
            let (end, job_end) = outcome_end(shared, engine, lease, items, &outcome);
            if !outcome.labels.is_empty() {
                labels = Some(request::labels(shared, &lease.case, &outcome.labels));
            }
            facts = outcome.facts;
            (end, outcome.usage, job_end)
        }
        Err(error) => {
            let (end, job_end) = failure_end(shared, engine, lease, &unit, &error).await?;
            (end, error.usage, job_end)
        }
    };
    let finish = FinishRun {
        case: lease.case.id,
        token: lease.token,
        run,
        end,
        usage,
        facts,
        labels,
        spent_micro_usd,
        generation: parts.orders.generation,
    };
    finish_patiently(shared, lease, finish).await?;
    money::warn(shared, &engine.unit).await?;
    if job_end == JobEnd::Draft {
        Point::AfterDraft.pass();
    }
    Ok(job_end)
}

/// A full disk or a held database must not throw away what an engine was paid for.
async fn finish_patiently(shared: &Shared, lease: &Lease, finish: FinishRun) -> Result<(), StoreError> {
    let store = &shared.parts.store;
    for _ in 0..FINISH_TRIES_MAX {
        match store.finish_run(finish.clone()).await {
            Err(error @ StoreError::Sql { .. }) => {
                tracing::warn!("the result is kept and recorded later: {}", chain(&error));
                tokio::time::sleep(FINISH_WAIT).await;
                let _ = store.renew(vec![(lease.case.id, lease.token)], limits::LEASE).await;
            }
            done => return done.map(drop),
        }
    }
    store.finish_run(finish).await.map(drop)
}

fn outcome_end(
    shared: &Shared,
    engine: &WorkerEngine,
    lease: &Lease,
    items: &[Item],
    outcome: &EngineOutcome,
) -> (RunEnd, JobEnd) {
    // An engine may print a secret that it was given; nothing of it goes into the record.
    let scrub = |text: &str| shared.parts.scrubber.scrub(&text::clean(text)).into_owned();
    let mut remarks = outcome.remarks.clone();
    match &outcome.result {
        EngineResult::NothingToDo(reason) => {
            (RunEnd::NothingToDo { reason: scrub(reason) }, JobEnd::NothingToDo)
        }
        EngineResult::Question(question) => {
            (RunEnd::Question { text: scrub(question) }, JobEnd::Parked(None))
        }
        EngineResult::Reply(body) => match addressed(items, &outcome.effects, &mut remarks) {
            // All that it proposed is not offered, and it wrote nothing.
            Some(envelope) if body.is_empty() && envelope.effects.is_empty() => {
                (RunEnd::NothingToDo { reason: scrub(&remarks.join("; ")) }, JobEnd::NothingToDo)
            }
            Some(envelope) => {
                let end = RunEnd::Draft {
                    connector: lease.case.connector.clone(),
                    envelope,
                    body: text::cut(&text::visible(&scrub(body)), limits::DRAFT_BYTES_MAX).to_owned(),
                    made_by: made_by(engine, lease),
                    remarks: remarks.iter().map(|remark| scrub(remark)).collect(),
                };
                (end, JobEnd::Draft)
            }
            // Nobody to send it to (a feed): what the engine wrote is kept as a note on the case.
            None => (RunEnd::NothingToDo { reason: format!("note: {}", scrub(body)) }, JobEnd::NothingToDo),
        },
    }
}

/// Whom an answer goes to, with those of the wanted effects that are offered; the others are told.
fn addressed(items: &[Item], wanted: &[Effect], remarks: &mut Vec<String>) -> Option<Envelope> {
    let (item, envelope) = Item::answered(items)?;
    let chosen = effect::chosen(wanted, &item.offers);
    remarks.extend(chosen.remarks("the engine"));
    Some(Envelope { effects: chosen.kept, ..envelope.clone() })
}

/// "local", or "local, because claude failed (network)".
fn made_by(engine: &WorkerEngine, lease: &Lease) -> String {
    match lease.case.reason.as_deref() {
        Some(why) if why.starts_with(FELL_BACK) => format!("{} ({why})", engine.unit.name),
        _ => engine.unit.name.clone(),
    }
}

async fn failure_end(
    shared: &Shared,
    engine: &WorkerEngine,
    lease: &Lease,
    unit: &str,
    error: &EngineError,
) -> Result<(RunEnd, JobEnd), StoreError> {
    let parts = &shared.parts;
    let detail = parts.scrubber.scrub(&text::clean(&error.detail)).into_owned();
    let word = error.failure.word();
    let fallback = lease
        .case
        .route
        .as_deref()
        .and_then(|route| shared.router.next_engine(route, &engine.unit.name, &error.failure));
    let situation = Situation {
        failure: &error.failure,
        attempts: lease.case.attempts,
        attempts_max: limits::CASE_ATTEMPTS_MAX,
        exit_attempts: engine.unit.exit_attempts,
        now: parts.clock.now(),
        seed: u64::try_from(lease.case.id.0).unwrap_or(0),
        fallback: fallback.is_some(),
        shut_until: verdict::failed(shared, &engine.unit, lease.case.id, &error.failure, &detail).await?,
    };
    let decision = after(&situation);
    if let Some(until) = decision.cool_down {
        verdict::rest(shared, &engine.unit, &error.failure, until, &detail).await?;
    }
    let now = parts.clock.now();
    shared.engines.failed(&engine.unit.name, &error.failure, &detail, now);
    match shared.engines.line(&engine.unit.name, &error.failure, &detail, now) {
        Some(line) => {
            tracing::warn!(class = word, "{line}");
        }
        None => tracing::debug!(class = word, "run failed"),
    }
    let next = match (decision.next, fallback) {
        (After::FallBack, Some(next)) => {
            let reason = format!("{FELL_BACK} {}: {word}", engine.unit.name);
            AfterFailure::Requeue { engine: next, reason }
        }
        (After::RetryAt(until), _) => AfterFailure::Park {
            reason: format!("{}: {word}: {detail}", engine.unit.name),
            until: Some(until),
        },
        (After::WaitUntil(until), _) => {
            AfterFailure::Wait { reason: format!("{}: {word}: {detail}", engine.unit.name), until }
        }
        (After::FallBack | After::Park, _) => {
            AfterFailure::Park { reason: format!("{}: {word}: {detail}", engine.unit.name), until: None }
        }
    };
    let told = cycle_error(unit, word, &format!("{}: {detail}", lease.case.id), &parts.scrubber);
    let job_end = match next {
        AfterFailure::Park { until: None, .. } => JobEnd::Parked(Some(told)),
        _ => JobEnd::Failed(told),
    };
    Ok((RunEnd::Failed { word: word.to_owned(), detail, next }, job_end))
}

/// An empty directory of mode 0700 for one attempt, gone when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn make(root: &Path, run: RunId) -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let path = root.join(run.to_string());
        // Left by a killed daemon under the same number: never handed to another run.
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::item::{Disposition, ReplyWay};

    fn item(to: &str, disposition: Disposition) -> Item {
        let reply = match to {
            "" => ReplyWay::Nowhere { reason: "it would go to yourself".into() },
            to => ReplyWay::To(Envelope { to: vec![to.to_owned()], ..Envelope::default() }),
        };
        Item {
            key: to.to_owned(),
            revision: String::new(),
            identities: Vec::new(),
            threads: Vec::new(),
            kind: "mail".into(),
            title: String::new(),
            author: None,
            at: None,
            url: None,
            body: String::new(),
            hidden: Vec::new(),
            attachments: Vec::new(),
            cut: None,
            labels: Vec::new(),
            reply,
            offers: Vec::new(),
            disposition,
            warnings: Vec::new(),
        }
    }

    fn check(items: &[Item], expected: Option<&str>) {
        let to = addressed(items, &[], &mut Vec::new()).map(|envelope| envelope.to.concat());
        assert_eq!(to.as_deref(), expected);
    }

    #[test]
    fn the_newest_that_wants_an_answer_gets_it() {
        let no_reply = || Disposition::NoReply { reason: "it is an automatic reply".into() };
        let (pat, kim) = (item("pat", Disposition::Work), item("kim", Disposition::Work));
        let (away, own) = (item("away", no_reply()), item("", no_reply()));
        check(&[pat.clone(), kim], Some("kim"));
        check(&[pat, away.clone(), own.clone()], Some("pat"));
        // Asked for by a person all the same.
        check(&[away, own.clone()], Some("away"));
        check(&[own], None);
    }
}
