//! Drafts and what people decide about them. The first decision wins.

use std::time::Duration;

use super::rows::{Columns, draft, draft_sql, json};
use super::state::case_may;
use super::types::WayOut;
use super::writer::Tx;
use super::{Result, Store, StoreError, journal};
use super::{leases, outbox};
use crate::model::case::CaseState;
use crate::model::draft::{Draft, DraftState, approval_hash};
use crate::model::effect::Effect;
use crate::model::ids::{ActionId, CaseId, DraftId};
use crate::model::limits;
use crate::model::time::Timestamp;

pub(super) const OPEN: &str = draft_sql!("WHERE d.state = 'open' ORDER BY d.id");
pub(super) const OPEN_NOW: &str = draft_sql!(
    "WHERE d.state = 'open' AND (d.deferred_until IS NULL OR d.deferred_until <= ?1) ORDER BY d.id"
);
pub(super) const BY_ID: &str = draft_sql!("WHERE d.id = ?1");
const COUNT_OPEN_NOW: &str =
    "SELECT count(*) FROM drafts WHERE state = 'open' AND (deferred_until IS NULL OR deferred_until <= ?1)";

pub(super) const ROUNDS: &str = "SELECT id, coalesce(deferred_until, 0) FROM drafts \
     WHERE state = 'open' AND (deferred_until IS NULL OR deferred_until <= ?1) ORDER BY case_id LIMIT ?2";

const EDIT: &str = "UPDATE drafts SET hash = ? WHERE id = ?; UPDATE draft_bodies SET body = ?, envelope = ? WHERE draft_id = ?";
const SET_WAYS: &str = "INSERT INTO ways_out (connector, destination, auto) \
     SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) WHERE true \
     ON CONFLICT (connector) DO UPDATE SET destination = excluded.destination, auto = excluded.auto";
const KNOWN_WAYS: &str = "SELECT count(*) FROM json_each(?1) j CROSS JOIN ways_out w \
     ON w.connector = j.value ->> 0 AND w.destination = j.value ->> 1 AND w.auto = j.value ->> 2";
const READDRESS: &str = "UPDATE drafts SET destination = ?2, auto = 0, hash = ?3 WHERE id = ?1";
const DECIDE: &str = "UPDATE drafts SET state = ?2, note = ?3, deferred_until = NULL, decided_at = ?4, by_person = ?5 \
     WHERE id = ?1";
const DEFER: &str = "UPDATE drafts SET deferred_until = ?2 WHERE id = ?1";
/// Stands in the record where no person decided.
const BY_RULE: &str = "rule outbound = \"auto\"";
const CASE_STATE: &str = "SELECT state, engine FROM cases WHERE id = ?1";

pub(super) const MOVE: &str = "UPDATE cases SET state = ?2, reason = ?3, until = NULL, lease_until = NULL, changed_at = ?4, \
     news = 0, attempts_extra = attempts_extra + ?5 WHERE id = ?1";

pub(super) const NOTES: &str = "SELECT note FROM drafts WHERE case_id = ?1 AND state = 'rejected' AND note <> '' \
     UNION ALL SELECT detail FROM journal WHERE case_id = ?1 AND event = 'answered'";

/// What was seen by whoever decides from afar.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The hash of that version.
    pub hash: &'a str,
    /// Who, for the record: a channel and its user.
    pub by: &'a str,
}

impl Seen<'_> {
    fn owned(seen: Option<Self>) -> (Option<String>, String) {
        let by = seen.map(|seen| format!(" by {}", seen.by)).unwrap_or_default();
        (seen.map(|seen| seen.hash.to_owned()), by)
    }
}

impl Store {
    /// Open drafts, oldest first; deferred ones only if `deferred`.
    pub async fn open_drafts(&self, deferred: bool) -> Result<Vec<Draft>> {
        let query = if deferred { sqlx::query(OPEN) } else { sqlx::query(OPEN_NOW).bind(self.now().0) };
        self.read_all("read the open drafts", query).await?.iter().map(draft).collect()
    }

