//! Runs: what a worker tries and what it came to. Both ends come in crowds and are batched.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::group::Batched;
use super::journal::Line;
use super::life::{self, FOR_A_PERSON};
use super::money::{Refused, Sums};
use super::rows::{Columns, json, shared};
use super::state::rest;
use super::types::{AfterFailure, Allowance, BeginRun, FinishRun, RunEnd};
use super::writer::{Op, Tx};
use super::{Result, Store, StoreError, journal};
use crate::model::case::CaseState;
use crate::model::draft::approval_hash;
use crate::model::ids::{CaseId, DraftId, RunId};
use crate::model::parked::Waits;
use crate::model::time::Timestamp;

const BEGINNING: &str = "begin a run";
const FINISHING: &str = "finish a run";

/// A run to be recorded as running.
pub(super) struct Begin {
    pub case: CaseId,
    pub token: i64,
    pub engine: String,
    pub generation: i64,
    pub allowance: Allowance,
}

pub(super) const FENCED: &str = "SELECT json_group_array(json_array(j.key, c.attempts, \
     coalesce((SELECT max(id) FROM runs), 0))) FROM json_each(?1) j \
     CROSS JOIN cases c ON c.id = j.value ->> 0 AND c.token = j.value ->> 1 AND c.state = 'running'";

pub(super) const RUNS_SINCE: &str =
    "SELECT count(*) FROM (SELECT 1 FROM runs WHERE engine = ?1 AND started_at >= ?2 LIMIT ?3)";

pub(super) const RUNS_BEGUN: &str = "SELECT started_at FROM runs WHERE engine = ?1 AND started_at > ?2 \
     ORDER BY started_at DESC LIMIT ?3";

pub(super) const ADD_RUNS: &str = "INSERT INTO runs (id, case_id, engine, attempt, outcome, started_at, generation, \
     reserved_micro_usd, spent_micro_usd) SELECT ?1 + key, value ->> 0, value ->> 1, value ->> 2, 'running', ?2, \
     value ->> 3, value ->> 4, value ->> 4 FROM json_each(?3)";

/// No run was made, so the attempt is not counted.
pub(super) const OVER_BUDGET: &str = "UPDATE cases SET state = 'parked', waits = 'budget', reason = j.value ->> 1, until = j.value ->> 2, \
     lease_until = NULL, attempts = attempts - 1, news = 0, changed_at = ?1 \
     FROM json_each(?2) j WHERE cases.id = j.value ->> 0";

pub(super) const TO_FINISH: &str = "SELECT json_group_array(json_array(j.key, c.news, r.id, coalesce((SELECT max(id) FROM drafts), 0))) \
     FROM json_each(?1) j \
     CROSS JOIN cases c ON c.id = j.value ->> 0 AND c.token = j.value ->> 1 AND c.state = 'running' \
     LEFT JOIN runs r ON r.id = j.value ->> 2 AND r.case_id = c.id AND r.ended_at IS NULL";

pub(super) const SUPERSEDE: &str = "UPDATE drafts SET state = 'superseded' WHERE state = 'open' \
     AND case_id IN (SELECT value FROM json_each(?1)) RETURNING id, case_id";

pub(super) const ADD_DRAFTS: &str = "INSERT INTO drafts (id, case_id, run_id, connector, state, stale, made_at, hash, generation, \
     destination, auto) \
     SELECT ? + key, value ->> 0, value ->> 1, value ->> 2, 'open', value ->> 3, ?, value ->> 4, value ->> 5, \
     value ->> 10, value ->> 11 FROM json_each(?); \
     INSERT INTO draft_bodies (draft_id, envelope, body, engine_body, made_by, remarks) \
     SELECT ? + key, value ->> 6, value ->> 7, value ->> 7, value ->> 8, value ->> 9 FROM json_each(?)";

pub(super) const WAYS_OUT: &str = "SELECT json_group_array(json_array(w.connector, w.destination, \
     json(CASE WHEN w.auto THEN 'true' ELSE 'false' END))) FROM json_each(?1) j CROSS JOIN ways_out w ON w.connector = j.value";

