//! Outbound actions: approved effects on their way out, journaled before the wire is touched.

use std::collections::BTreeMap;

use super::drafts::{case_state, move_case};
use super::rows::{Columns, action, action_sql, json};
use super::state::{action_may, case_may, rest};
use super::writer::Tx;
use super::{Result, Store, StoreError, journal};
use crate::model::case::CaseState;
use crate::model::draft::{Draft, approval_hash};
use crate::model::ids::{ActionId, CaseId};
use crate::model::outbound::{ActionState, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;

const BY_ID: &str = action_sql!("WHERE a.id = ?1");
pub(super) const DUE: &str = action_sql!(
    "WHERE a.state = ?1 AND a.not_before <= ?2 AND a.connector NOT IN (SELECT value FROM json_each(?4)) ORDER BY a.not_before, a.id LIMIT ?3"
);
const NEWEST: &str = action_sql!("ORDER BY a.id DESC LIMIT ?1");
const NEWEST_IN: &str = action_sql!("WHERE a.state = ?2 ORDER BY a.id DESC LIMIT ?1");

/// The key is fixed here, once for all tries; its number is the action's, its rest cannot be guessed.
const ADD: &str = "INSERT INTO actions (id, case_id, draft_id, connector, state, not_before, approved_at, key, hash, \
     destination) \
     SELECT n.id, ?1, ?2, ?3, 'approved', ?4, ?5, 'wa-' || n.id || '-' || lower(hex(randomblob(8))), ?6, ?7 \
     FROM (SELECT coalesce(max(id), 0) + 1 AS id FROM actions) n RETURNING id, key";

const ADD_BODY: &str = "INSERT INTO action_bodies (action_id, envelope, body) VALUES (?1, ?2, ?3)";

const MARK: &str = "INSERT OR IGNORE INTO own_marks (connector, mark, action_id) VALUES (?1, ?2, ?3)";

/// An answer to what we sent names it: such an answer finds the case.
const THREAD: &str = "INSERT OR IGNORE INTO case_threads (connector, thread, case_id) \
     SELECT c.connector, ?3, c.id FROM cases c CROSS JOIN connectors l ON l.id = c.connector \
     WHERE c.id = ?1 AND l.name = ?2";

const SENDING: &str = "UPDATE actions SET state = 'sending', attempts = attempts + 1, \
     sending_at = coalesce(sending_at, ?2) WHERE id = ?1";

const PAYLOAD: &str =
    "UPDATE action_bodies SET marker = ?2, payload = ?3 WHERE action_id = ?1 AND payload IS NULL";

/// One that is `approved` again surely was not sent: no byte left.
const MOVE: &str = "UPDATE actions SET state = ?, not_before = coalesce(?, not_before), \
     sending_at = CASE WHEN ? THEN NULL ELSE sending_at END WHERE id = ?; \
     UPDATE action_bodies SET last_error = coalesce(?, last_error) WHERE action_id = ?";

const RECEIPT: &str = "UPDATE action_bodies SET remote_id = ?2, evidence = ?3 WHERE action_id = ?1";

/// What was built for the old place does not serve at the new one.
const READDRESS: &str = "UPDATE actions SET destination = ?, hash = ? WHERE id = ?; \
     UPDATE action_bodies SET marker = NULL, payload = NULL WHERE action_id = ?";

const FORGET_RESTORED: &str = "DELETE FROM restored_actions WHERE action_id = ?1";

/// The journal's word for a send whose login was refused.
const REFUSED: &str = "refused";

/// Tried, and refused since the last try began.
pub(super) const REFUSED_SENDS: &str = "SELECT a.connector, coalesce(b.last_error, '') FROM actions a \
     CROSS JOIN action_bodies b ON b.action_id = a.id WHERE a.state = 'approved' AND a.attempts > 0 AND EXISTS ( \
     SELECT 1 FROM journal r WHERE r.case_id = a.case_id AND r.event = 'refused' AND r.id > ( \
     SELECT max(s.id) FROM journal s WHERE s.case_id = a.case_id AND s.event = 'sending'))";

pub(super) const HASTEN: &str = "UPDATE actions SET not_before = ?2 \
     WHERE state = 'approved' AND connector = ?1 AND attempts > 0 AND not_before > ?2";

const CASE_NEWS: &str = "SELECT news FROM cases WHERE id = ?1";

impl Store {
    /// Actions in this state whose time has come, oldest first, without those of some connectors.
    pub async fn due_actions(
        &self,
        state: ActionState,
        limit: usize,
        but_of: &[&str],
    ) -> Result<Vec<OutboundAction>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = sqlx::query(DUE).bind(state.word()).bind(self.now().0).bind(limit).bind(json(&but_of));
        self.read_all("read due actions", query).await?.iter().map(action).collect()
    }

    /// `approved → sending`, with the payload if there is none yet; gives the action as it is to be sent, or `None`
    /// when it is not `approved` any more (cancelled meanwhile).
    pub async fn mark_sending(&self, id: ActionId, payload: Payload) -> Result<Option<OutboundAction>> {
        const DOING: &str = "journal a send";
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let mut seen = one(tx, id).await?;
                if seen.state != ActionState::Approved {
                    return Ok(None);
                }
                if seen.payload.is_none() {
                    let query = sqlx::query(PAYLOAD)
                        .bind(id.0)
                        .bind(payload.marker.clone())
                        .bind(payload.bytes.clone());
                    tx.run(DOING, query).await?;
                    mark(tx, &seen, &payload.marker).await?;
                    seen.payload = Some(payload);
                }
                tx.run(DOING, sqlx::query(SENDING).bind(id.0).bind(tx.now.0)).await?;
                seen.state = ActionState::Sending;
                seen.attempts += 1;
                seen.sending_at.get_or_insert(tx.now);
                journal::note(tx, seen.case, "sending", format!("{id}, try {}", seen.attempts)).await?;
                Ok(Some(seen))
            })
        })
        .await
    }

    /// `→ sent`, case `sent`.
    pub async fn mark_sent(&self, id: ActionId, receipt: Receipt) -> Result<()> {
        self.write("store a receipt", move |tx| Box::pin(sent(tx, id, receipt))).await
    }

    /// `→ approved`, not before `at`: surely not sent.
    pub async fn mark_not_sent(&self, id: ActionId, at: Timestamp, why: &str) -> Result<()> {
        self.mark_as(id, ActionState::Approved, Some(at), why).await
    }

    /// `→ approved`, not before `at`: the login was refused, and it waits for another.
    pub async fn mark_refused(&self, id: ActionId, at: Timestamp, why: &str) -> Result<()> {
        self.mark_with(id, ActionState::Approved, Some(at), REFUSED, why).await
    }

    /// Connectors with sends that wait for another login, and what was said last.
    pub async fn refused_sends(&self) -> Result<BTreeMap<String, String>> {
        let rows = self.read_all("read refused sends", sqlx::query(REFUSED_SENDS)).await?;
        let pair = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.take()?, columns.take()?))
        };
        rows.iter().map(pair).collect()
    }

    /// What was tried through this connector and waits for another try is due now.
    pub async fn hasten_sends(&self, connector: &str) -> Result<u64> {
        let connector = connector.to_owned();
        self.write("hasten sends", move |tx| {
            Box::pin(async move {
                let query = sqlx::query(HASTEN).bind(connector.clone()).bind(tx.now.0);
                let done = tx.run("hasten sends", query).await?;
                tx.wake.outbound |= done > 0;
                Ok(done)
            })
        })
        .await
    }

    /// `→ uncertain`, to be asked about at `at`.
    pub async fn mark_uncertain(&self, id: ActionId, at: Timestamp, why: &str) -> Result<()> {
        self.mark_as(id, ActionState::Uncertain, Some(at), why).await
    }

    /// `→ held` for the user.
    pub async fn mark_held(&self, id: ActionId, why: &str) -> Result<()> {
        self.mark_as(id, ActionState::Held, None, why).await
    }

    /// `→ dead`, case `dead`.
    pub async fn mark_dead(&self, id: ActionId, why: &str) -> Result<()> {
        self.mark_as(id, ActionState::Dead, None, why).await
    }

    /// A person takes it back: from `approved` or `held` only; the case is dismissed.
    pub async fn cancel_action(&self, id: ActionId) -> Result<()> {
        self.mark_as(id, ActionState::Cancelled, None, "").await
    }

    /// A person says of a held one: send it (again), or it was sent. `destination`: where its connector sends now, if it
    /// is on.
    pub async fn release_action(
        &self,
        id: ActionId,
        was_sent: bool,
        destination: Option<&str>,
    ) -> Result<()> {
        let destination = destination.map(str::to_owned);
        self.write("release an action", move |tx| {
            Box::pin(async move {
                let seen = one(tx, id).await?;
                if seen.state != ActionState::Held {
                    return Err(refused(&seen, "released"));
                }
                journal::note(tx, seen.case, "released", format!("{id}, was sent: {was_sent}")).await?;
                if was_sent {
                    let remote_id = seen.payload.map(|payload| payload.marker).unwrap_or_default();
                    return sent(tx, id, Receipt { remote_id, evidence: "the user says so".to_owned() })
                        .await;
                }
                if let Some(destination) = destination.filter(|now| *now != seen.destination) {
                    readdress(tx, &seen, destination).await?;
                }
                tx.wake.outbound = true;
                let now = tx.now;
                // A person has looked: from here on it is a send like any other.
                tx.run("release an action", sqlx::query(FORGET_RESTORED).bind(id.0)).await?;
                set(tx, id, ActionState::Approved, Some(now), None).await
            })
        })
        .await
    }

    /// All actions, newest first, optionally in one state.
    pub async fn actions(&self, state: Option<ActionState>, limit: usize) -> Result<Vec<OutboundAction>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = match state {
            None => sqlx::query(NEWEST).bind(limit),
            Some(state) => sqlx::query(NEWEST_IN).bind(limit).bind(state.word()),
        };
        self.read_all("read actions", query).await?.iter().map(action).collect()
    }

    /// One action.
    pub async fn action(&self, id: ActionId) -> Result<OutboundAction> {
        match self.read_first("read an action", sqlx::query(BY_ID).bind(id.0)).await? {
            Some(row) => action(&row),
            None => Err(StoreError::NotFound { what: format!("action {id}") }),
        }
    }

    /// A person has seen that it was given up: it is no news any more, and its case is dismissed.
    pub async fn dismiss_action(&self, id: ActionId) -> Result<()> {
        let seen = self.action(id).await?;
        if seen.state != ActionState::Dead {
            return Err(refused(&seen, "dismissed"));
        }
        self.mark_as(id, ActionState::Cancelled, None, "").await
    }

    async fn mark_as(&self, id: ActionId, to: ActionState, at: Option<Timestamp>, why: &str) -> Result<()> {
        self.mark_with(id, to, at, to.word(), why).await
    }

    async fn mark_with(
        &self,
        id: ActionId,
        to: ActionState,
        at: Option<Timestamp>,
        event: &'static str,
        why: &str,
    ) -> Result<()> {
        let why = why.to_owned();
        self.write("move an action", move |tx| {
            Box::pin(async move {
                let seen = one(tx, id).await?;
                // Only the wire's side may bring one back to `approved`; a person releases a held one.
                let released = seen.state == ActionState::Held && to == ActionState::Approved;
                if released || !action_may(seen.state, to) {
                    return Err(refused(&seen, to.word()));
                }
                let error = (!why.is_empty()).then(|| why.clone());
                set(tx, id, to, at, error).await?;
                journal::note(tx, seen.case, event, line(id, &why)).await?;
                tx.wake.outbound |= at.is_some();
                tx.wake.notices |= matches!(to, ActionState::Held | ActionState::Dead);
                match to {
                    ActionState::Dead => leave(tx, seen.case, CaseState::Dead, Some(why)).await,
                    ActionState::Cancelled => {
                        leave(tx, seen.case, CaseState::Dismissed, Some("cancelled".to_owned())).await
                    }
                    _ => Ok(()),
                }
            })
        })
        .await
    }
}