    /// How many drafts wait for a person now.
    pub async fn open_draft_count(&self) -> Result<u64> {
        let query = sqlx::query(COUNT_OPEN_NOW).bind(self.now().0);
        let row = self.read_first("count the open drafts", query).await?;
        let count: i64 = row.map_or(Ok(0), |row| Columns::of(&row).take())?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// The drafts that wait for a person now, the oldest cases first, each with the moment from which it does if it was deferred;
    /// so many at most.
    pub async fn open_draft_rounds(&self) -> Result<Vec<(DraftId, Timestamp)>> {
        let limit = i64::try_from(limits::DRAFTS_TOLD_MAX).unwrap_or(i64::MAX);
        let query = sqlx::query(ROUNDS).bind(self.now().0).bind(limit);
        let rows = self.read_all("read which drafts wait", query).await?;
        let pair = |row| {
            let mut columns = Columns::of(row);
            Ok((DraftId(columns.take()?), columns.time()?))
        };
        rows.iter().map(pair).collect()
    }

    /// One draft.
    pub async fn draft(&self, id: DraftId) -> Result<Draft> {
        match self.read_first("read a draft", sqlx::query(BY_ID).bind(id.0)).await? {
            Some(row) => draft(&row),
            None => Err(not_found(id)),
        }
    }

    /// Another text and, if given, other effects; `hash` is of the version the person saw. Gives the new version.
    pub async fn edit_draft(
        &self,
        id: DraftId,
        hash: &str,
        body: String,
        effects: Option<Vec<Effect>>,
    ) -> Result<Draft> {
        const DOING: &str = "edit a draft";
        let hash = hash.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let seen = open_draft(tx, id).await?;
                same(&seen, &hash)?;
                let mut envelope = seen.envelope.clone();
                if let Some(effects) = effects.clone() {
                    envelope.effects = effects;
                }
                if body.trim().is_empty() && envelope.effects.is_empty() {
                    return Err(StoreError::refused("a draft cannot be empty"));
                }
                if body.len() > limits::DRAFT_BYTES_MAX {
                    return Err(StoreError::refused("the text is too long for a draft"));
                }
                let hash = approval_hash(&seen.connector, &seen.destination, &envelope, &body);
                let text = json(&envelope);
                let query =
                    sqlx::query(EDIT).bind(hash.clone()).bind(id.0).bind(body.clone()).bind(text).bind(id.0);
                tx.run(DOING, query).await?;
                tx.wake.review = true;
                journal::note(tx, seen.case, "edited", id.to_string()).await?;
                Ok(Draft { body, hash, envelope, ..seen })
            })
        })
        .await
    }

    /// Draft `approved`, action made with `not_before = now + hold`, case `approved`, in one transaction.
    /// Refused: "the draft changed", already decided, stale without `stale_ok`.
    pub async fn approve(
        &self,
        id: DraftId,
        hash: &str,
        hold: Duration,
        by: &str,
        stale_ok: bool,
    ) -> Result<ActionId> {
        self.approve_by(id, hash, hold, Some(by.to_owned()), stale_ok).await
    }

    /// The same by what a unit says, and nobody's decision.
    pub async fn approve_by_rule(&self, id: DraftId, hash: &str, hold: Duration) -> Result<ActionId> {
        self.approve_by(id, hash, hold, None, false).await
    }

    async fn approve_by(
        &self,
        id: DraftId,
        hash: &str,
        hold: Duration,
        by: Option<String>,
        stale_ok: bool,
    ) -> Result<ActionId> {
        let hash = hash.to_owned();
        self.write("approve a draft", move |tx| {
            Box::pin(async move {
                let seen = open_draft(tx, id).await?;
                same(&seen, &hash)?;
                if seen.stale && !stale_ok {
                    return Err(StoreError::refused(format!(
                        "something new came into case {} after draft {id} was made",
                        seen.case
                    )));
                }
                let (state, _) = case_state(tx, seen.case).await?;
                if !case_may(state, CaseState::Approved) {
                    return Err(StoreError::refused(format!(
                        "case {} is {} and draft {id} cannot be approved",
                        seen.case,
                        state.word()
                    )));
                }
                if state == CaseState::Running {
                    leases::interrupt(tx, seen.case, "an earlier draft was approved").await?;
                }
                decide(tx, id, DraftState::Approved, "", by.is_some()).await?;
                move_case(tx, seen.case, CaseState::Approved, None, 0).await?;
                let action = outbox::make(tx, &seen, tx.now.plus(hold)).await?;
                tx.wake.outbound = true;
                let by = by.as_deref().unwrap_or(BY_RULE);
                journal::note(tx, seen.case, "approved", format!("{id} by {by}, as {action}")).await?;
                Ok(action)
            })
        })
        .await
    }

    /// With `retry`: case back to `queued` with the note for the engine and one more attempt; else `dismissed`.
    ///
    /// A case that is on its way to another draft already stays on it.
    pub async fn reject(&self, id: DraftId, note: &str, retry: bool) -> Result<()> {
        self.reject_seen(id, None, note, retry).await
    }

    /// The same, only if it is still the version that was seen.
    pub async fn reject_seen(
        &self,
        id: DraftId,
        version: Option<Seen<'_>>,
        note: &str,
        retry: bool,
    ) -> Result<()> {
        let note = note.to_owned();
        let (hash, by) = Seen::owned(version);
        self.write("reject a draft", move |tx| {
            Box::pin(async move {
                let seen = open_draft(tx, id).await?;
                if let Some(hash) = &hash {
                    same(&seen, hash)?;
                }
                // Drawn up anew without a word says nothing about the text: something came, and that is all.
                let judged = !(retry && note.trim().is_empty());
                decide(tx, id, DraftState::Rejected, &note, judged).await?;
                let (state, engine) = case_state(tx, seen.case).await?;
                journal::note(tx, seen.case, "rejected", format!("{id}{by}: {note}")).await?;
                if state != CaseState::Review {
                    return Ok(());
                }
                if !retry {
                    return move_case(tx, seen.case, CaseState::Dismissed, Some("rejected".into()), 0).await;
                }
                let to = if engine.is_some() { CaseState::Queued } else { CaseState::New };
                tx.wake.worker |= to == CaseState::Queued;
                tx.wake.ingest |= to == CaseState::New;
                move_case(tx, seen.case, to, None, 1).await
            })
        })
        .await
    }

    /// Notes where connectors send from now on, and by which rule. Drafts that are there keep what they were made for.
    pub async fn set_ways_out(&self, ways: Vec<WayOut>) -> Result<()> {
        const DOING: &str = "note where connectors send";
        let rows: Vec<(&str, &str, i64)> =
            ways.iter().map(|way| (&*way.connector, &*way.destination, i64::from(way.auto))).collect();
        let rows = json(&rows);
        let known: i64 = match self.read_first(DOING, sqlx::query(KNOWN_WAYS).bind(rows.clone())).await? {
            Some(row) => Columns::of(&row).take()?,
            None => 0,
        };
        if usize::try_from(known) == Ok(ways.len()) {
            return Ok(());
        }
        self.write(DOING, move |tx| {
            Box::pin(async move { tx.run(DOING, sqlx::query(SET_WAYS).bind(rows.clone())).await.map(|_| ()) })
        })
        .await
    }

    /// Its connector sends to another place than the draft was made for: it is another version now, for a person.
    pub async fn readdress_draft(&self, id: DraftId, destination: &str) -> Result<()> {
        const DOING: &str = "readdress a draft";
        let destination = destination.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let seen = open_draft(tx, id).await?;
                if seen.destination == destination {
                    return Ok(());
                }
                let hash = approval_hash(&seen.connector, &destination, &seen.envelope, &seen.body);
                let query = sqlx::query(READDRESS).bind(id.0).bind(destination.clone()).bind(hash);
                tx.run(DOING, query).await?;
                tx.wake.review = true;
                let said = format!("{id} was for {}, and would go to {destination} now", seen.destination);
                journal::note(tx, seen.case, "readdressed", said).await
            })
        })
        .await
    }

    /// Out of the list until then.
    pub async fn defer(&self, id: DraftId, until: Timestamp) -> Result<()> {
        self.defer_seen(id, None, until).await
    }

    /// The same, only if it is still the version that was seen.
    pub async fn defer_seen(&self, id: DraftId, version: Option<Seen<'_>>, until: Timestamp) -> Result<()> {
        const DOING: &str = "defer a draft";
        let (hash, by) = Seen::owned(version);
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let seen = open_draft(tx, id).await?;
                if let Some(hash) = &hash {
                    same(&seen, hash)?;
                }
                tx.run(DOING, sqlx::query(DEFER).bind(id.0).bind(until.0)).await?;
                tx.wake.review = true;
                journal::note(tx, seen.case, "deferred", format!("{id}{by} until {until}")).await
            })
        })
        .await
    }

    /// What people said when rejecting drafts of this case, oldest first.
    pub async fn notes_on(&self, case: CaseId) -> Result<Vec<String>> {
        let rows = self.read_all("read the notes on a case", sqlx::query(NOTES).bind(case.0)).await?;
        rows.iter().map(|row| Columns::of(row).take()).collect()
    }
}

