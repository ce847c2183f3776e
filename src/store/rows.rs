//! Rows to types, by hand.

use std::sync::Arc;

use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row, Sqlite, Type};

use super::{Result, StoreError};
use crate::model::case::{Case, CaseState};
use crate::model::draft::{Draft, DraftState};
use crate::model::ids::{ActionId, CaseId, DraftId, RunId};
use crate::model::item::Item;
use crate::model::outbound::{ActionState, OutboundAction, Payload, Receipt};
use crate::model::run::{Run, RunFacts, Usage};
use crate::model::time::Timestamp;

const READING: &str = "read a row";

/// Takes a row's columns from left to right.
pub(super) struct Columns<'r> {
    row: &'r SqliteRow,
    next: usize,
}

impl<'r> Columns<'r> {
    pub fn of(row: &'r SqliteRow) -> Self {
        Self { row, next: 0 }
    }

    pub fn take<T: Decode<'r, Sqlite> + Type<Sqlite>>(&mut self) -> Result<T> {
        let value = self.row.try_get(self.next).map_err(StoreError::sql(READING))?;
        self.next += 1;
        Ok(value)
    }

    pub fn time(&mut self) -> Result<Timestamp> {
        self.take().map(Timestamp)
    }

    pub fn maybe_time(&mut self) -> Result<Option<Timestamp>> {
        Ok(self.take::<Option<i64>>()?.map(Timestamp))
    }

    /// A count; a negative one is zero.
    pub fn count(&mut self) -> Result<u64> {
        Ok(u64::try_from(self.take::<i64>()?).unwrap_or(0))
    }

    fn small(&mut self) -> Result<u32> {
        Ok(u32::try_from(self.take::<i64>()?).unwrap_or(0))
    }

    pub fn case_state(&mut self) -> Result<CaseState> {
        let word: &str = self.take()?;
        word_of(word, &CaseState::ALL, CaseState::word)
    }

    pub fn action_state(&mut self) -> Result<ActionState> {
        let word: &str = self.take()?;
        word_of(word, &ActionState::ALL, ActionState::word)
    }

    pub fn draft_state(&mut self) -> Result<DraftState> {
        let word: &str = self.take()?;
        word_of(word, &DraftState::ALL, DraftState::word)
    }

    pub fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        let text: &str = self.take()?;
        serde_json::from_str(text).map_err(|error| StoreError::unreadable(READING, error))
    }
}

fn word_of<S: Copy>(word: &str, all: &[S], of: impl Fn(S) -> &'static str) -> Result<S> {
    all.iter().copied().find(|&state| of(state) == word).ok_or_else(|| {
        StoreError::unreadable(READING, format!("`{word}` is not a state that this program knows"))
    })
}

/// JSON text of plain data. It cannot fail for the types used here; if it did, the statement would say so.
pub(super) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The same, for a text that several statements of one trip take.
pub(super) fn shared<T: serde::Serialize + ?Sized>(value: &T) -> Arc<str> {
    json(value).into()
}

/// SELECT of everything [`case`] reads, with its tail.
macro_rules! case_sql {
    ($tail:literal) => {
        concat!(
            "SELECT c.id, l.name, h.kind, h.title, h.author, c.state, c.reason, c.until, c.route, c.engine, \
             c.priority, c.attempts, c.attempts_extra, c.items, c.made_at, c.changed_at, h.labels \
             FROM cases c CROSS JOIN connectors l ON l.id = c.connector CROSS JOIN case_heads h ON h.case_id = c.id ",
            $tail
        )
    };
}
pub(super) use case_sql;

pub(super) fn case(columns: &mut Columns<'_>) -> Result<Case> {
    Ok(Case {
        id: CaseId(columns.take()?),
        connector: columns.take()?,
        kind: columns.take()?,
        title: columns.take()?,
        author: columns.take()?,
        state: columns.case_state()?,
        reason: columns.take()?,
        until: columns.maybe_time()?,
        route: columns.take()?,
        engine: columns.take()?,
        priority: columns.take()?,
        attempts: columns.small()?,
        attempts_extra: columns.small()?,
        items: columns.small()?,
        made_at: columns.time()?,
        changed_at: columns.time()?,
        labels: columns.json()?,
    })
}

/// SELECT of everything [`draft`] reads, with its tail.
macro_rules! draft_sql {
    ($tail:literal) => {
        concat!(
            "SELECT d.id, d.case_id, d.run_id, d.connector, b.envelope, b.body, b.engine_body, b.made_by, b.remarks, \
             d.state, d.stale, d.deferred_until, d.made_at, d.hash, d.generation, d.destination, d.auto \
             FROM drafts d CROSS JOIN draft_bodies b ON b.draft_id = d.id ",
            $tail
        )
    };
}
pub(super) use draft_sql;

