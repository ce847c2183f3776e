//! Replays: a case run once more by an engine, to see what it would say. No draft comes of it and no case moves.

use serde::{Deserialize, Serialize};

use super::money::{Refused, Sums};
use super::rows::{Columns, json};
use super::runs::runs_since;
use super::types::Allowance;
use super::writer::Tx;
use super::{Result, Store, StoreError};
use crate::model::ids::{CaseId, RunId};
use crate::model::limits;
use crate::model::run::{RunFacts, Usage};
use crate::model::time::Timestamp;

const ASK: &str = "INSERT INTO replays (case_id, engine, prompt, state, asked_at) VALUES (?1, ?2, ?3, 'waiting', ?4) RETURNING id";

const WAITING: &str =
    "SELECT id, case_id, engine, prompt FROM replays WHERE state = 'waiting' ORDER BY id LIMIT ?1";

const BEGIN: &str =
    "UPDATE replays SET state = 'running' WHERE id = ?1 AND state = 'waiting' RETURNING case_id";

const ADD_RUN: &str = "INSERT INTO runs (case_id, engine, attempt, outcome, started_at, generation, reserved_micro_usd, \
     spent_micro_usd, replay) VALUES (?1, ?2, 0, 'running', ?3, ?4, ?5, ?5, ?6) RETURNING id";

const END: &str = "UPDATE replays SET state = 'done', run_id = ?2, outcome = ?3, body = ?4, remarks = ?5, ended_at = ?6 \
     WHERE id = ?1 AND state <> 'done'";

const END_RUN: &str = "UPDATE runs SET outcome = ?2, detail = ?3, input_tokens = ?4, output_tokens = ?5, \
     cost_micro_usd = ?6, cost_source = ?7, cache_read_tokens = ?8, cache_write_tokens = ?9, \
     spent_micro_usd = coalesce(?10, spent_micro_usd), model = ?11, program = ?12, ended_at = ?13 WHERE id = ?1";

const ONE: &str = "SELECT id, case_id, engine, state, run_id, outcome, body, remarks, asked_at, ended_at \
     FROM replays WHERE id = ?1";

/// A dead predecessor's, or one for an engine that is gone.
const ABANDON: &str = "UPDATE runs SET outcome = 'interrupted', detail = 'the program ended', ended_at = ?1 \
     WHERE ended_at IS NULL AND replay IN (SELECT id FROM replays WHERE state = 'running')";

const ABANDONED: &str =
    "UPDATE replays SET state = 'done', outcome = 'interrupted', ended_at = ?1 WHERE state = 'running'";

const FORGET: &str = "DELETE FROM replays WHERE id IN (SELECT id FROM replays WHERE state = 'done' AND ended_at < ?1 LIMIT ?2)";

/// A replay that waits for a free place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingReplay {
    /// Its number.
    pub id: i64,
    /// The case.
    pub case: CaseId,
    /// The engine unit.
    pub engine: String,
    /// In place of the route's prompt.
    pub prompt: Option<String>,
}

/// A replay and what it came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Its number.
    pub id: i64,
    /// The case.
    pub case: CaseId,
    /// The engine unit.
    pub engine: String,
    /// `waiting`, `running`, `done`.
    pub state: String,
    /// The run, for `case show --prompt`.
    pub run: Option<RunId>,
    /// As of a run: `reply`, `nothing-to-do`, `question`, `interrupted`, a failure's word; `over-budget` if it was not run.
    pub outcome: String,
    /// The reply, the question, or the reason.
    pub body: String,
    /// As a reviewer would see them.
    pub remarks: Vec<String>,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// How a replay ended.
#[derive(Clone, Debug, Default)]
pub struct ReplayEnd {
    /// As of a run.
    pub outcome: String,
    /// The reply, the question, or the reason; masked.
    pub body: String,
    /// For the reviewer, masked.
    pub remarks: Vec<String>,
    /// What it cost.
    pub usage: Usage,
    /// What the run told of itself.
    pub facts: RunFacts,
    /// What it counts for; `None`: all that was set aside.
    pub spent_micro_usd: Option<u64>,
}