pub(super) const FINISH: &str = "\
     UPDATE runs SET outcome = j.value ->> 1, detail = j.value ->> 2, input_tokens = j.value ->> 3, \
     output_tokens = j.value ->> 4, cost_micro_usd = j.value ->> 5, cost_source = j.value ->> 6, \
     cache_read_tokens = j.value ->> 7, cache_write_tokens = j.value ->> 8, \
     spent_micro_usd = coalesce(j.value ->> 9, spent_micro_usd), session = j.value ->> 10, model = j.value ->> 11, \
     program = j.value ->> 12, ended_at = ? \
     FROM json_each(?) j WHERE runs.id = j.value ->> 0; \
     UPDATE cases SET state = j.value ->> 1, reason = j.value ->> 2, until = j.value ->> 3, \
     engine = coalesce(j.value ->> 4, engine), attempts_extra = attempts_extra + j.value ->> 5, waits = j.value ->> 6, \
     lease_until = NULL, news = 0, changed_at = ? FROM json_each(?) j WHERE cases.id = j.value ->> 0; \
     INSERT INTO journal (case_id, at, event, detail) \
     SELECT value ->> 0, ?, value ->> 1, value ->> 2 FROM json_each(?)";

pub(super) const LABEL: &str = "UPDATE case_heads SET labels = j.value ->> 1 FROM json_each(?1) j \
     WHERE case_id = j.value ->> 0";

impl Store {
    /// Records a run as running and sets aside what it may cost, if what is allowed has room for it.
    pub async fn begin_run(
        &self,
        case: CaseId,
        token: i64,
        engine: &str,
        generation: i64,
        allowance: Allowance,
    ) -> Result<BeginRun> {
        let begin = Begin { case, token, engine: engine.to_owned(), generation, allowance };
        self.grouped(begin, Op::Begin).await
    }

    /// When the newest runs of an engine within the last `span` began, oldest first, at most so many.
    pub async fn runs_begun(&self, engine: &str, span: Duration, most: usize) -> Result<Vec<Timestamp>> {
        let query = sqlx::query(RUNS_BEGUN)
            .bind(engine.to_owned())
            .bind(self.now().minus(span).0)
            .bind(i64::try_from(most).unwrap_or(i64::MAX));
        let rows = self.read_all("read the last runs of an engine", query).await?;
        let mut begun = rows.iter().map(|row| Columns::of(row).time()).collect::<Result<Vec<_>>>()?;
        begun.reverse();
        Ok(begun)
    }

    /// Records a run's end and moves the case, in one transaction. A draft for a case into which a new item came
    /// meanwhile is made stale at once, and the case is `new` again.
    pub async fn finish_run(&self, finish: FinishRun) -> Result<Option<DraftId>> {
        self.grouped(finish, |pending| Op::Finish(Box::new(pending))).await
    }
}

impl Batched<BeginRun> for Begin {
    const DOING: &'static str = BEGINNING;

    fn run<'a>(tx: &'a mut Tx, inputs: &'a [&'a Self]) -> BoxFuture<'a, Result<Vec<Result<BeginRun>>>> {
        Box::pin(begin(tx, inputs))
    }
}

