//! What dead workers and dead predecessors held.

use super::rows::{Columns, json, shared};
use super::types::Recovery;
use super::writer::Tx;
use super::{Result, Store, journal};
use crate::model::case::CaseState;
use crate::model::limits;
use crate::model::retry::Backoff;
use crate::model::time::Timestamp;

/// Expired leases, oldest first; `?1` lies beyond every lease when the predecessor is dead.
pub(super) const EXPIRED: &str = "SELECT id, attempts, attempts >= ?3 + attempts_extra, news FROM cases \
     WHERE state = 'running' AND lease_until < ?1 ORDER BY lease_until LIMIT ?2";

pub(super) const RETURN: &str = "UPDATE cases SET state = j.value ->> 1, reason = j.value ->> 2, until = j.value ->> 3, \
     waits = CASE j.value ->> 1 WHEN 'parked' THEN 'failed' END, \
     lease_until = NULL, news = 0, changed_at = ? FROM json_each(?) j WHERE cases.id = j.value ->> 0; \
     UPDATE runs SET outcome = 'interrupted', detail = ?, ended_at = ? WHERE ended_at IS NULL \
     AND case_id IN (SELECT value ->> 0 FROM json_each(?))";

pub(super) const UNCERTAIN: &str = "UPDATE actions SET state = 'uncertain', not_before = ?1 \
     WHERE id IN (SELECT id FROM actions WHERE state = 'sending' ORDER BY not_before, id LIMIT ?2) RETURNING id, case_id";

const REROUTE: &str = "UPDATE cases SET state = 'new', reason = NULL, changed_at = ?1 \
     WHERE id IN (SELECT id FROM cases WHERE state = 'queued' AND engine NOT IN (SELECT value FROM json_each(?2)) \
     ORDER BY id LIMIT ?3) RETURNING id";

const USED_UP: &str = "its tries are used up; the last one was interrupted";

/// A case that was under way each time may be what ends the program, or may only stand in front of the queue. It steps
/// aside for a growing while, so that neither it nor its neighbours wait for a person; after this many times its usual
/// tries a person has to look.
const PATIENCE: u32 = 2;

impl Store {
    /// Returns what a dead predecessor held. The caller holds the instance lock, so every lease is dead.
    pub async fn recover(&self, attempts_max: u32) -> Result<Recovery> {
        const WHY: &str = "the program ended";
        let mut recovery = Recovery::default();
        let beyond = Timestamp(i64::MAX);
        loop {
            let (requeued, parked) = self
                .write("return interrupted cases", move |tx| Box::pin(sweep(tx, beyond, attempts_max, WHY)))
                .await?;
            recovery.requeued += requeued;
            recovery.parked += parked;
            if requeued + parked < limits::SWEEP_ROWS_MAX as u64 {
                break;
            }
        }
        loop {
            let uncertain = self.write("find interrupted sends", |tx| Box::pin(doubt(tx))).await?;
            recovery.uncertain += uncertain;
            if uncertain < limits::SWEEP_ROWS_MAX as u64 {
                self.recover_replays().await?;
                return Ok(recovery);
            }
        }
    }

    /// Sends cases that are queued for an engine other than these back to be routed: their engine is gone or off.
    pub async fn reroute_queued(&self, engines: &[String]) -> Result<u64> {
        let mut rerouted = 0;
        loop {
            let engines = json(&engines);
            let moved =
                self.write("route queued cases anew", move |tx| Box::pin(reroute(tx, engines))).await?;
            rerouted += moved;
            if moved < limits::SWEEP_ROWS_MAX as u64 {
                return Ok(rerouted);
            }
        }
    }

    /// Returns cases whose lease ran out to the queue, or parks them when their attempts are used up: at first for a
    /// while, in the end for a person.
    pub async fn reap(&self, attempts_max: u32) -> Result<u64> {
        const WHY: &str = "the lease ran out";
        let mut reaped = 0;
        loop {
            let (requeued, parked) = self
                .write("return cases with dead leases", move |tx| {
                    let now = tx.now;
                    Box::pin(sweep(tx, now, attempts_max, WHY))
                })
                .await?;
            reaped += requeued + parked;
            if requeued + parked < limits::SWEEP_ROWS_MAX as u64 {
                return Ok(reaped);
            }
        }
    }
}

async fn sweep(
    tx: &mut Tx,
    expired_before: Timestamp,
    attempts_max: u32,
    why: &'static str,
) -> Result<(u64, u64)> {
    const DOING: &str = "return cases to the queue";
    let limit = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
    let query = sqlx::query(EXPIRED).bind(expired_before.0).bind(limit).bind(i64::from(attempts_max));
    let rows = tx.all(DOING, query).await?;
    if rows.is_empty() {
        return Ok((0, 0));
    }
    let (mut moves, mut lines) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    let (mut requeued, mut parked) = (0, 0);
    for row in &rows {
        let mut columns = Columns::of(row);
        let (id, attempts, used_up, news): (i64, u32, bool, i64) =
            (columns.take()?, columns.take()?, columns.take()?, columns.take()?);
        let (to, reason) = match (used_up, news > 1) {
            (_, true) => (CaseState::New, None),
            (false, false) => (CaseState::Queued, None),
            (true, false) => (CaseState::Parked, Some(USED_UP)),
        };
        if to == CaseState::Parked {
            parked += 1;
        } else {
            requeued += 1;
        }
        tx.wake.worker |= to == CaseState::Queued;
        tx.wake.ingest |= to == CaseState::New;
        tx.wake.pending |= to == CaseState::Parked;
        let seed = u64::try_from(id).unwrap_or(0);
        let wait = Backoff::CASE.wait(attempts.saturating_sub(attempts_max).saturating_add(1), seed);
        let wakes = to == CaseState::Parked && attempts < attempts_max.saturating_mul(PATIENCE);
        moves.push((id, to.word(), reason, wakes.then(|| tx.now.plus(wait))));
        lines.push((id, "interrupted", format!("{why}; now {}", to.word())));
    }
    let moves = shared(&moves);
    let query = sqlx::query(RETURN).bind(tx.now.0).bind(moves.clone()).bind(why).bind(tx.now.0).bind(moves);
    tx.run(DOING, query).await?;
    journal::notes(tx, &lines).await?;
    Ok((requeued, parked))
}

/// Sends that nobody saw the end of are to be asked about at once.
async fn doubt(tx: &mut Tx) -> Result<u64> {
    const DOING: &str = "find interrupted sends";
    let limit = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
    let rows = tx.all(DOING, sqlx::query(UNCERTAIN).bind(tx.now.0).bind(limit)).await?;
    let mut lines = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut columns = Columns::of(row);
        let action = crate::model::ids::ActionId(columns.take()?);
        lines.push((columns.take()?, "uncertain", format!("{action}: the program ended while it was sent")));
    }
    tx.wake.outbound |= !rows.is_empty();
    journal::notes(tx, &lines).await?;
    Ok(rows.len() as u64)
}

async fn reroute(tx: &mut Tx, engines: String) -> Result<u64> {
    const DOING: &str = "route queued cases anew";
    let limit = i64::try_from(limits::SWEEP_ROWS_MAX).unwrap_or(i64::MAX);
    let moved = tx.all(DOING, sqlx::query(REROUTE).bind(tx.now.0).bind(engines).bind(limit)).await?;
    let mut lines = Vec::with_capacity(moved.len());
    for row in &moved {
        lines.push((Columns::of(row).take()?, "rerouted", "its engine is gone or off".to_owned()));
    }
    tx.wake.ingest |= !moved.is_empty();
    journal::notes(tx, &lines).await?;
    Ok(moved.len() as u64)
}