impl Store {
    /// Asks for a replay. Gives its number.
    pub async fn ask_replay(&self, case: CaseId, engine: &str, prompt: Option<String>) -> Result<i64> {
        const DOING: &str = "ask for a replay";
        let engine = engine.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let query = sqlx::query(ASK).bind(case.0).bind(engine).bind(prompt).bind(tx.now.0);
                let row = tx.first(DOING, query).await?;
                let row = row.ok_or_else(|| StoreError::unreadable(DOING, "no answer"))?;
                tx.wake.worker = true;
                Columns::of(&row).take()
            })
        })
        .await
    }

    /// Replays that wait, oldest first.
    pub async fn replays_waiting(&self) -> Result<Vec<WaitingReplay>> {
        let limit = i64::try_from(limits::REPLAYS_LOOKED_AT_MAX).unwrap_or(i64::MAX);
        let rows = self.read_all("read the replays that wait", sqlx::query(WAITING).bind(limit)).await?;
        let of = |row| {
            let mut columns = Columns::of(row);
            let (id, case) = (columns.take()?, CaseId(columns.take()?));
            Ok(WaitingReplay { id, case, engine: columns.take()?, prompt: columns.take()? })
        };
        rows.iter().map(of).collect()
    }

    /// Begins a replay within what is allowed; `None`: it is over the limit, which is its end, or somebody else has it.
    pub async fn begin_replay(
        &self,
        id: i64,
        engine: &str,
        generation: i64,
        allowance: Allowance,
    ) -> Result<Option<RunId>> {
        let engine = engine.to_owned();
        self.write("begin a replay", move |tx| Box::pin(begin(tx, id, engine, generation, allowance))).await
    }

    /// Ends a replay, with its run if it had one.
    pub async fn end_replay(&self, id: i64, run: Option<RunId>, end: ReplayEnd) -> Result<()> {
        self.write("end a replay", move |tx| Box::pin(finish(tx, id, run, end))).await
    }

    /// A replay.
    pub async fn replay(&self, id: i64) -> Result<Replay> {
        let row = self.read_first("read a replay", sqlx::query(ONE).bind(id)).await?;
        let row = row.ok_or_else(|| StoreError::NotFound { what: format!("replay {id}") })?;
        let mut columns = Columns::of(&row);
        Ok(Replay {
            id: columns.take()?,
            case: CaseId(columns.take()?),
            engine: columns.take()?,
            state: columns.take()?,
            run: columns.take::<Option<i64>>()?.map(RunId),
            outcome: columns.take()?,
            body: columns.take()?,
            remarks: columns.json()?,
            asked_at: columns.time()?,
            ended_at: columns.maybe_time()?,
        })
    }

    /// Ends the replays of a dead predecessor.
    pub(super) async fn recover_replays(&self) -> Result<()> {
        const DOING: &str = "end interrupted replays";
        self.write(DOING, move |tx| {
            Box::pin(async move {
                tx.run(DOING, sqlx::query(ABANDON).bind(tx.now.0)).await?;
                tx.run(DOING, sqlx::query(ABANDONED).bind(tx.now.0)).await.map(|_| ())
            })
        })
        .await
    }

    /// Lets go of replays that nobody will ask for any more.
    pub async fn forget_replays(&self) -> Result<u64> {
        const DOING: &str = "let go of old replays";
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let rows = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
                let before = tx.now.minus(limits::PROMPTS_AGE_MAX);
                tx.run(DOING, sqlx::query(FORGET).bind(before.0).bind(rows)).await
            })
        })
        .await
    }
}

async fn begin(
    tx: &mut Tx,
    id: i64,
    engine: String,
    generation: i64,
    allowance: Allowance,
) -> Result<Option<RunId>> {
    const DOING: &str = "begin a replay";
    let Some(row) = tx.first(DOING, sqlx::query(BEGIN).bind(id)).await? else { return Ok(None) };
    let case = CaseId(Columns::of(&row).take()?);
    let refused =
        |body: String| ReplayEnd { outcome: "over-budget".to_owned(), body, ..ReplayEnd::default() };
    if let Some((runs_max, day_start, _)) = allowance.runs
        && runs_since(tx, &engine, day_start, runs_max).await? >= runs_max
    {
        let why = format!("{engine} has used its {runs_max} runs of this day");
        finish(tx, id, None, refused(why)).await?;
        return Ok(None);
    }
    let reserved = match Sums::default().reserve(tx, &engine, case, &allowance).await? {
        Ok(reserved) => i64::try_from(reserved).unwrap_or(i64::MAX),
        Err(Refused { reason, .. }) => {
            finish(tx, id, None, refused(reason)).await?;
            return Ok(None);
        }
    };
    let query = sqlx::query(ADD_RUN)
        .bind(case.0)
        .bind(engine)
        .bind(tx.now.0)
        .bind(generation)
        .bind(reserved)
        .bind(id);
    let row = tx.first(DOING, query).await?;
    let row = row.ok_or_else(|| StoreError::unreadable(DOING, "no answer"))?;
    Ok(Some(RunId(Columns::of(&row).take()?)))
}

async fn finish(tx: &mut Tx, id: i64, run: Option<RunId>, end: ReplayEnd) -> Result<()> {
    const DOING: &str = "end a replay";
    let ReplayEnd { outcome, body, remarks, usage, facts, spent_micro_usd } = end;
    let signed = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    if let Some(run) = run {
        let detail = if outcome == "reply" { String::new() } else { body.clone() };
        let query = sqlx::query(END_RUN)
            .bind(run.0)
            .bind(outcome.clone())
            .bind(detail)
            .bind(signed(usage.input_tokens))
            .bind(signed(usage.output_tokens))
            .bind(signed(usage.cost_micro_usd))
            .bind(usage.cost_source)
            .bind(signed(usage.cache_read_tokens))
            .bind(signed(usage.cache_write_tokens))
            .bind(signed(spent_micro_usd))
            .bind(facts.model)
            .bind(facts.program)
            .bind(tx.now.0);
        tx.run(DOING, query).await?;
    }
    let query = sqlx::query(END)
        .bind(id)
        .bind(run.map(|run| run.0))
        .bind(outcome)
        .bind(body)
        .bind(json(&remarks))
        .bind(tx.now.0);
    tx.run(DOING, query).await.map(|_| ())
}