async fn begin(tx: &mut Tx, inputs: &[&Begin]) -> Result<Vec<Result<BeginRun>>> {
    let fences: Vec<(i64, i64)> = inputs.iter().map(|begin| (begin.case.0, begin.token)).collect();
    let mut attempts: HashMap<usize, i64> = HashMap::new();
    let mut next_run = 1;
    let fenced: Vec<(usize, i64, i64)> = tx.list(BEGINNING, sqlx::query(FENCED).bind(json(&fences))).await?;
    for (position, attempt, last_run) in fenced {
        attempts.insert(position, attempt);
        next_run = last_run + 1;
    }
    let first_run = next_run;
    let mut used: HashMap<(&str, Timestamp), u32> = HashMap::new();
    let mut sums = Sums::default();
    let mut parked: HashSet<CaseId> = HashSet::new();
    let (mut runs, mut over, mut answers) = (Vec::new(), Vec::new(), Vec::with_capacity(inputs.len()));
    for (position, begin) in inputs.iter().enumerate() {
        let Some(attempt) = attempts.get(&position).filter(|_| !parked.contains(&begin.case)) else {
            answers.push(Err(StoreError::LeaseLost(begin.case)));
            continue;
        };
        let mut count_run = None;
        if let Some((runs_max, day_start, until)) = begin.allowance.runs {
            let key = (begin.engine.as_str(), day_start);
            let count = match used.entry(key) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    entry.insert(runs_since(tx, &begin.engine, day_start, runs_max).await?)
                }
            };
            if *count >= runs_max {
                let reason = format!("{} has used its {runs_max} runs of this day", begin.engine);
                over.push((begin.case.0, reason.clone(), Some(until)));
                parked.insert(begin.case);
                answers.push(Ok(BeginRun::OverBudget { until: Some(until), reason }));
                continue;
            }
            count_run = Some(count);
        }
        let reserved = match sums.reserve(tx, &begin.engine, begin.case, &begin.allowance).await? {
            Ok(reserved) => reserved,
            Err(Refused { reason, until }) => {
                over.push((begin.case.0, reason.clone(), until));
                parked.insert(begin.case);
                answers.push(Ok(BeginRun::OverBudget { until, reason }));
                continue;
            }
        };
        if let Some(count) = count_run {
            *count += 1;
        }
        runs.push((begin.case.0, &begin.engine, attempt, begin.generation, reserved));
        answers.push(Ok(BeginRun::Started(RunId(next_run))));
        next_run += 1;
    }
    if !runs.is_empty() {
        tx.run(BEGINNING, sqlx::query(ADD_RUNS).bind(first_run).bind(tx.now.0).bind(json(&runs))).await?;
    }
    if !over.is_empty() {
        tx.run(BEGINNING, sqlx::query(OVER_BUDGET).bind(tx.now.0).bind(json(&over))).await?;
        let lines: Vec<Line<'_>> =
            over.into_iter().map(|(case, reason, _)| (case, "parked", reason)).collect();
        tx.wake.pending = true;
        journal::notes(tx, &lines).await?;
    }
    Ok(answers)
}

pub(super) async fn runs_since(tx: &mut Tx, engine: &str, since: Timestamp, enough: u32) -> Result<u32> {
    let query = sqlx::query(RUNS_SINCE).bind(engine.to_owned()).bind(since.0).bind(i64::from(enough));
    match tx.first(BEGINNING, query).await? {
        Some(row) => Ok(u32::try_from(Columns::of(&row).count()?).unwrap_or(u32::MAX)),
        None => Ok(0),
    }
}

impl Batched<Option<DraftId>> for FinishRun {
    const DOING: &'static str = FINISHING;

    fn run<'a>(
        tx: &'a mut Tx,
        inputs: &'a [&'a Self],
    ) -> BoxFuture<'a, Result<Vec<Result<Option<DraftId>>>>> {
        Box::pin(finish(tx, inputs))
    }
}

/// Where connectors send and whether by rule.
type Ways = HashMap<String, (String, bool)>;

/// Those of the connectors of these drafts.
async fn ways_out(tx: &mut Tx, inputs: &[&FinishRun]) -> Result<Ways> {
    let connectors: HashSet<&str> = inputs
        .iter()
        .filter_map(|input| match &input.end {
            RunEnd::Draft { connector, .. } => Some(connector.as_str()),
            _ => None,
        })
        .collect();
    if connectors.is_empty() {
        return Ok(Ways::new());
    }
    let rows: Vec<(String, String, bool)> =
        tx.list(FINISHING, sqlx::query(WAYS_OUT).bind(json(&connectors))).await?;
    Ok(rows.into_iter().map(|(connector, destination, auto)| (connector, (destination, auto))).collect())
}