pub(super) fn draft(row: &SqliteRow) -> Result<Draft> {
    let mut columns = Columns::of(row);
    Ok(Draft {
        id: DraftId(columns.take()?),
        case: CaseId(columns.take()?),
        run: RunId(columns.take()?),
        connector: columns.take()?,
        envelope: columns.json()?,
        body: columns.take()?,
        engine_body: columns.take()?,
        made_by: columns.take()?,
        remarks: columns.json()?,
        state: columns.draft_state()?,
        stale: columns.take()?,
        deferred_until: columns.maybe_time()?,
        made_at: columns.time()?,
        hash: columns.take()?,
        generation: columns.take()?,
        destination: columns.take()?,
        auto: columns.take()?,
    })
}

/// SELECT of everything [`action`] reads, with its tail.
macro_rules! action_sql {
    ($tail:literal) => {
        concat!(
            "SELECT a.id, a.case_id, a.draft_id, a.connector, b.envelope, b.body, a.key, a.hash, a.state, a.not_before, \
             a.attempts, b.marker, b.payload, b.remote_id, b.evidence, b.last_error, a.approved_at, a.sending_at, a.destination \
             FROM actions a CROSS JOIN action_bodies b ON b.action_id = a.id ",
            $tail
        )
    };
}
pub(super) use action_sql;

pub(super) fn action(row: &SqliteRow) -> Result<OutboundAction> {
    let mut columns = Columns::of(row);
    Ok(OutboundAction {
        id: ActionId(columns.take()?),
        case: CaseId(columns.take()?),
        draft: DraftId(columns.take()?),
        connector: columns.take()?,
        envelope: columns.json()?,
        body: columns.take()?,
        key: columns.take()?,
        hash: columns.take()?,
        state: columns.action_state()?,
        not_before: columns.time()?,
        attempts: columns.small()?,
        payload: {
            let marker: Option<String> = columns.take()?;
            let bytes: Option<Vec<u8>> = columns.take()?;
            marker.zip(bytes).map(|(marker, bytes)| Payload { marker, bytes })
        },
        receipt: {
            let remote_id: Option<String> = columns.take()?;
            let evidence: Option<String> = columns.take()?;
            remote_id.zip(evidence).map(|(remote_id, evidence)| Receipt { remote_id, evidence })
        },
        last_error: columns.take()?,
        approved_at: columns.time()?,
        sending_at: columns.maybe_time()?,
        destination: columns.take()?,
    })
}

/// Everything [`run`] reads.
/// SELECT of everything [`run`] reads, with its tail.
macro_rules! run_sql {
    ($tail:literal) => {
        concat!(
            "SELECT r.id, r.case_id, r.engine, r.attempt, r.outcome, r.detail, r.input_tokens, r.output_tokens, \
             r.cost_micro_usd, r.cost_source, r.cache_read_tokens, r.cache_write_tokens, r.started_at, r.ended_at, \
             r.generation, r.session, r.model, r.program, r.prompt_hash FROM ",
            $tail
        )
    };
}

pub(super) const RUNS_OF_CASE: &str = run_sql!("runs r WHERE r.case_id = ?1 ORDER BY r.id");
pub(super) const RUNS_BY_ID: &str = run_sql!("json_each(?1) j CROSS JOIN runs r ON r.id = j.value");

pub(super) fn run(row: &SqliteRow) -> Result<Run> {
    let mut columns = Columns::of(row);
    let unsigned = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
    Ok(Run {
        id: RunId(columns.take()?),
        case: CaseId(columns.take()?),
        engine: columns.take()?,
        attempt: columns.small()?,
        outcome: columns.take()?,
        detail: columns.take()?,
        usage: Usage {
            input_tokens: unsigned(columns.take()?),
            output_tokens: unsigned(columns.take()?),
            cost_micro_usd: unsigned(columns.take()?),
            cost_source: columns.take()?,
            cache_read_tokens: unsigned(columns.take()?),
            cache_write_tokens: unsigned(columns.take()?),
        },
        started_at: columns.time()?,
        ended_at: columns.maybe_time()?,
        generation: columns.take()?,
        facts: RunFacts { session: columns.take()?, model: columns.take()?, program: columns.take()? },
        prompt_hash: columns.take()?,
    })
}

pub(super) fn items(rows: &[SqliteRow]) -> Result<Vec<Item>> {
    rows.iter().map(|row| Columns::of(row).json()).collect()
}