fn line(id: ActionId, why: &str) -> String {
    if why.is_empty() { id.to_string() } else { format!("{id}: {why}") }
}

fn refused(seen: &OutboundAction, wanted: &str) -> StoreError {
    StoreError::refused(format!("action {} is {} and cannot be {wanted}", seen.id, seen.state.word()))
}

async fn one(tx: &mut Tx, id: ActionId) -> Result<OutboundAction> {
    let row = tx.first("read an action", sqlx::query(BY_ID).bind(id.0)).await?;
    action(&row.ok_or_else(|| StoreError::NotFound { what: format!("action {id}") })?)
}

async fn set(
    tx: &mut Tx,
    id: ActionId,
    to: ActionState,
    at: Option<Timestamp>,
    error: Option<String>,
) -> Result<()> {
    let query = sqlx::query(MOVE)
        .bind(to.word())
        .bind(at.map(|at| at.0))
        .bind(to == ActionState::Approved)
        .bind(id.0)
        .bind(error)
        .bind(id.0);
    tx.run("move an action", query).await.map(|_| ())
}

async fn readdress(tx: &mut Tx, seen: &OutboundAction, destination: String) -> Result<()> {
    let said = format!("{} was for {}, and goes to {destination} now", seen.id, seen.destination);
    let hash = approval_hash(&seen.connector, &destination, &seen.envelope, &seen.body);
    let query = sqlx::query(READDRESS).bind(destination).bind(hash).bind(seen.id.0).bind(seen.id.0);
    tx.run("readdress an action", query).await?;
    journal::note(tx, seen.case, "readdressed", said).await
}