/// What is known of a run that is to end.
struct Open {
    news: i64,
    runs: bool,
}

#[derive(Default)]
struct Ends<'a> {
    runs: Vec<RunRow<'a>>,
    cases: Vec<CaseRow<'a>>,
    drafts: Vec<DraftRow<'a>>,
    ended: Vec<i64>,
    lines: Vec<Line<'static>>,
    labels: Vec<(i64, &'a Vec<String>)>,
}

type RunRow<'a> = (
    i64,
    &'a str,
    &'a str,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    &'a str,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<&'a str>,
    Option<&'a str>,
    Option<&'a str>,
);
type CaseRow<'a> =
    (i64, &'static str, Option<&'a str>, Option<Timestamp>, Option<&'a str>, u32, Option<&'static str>);
type DraftRow<'a> = (i64, i64, &'a str, bool, String, i64, String, &'a str, &'a str, String, String, bool);

async fn finish(tx: &mut Tx, inputs: &[&FinishRun]) -> Result<Vec<Result<Option<DraftId>>>> {
    let fences: Vec<_> = inputs.iter().map(|end| (end.case.0, end.token, end.run.0)).collect();
    let mut open: HashMap<usize, Open> = HashMap::new();
    let mut first_draft = 1;
    let fenced: Vec<(usize, i64, Option<i64>, i64)> =
        tx.list(FINISHING, sqlx::query(TO_FINISH).bind(json(&fences))).await?;
    for (position, news, run, last_draft) in fenced {
        open.insert(position, Open { news, runs: run.is_some() });
        first_draft = last_draft + 1;
    }
    let ways = ways_out(tx, inputs).await?;
    let mut ends = Ends::default();
    let mut done: HashSet<CaseId> = HashSet::new();
    let mut answers = Vec::with_capacity(inputs.len());
    for (position, &input) in inputs.iter().enumerate() {
        let answer = match open.get(&position) {
            Some(known) if known.runs && done.insert(input.case) => {
                Ok(end(tx, &mut ends, input, (known.news, first_draft), &ways))
            }
            Some(known) if !known.runs => {
                Err(StoreError::refused(format!("run {} of case {} is not running", input.run, input.case)))
            }
            _ => Err(StoreError::LeaseLost(input.case)),
        };
        answers.push(answer);
    }
    write(tx, ends, first_draft).await?;
    Ok(answers)
}

async fn write(tx: &mut Tx, mut ends: Ends<'_>, first_draft: i64) -> Result<()> {
    if ends.runs.is_empty() {
        return Ok(());
    }
    if !ends.ended.is_empty() {
        for row in tx.all(FINISHING, sqlx::query(SUPERSEDE).bind(json(&ends.ended))).await? {
            let mut columns = Columns::of(&row);
            let draft = DraftId(columns.take()?);
            ends.lines.push((columns.take()?, "superseded", draft.to_string()));
            tx.wake.review = true;
        }
    }
    if !ends.drafts.is_empty() {
        let drafts = shared(&ends.drafts);
        let query = sqlx::query(ADD_DRAFTS)
            .bind(first_draft)
            .bind(tx.now.0)
            .bind(drafts.clone())
            .bind(first_draft)
            .bind(drafts);
        tx.run(FINISHING, query).await?;
        if let Some(at) = tx.restored {
            let query = sqlx::query(FOR_A_PERSON)
                .bind(life::remark(at))
                .bind(first_draft)
                .bind(at.0)
                .bind(first_draft)
                .bind(at.0);
            tx.run(FINISHING, query).await?;
        }
    }
    if !ends.labels.is_empty() {
        tx.run(FINISHING, sqlx::query(LABEL).bind(json(&ends.labels))).await?;
    }
    let query = sqlx::query(FINISH)
        .bind(tx.now.0)
        .bind(json(&ends.runs))
        .bind(tx.now.0)
        .bind(json(&ends.cases))
        .bind(tx.now.0)
        .bind(json(&ends.lines));
    tx.run(FINISHING, query).await.map(|_| ())
}

