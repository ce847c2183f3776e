//! Drafts that no engine of ours made: an agent that a person works with proposes one.

use super::drafts::{case_state, move_case};
use super::rows::{Columns, json, shared};
use super::runs::{ADD_DRAFTS, SUPERSEDE};
use super::state::case_may;
use super::types::Proposal;
use super::writer::Tx;
use super::{Result, Store, StoreError, journal};
use crate::model::case::CaseState;
use crate::model::draft::approval_hash;
use crate::model::ids::{DraftId, RunId};

const DOING: &str = "take a proposed draft";

const NEXT: &str = "SELECT coalesce((SELECT max(id) FROM runs), 0) + 1, coalesce((SELECT max(id) FROM drafts), 0) + 1, \
     (SELECT count(*) FROM items WHERE case_id = ?1)";

/// A run that was over when it began, so that the record of the case says where the draft comes from.
const ADD_RUN: &str = "INSERT INTO runs (id, case_id, engine, attempt, outcome, detail, started_at, ended_at, generation) \
     SELECT ?1, id, ?3, attempts, 'reply', 'proposed', ?4, ?4, ?5 FROM cases WHERE id = ?2";

/// Stands where the engine of a run stands; no unit can have this name, for it is no word of one.
const BY: &str = "mcp (proposed)";

impl Store {
    /// Takes a draft for a case that nobody works on: the case goes to `review`, an older open draft is superseded. Stale
    /// at once if more came into the case than the proposer can have seen.
    ///
    /// # Errors
    /// Refused while an engine works on the case, and where it is decided already.
    pub async fn propose(&self, proposal: Proposal) -> Result<DraftId> {
        self.write(DOING, move |tx| Box::pin(async move { propose(tx, &proposal).await })).await
    }
}

async fn propose(tx: &mut Tx, proposal: &Proposal) -> Result<DraftId> {
    let case = proposal.case;
    let (state, _) = case_state(tx, case).await?;
    match state {
        CaseState::Running => {
            return Err(StoreError::refused(format!("an engine is working on case {case} just now")));
        }
        state if !case_may(state, CaseState::Review) => {
            return Err(StoreError::refused(format!("case {case} is {}", state.word())));
        }
        _ => {}
    }
    let row = tx.first(DOING, sqlx::query(NEXT).bind(case.0)).await?;
    let row = row.ok_or_else(|| StoreError::refused(format!("case {case} is not there")))?;
    let mut columns = Columns::of(&row);
    let (run, draft) = (RunId(columns.take()?), DraftId(columns.take()?));
    let items: i64 = columns.take()?;
    for row in tx.all(DOING, sqlx::query(SUPERSEDE).bind(json(&[case.0]))).await? {
        let older = DraftId(Columns::of(&row).take()?);
        journal::note(tx, case, "superseded", older.to_string()).await?;
    }
    let Proposal { connector, destination, envelope, body, by, remarks, generation, .. } = proposal;
    let query = sqlx::query(ADD_RUN).bind(run.0).bind(case.0).bind(BY).bind(tx.now.0).bind(*generation);
    tx.run(DOING, query).await?;
    let stale = items > i64::from(proposal.items);
    let hash = approval_hash(connector, destination, envelope, body);
    let rows = shared(&[(
        case.0,
        run.0,
        connector,
        stale,
        hash,
        *generation,
        json(envelope),
        body,
        by,
        json(remarks),
        destination,
        // No rule of a connector lets it leave without a person: nothing of ours made it.
        false,
    )]);
    let query =
        sqlx::query(ADD_DRAFTS).bind(draft.0).bind(tx.now.0).bind(rows.clone()).bind(draft.0).bind(rows);
    tx.run(DOING, query).await?;
    move_case(tx, case, CaseState::Review, None, 0).await?;
    journal::note(tx, case, "draft", format!("{draft} by {by}, {run}")).await?;
    tx.wake.review = true;
    Ok(draft)
}