/// The action of an approved draft.
pub(super) async fn make(tx: &mut Tx, draft: &Draft, not_before: Timestamp) -> Result<ActionId> {
    const DOING: &str = "make an action";
    let query = sqlx::query(ADD)
        .bind(draft.case.0)
        .bind(draft.id.0)
        .bind(draft.connector.clone())
        .bind(not_before.0)
        .bind(tx.now.0)
        .bind(draft.hash.clone())
        .bind(draft.destination.clone());
    let row = tx.first(DOING, query).await?;
    let row = row.ok_or_else(|| StoreError::unreadable(DOING, "no answer"))?;
    let mut columns = Columns::of(&row);
    let id = ActionId(columns.take()?);
    let key: String = columns.take()?;
    let query = sqlx::query(ADD_BODY).bind(id.0).bind(json(&draft.envelope)).bind(draft.body.clone());
    tx.run(DOING, query).await?;
    let query = sqlx::query(MARK).bind(draft.connector.clone()).bind(key).bind(id.0);
    tx.run(DOING, query).await?;
    Ok(id)
}

/// A name under which the action may be read back, or be answered.
async fn mark(tx: &mut Tx, action: &OutboundAction, name: &str) -> Result<()> {
    const DOING: &str = "remember our own mark";
    if name.is_empty() {
        return Ok(());
    }
    let query = sqlx::query(MARK).bind(action.connector.clone()).bind(name.to_owned()).bind(action.id.0);
    tx.run(DOING, query).await?;
    let query = sqlx::query(THREAD).bind(action.case.0).bind(action.connector.clone()).bind(name.to_owned());
    tx.run(DOING, query).await.map(|_| ())
}