/// Adds the rows of one end.
fn end<'a>(
    tx: &mut Tx,
    ends: &mut Ends<'a>,
    input: &'a FinishRun,
    (news, first_draft): (i64, i64),
    ways: &Ways,
) -> Option<DraftId> {
    let FinishRun { case, run, end, usage, generation, .. } = input;
    let came = news > 1;
    let mut made = None;
    let (mut reason, mut until, mut engine) = (None, None, None);
    let mut spared = 0;
    let mut waits = None;
    let (outcome, detail, wanted): (&str, &str, CaseState) = match end {
        RunEnd::Draft { connector, envelope, body, made_by, remarks } => {
            let id = DraftId(first_draft + i64::try_from(ends.drafts.len()).unwrap_or(i64::MAX));
            let (destination, auto) = ways.get(connector).cloned().unwrap_or_default();
            let hash = approval_hash(connector, &destination, envelope, body);
            ends.drafts.push((
                case.0,
                run.0,
                connector,
                news > 0,
                hash,
                *generation,
                json(envelope),
                body,
                made_by,
                json(remarks),
                destination,
                auto,
            ));
            ends.lines.push((case.0, "draft", format!("{id} by {made_by}, {run}")));
            made = Some(id);
            tx.wake.review = true;
            ("reply", "", CaseState::Review)
        }
        RunEnd::NothingToDo { reason: why } => ("nothing-to-do", why, CaseState::Closed),
        RunEnd::Question { text } => {
            (reason, waits) = (Some(text.as_str()), Some(Waits::Question));
            ("question", text, CaseState::Parked)
        }
        RunEnd::Failed { word, detail, next } => {
            waits = Some(Waits::after_failure(word));
            let wanted = match next {
                AfterFailure::Park { reason: why, until: at } => {
                    (reason, until) = (Some(why.as_str()), *at);
                    CaseState::Parked
                }
                AfterFailure::Wait { reason: why, until: at } => {
                    (reason, until, spared) = (Some(why.as_str()), Some(*at), 1);
                    CaseState::Parked
                }
                AfterFailure::Requeue { engine: other, reason: why } => {
                    engine = Some(other.as_str());
                    // The draft that comes of it says why it is not the first engine's.
                    reason = Some(why.as_str());
                    CaseState::Queued
                }
                AfterFailure::Dead { reason: why } => {
                    reason = Some(why.as_str());
                    CaseState::Dead
                }
            };
            (word, detail, wanted)
        }
    };
    // A case that wakes by itself looks at everything then.
    let state = if until.is_some() { wanted } else { rest(wanted, came) };
    if made.is_none() {
        let why = match end {
            RunEnd::Failed { next: AfterFailure::Requeue { engine, reason }, .. } => {
                format!("to {engine}: {reason}")
            }
            _ => reason.unwrap_or(detail).to_owned(),
        };
        ends.lines.push((case.0, wanted.word(), format!("{run} {outcome}: {why}")));
    }
    if state != wanted {
        reason = None;
        ends.lines.push((case.0, "new", "something came while it was worked on".to_owned()));
    }
    if made.is_some() || matches!(state, CaseState::Closed | CaseState::Dead) {
        ends.ended.push(case.0);
    }
    match state {
        CaseState::New => tx.wake.ingest = true,
        CaseState::Queued => tx.wake.worker = true,
        CaseState::Parked => tx.wake.pending = true,
        _ => {}
    }
    ends.runs.push((
        run.0,
        outcome,
        detail,
        usage.input_tokens,
        usage.output_tokens,
        usage.cost_micro_usd,
        &usage.cost_source,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        input.spent_micro_usd,
        input.facts.session.as_deref(),
        input.facts.model.as_deref(),
        input.facts.program.as_deref(),
    ));
    ends.labels.extend(input.labels.as_ref().map(|labels| (case.0, labels)));
    let waits = waits.filter(|_| state == CaseState::Parked).map(Waits::word);
    ends.cases.push((case.0, state.word(), reason, until, engine, spared, waits));
    made
}