fn not_found(id: DraftId) -> StoreError {
    StoreError::NotFound { what: format!("draft {id}") }
}

/// The draft, if nobody has decided yet.
async fn open_draft(tx: &mut Tx, id: DraftId) -> Result<Draft> {
    let row = tx.first("read a draft", sqlx::query(BY_ID).bind(id.0)).await?;
    let seen = draft(&row.ok_or_else(|| not_found(id))?)?;
    match seen.state {
        DraftState::Open => Ok(seen),
        DraftState::Superseded => Err(StoreError::refused(format!("the draft changed: {id} was superseded"))),
        DraftState::Approved | DraftState::Rejected => {
            Err(StoreError::refused(format!("draft {id} is already {}", seen.state.word())))
        }
    }
}

/// The person saw this very version, and the stored parts are still those the hash was made of.
fn same(seen: &Draft, hash: &str) -> Result<()> {
    let now = approval_hash(&seen.connector, &seen.destination, &seen.envelope, &seen.body);
    if seen.hash == hash && now == hash {
        return Ok(());
    }
    Err(StoreError::refused(format!("the draft changed: look at {} again", seen.id)))
}

async fn decide(tx: &mut Tx, id: DraftId, state: DraftState, note: &str, by_person: bool) -> Result<()> {
    let query = sqlx::query(DECIDE).bind(id.0).bind(state.word()).bind(note.to_owned());
    let query = query.bind(tx.now.0).bind(by_person);
    tx.wake.review = true;
    tx.run("decide on a draft", query).await.map(|_| ())
}

/// State and engine of a case.
pub(super) async fn case_state(tx: &mut Tx, id: CaseId) -> Result<(CaseState, Option<String>)> {
    let row = tx.first("read a case", sqlx::query(CASE_STATE).bind(id.0)).await?;
    let row = row.ok_or_else(|| StoreError::NotFound { what: format!("case {id}") })?;
    let mut columns = Columns::of(&row);
    Ok((columns.case_state()?, columns.take()?))
}

/// Moves one case. The caller has made sure that it may, and writes the journal.
pub(super) async fn move_case(
    tx: &mut Tx,
    id: CaseId,
    to: CaseState,
    reason: Option<String>,
    attempts_extra: i64,
) -> Result<()> {
    let query = sqlx::query(MOVE).bind(id.0).bind(to.word()).bind(reason).bind(tx.now.0).bind(attempts_extra);
    tx.run("move a case", query).await.map(|_| ())
}