async fn sent(tx: &mut Tx, id: ActionId, receipt: Receipt) -> Result<()> {
    const DOING: &str = "store a receipt";
    let seen = one(tx, id).await?;
    if !action_may(seen.state, ActionState::Sent) {
        return Err(refused(&seen, "sent"));
    }
    set(tx, id, ActionState::Sent, None, None).await?;
    let query =
        sqlx::query(RECEIPT).bind(id.0).bind(receipt.remote_id.clone()).bind(receipt.evidence.clone());
    tx.run(DOING, query).await?;
    mark(tx, &seen, &receipt.remote_id).await?;
    journal::note(tx, seen.case, "sent", format!("{id}: {}", receipt.evidence)).await?;
    // Whoever waits for an answer to it begins to.
    tx.wake.pending = true;
    leave(tx, seen.case, CaseState::Sent, None).await
}

/// The case of an action that came to its end.
async fn leave(tx: &mut Tx, case: CaseId, wanted: CaseState, reason: Option<String>) -> Result<()> {
    let (state, _) = case_state(tx, case).await?;
    let row = tx.first("read a case", sqlx::query(CASE_NEWS).bind(case.0)).await?;
    let news: i64 = row.map_or(Ok(0), |row| Columns::of(&row).take())?;
    let to = rest(wanted, news > 1);
    if !case_may(state, to) {
        return Ok(());
    }
    if to == CaseState::New {
        tx.wake.ingest = true;
        journal::note(tx, case, "new", "something came while the answer was on its way").await?;
        return move_case(tx, case, to, None, 0).await;
    }
    move_case(tx, case, to, reason, 0).await
}
