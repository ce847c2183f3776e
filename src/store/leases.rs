//! Cases taken for a limited time, and what engines are not to be used.
//!
//! A lease carries a token; every write of a worker names it, and a worker whose lease was lost writes nothing.

use std::collections::HashMap;
use std::time::Duration;

use super::rows::{Columns, items, json, shared};
use super::writer::Tx;
use super::{Result, Store, StoreError, journal};
use crate::model::case::{Case, CaseState, Lease};
use crate::model::ids::{CaseId, RunId};
use crate::model::item::Item;
use crate::model::time::Timestamp;

/// Claim order is index order.
pub(super) const READY: &str = "SELECT json_group_array(json_array(id, token + 1, 'attempt ' || (attempts + 1))) \
     FROM (SELECT id, token, attempts FROM cases WHERE state = 'queued' AND engine = ?1 \
     ORDER BY priority DESC, id LIMIT ?2)";

/// Takes them, writes the journal, gives them back whole.
pub(super) const CLAIM: &str = "UPDATE cases SET state = 'running', attempts = attempts + 1, token = j.value ->> 1, \
     lease_until = ?, changed_at = ?, news = 0, until = NULL \
     FROM json_each(?) j WHERE cases.id = j.value ->> 0; \
     INSERT INTO journal (case_id, at, event, detail) \
     SELECT value ->> 0, ?, 'claimed', value ->> 2 FROM json_each(?); \
     SELECT json_group_array(json_object('id', c.id, 'connector', l.name, 'kind', h.kind, 'title', h.title, \
     'author', h.author, 'state', c.state, 'reason', c.reason, 'until', c.until, 'route', c.route, \
     'engine', c.engine, 'priority', c.priority, 'attempts', c.attempts, 'attempts_extra', c.attempts_extra, \
     'items', c.items, 'made_at', c.made_at, 'changed_at', c.changed_at, 'labels', json(h.labels))) FROM json_each(?) j \
     CROSS JOIN cases c ON c.id = j.value ->> 0 CROSS JOIN connectors l ON l.id = c.connector \
     CROSS JOIN case_heads h ON h.case_id = c.id";

pub(super) const RENEW: &str = "UPDATE cases SET lease_until = ?1 FROM json_each(?2) j \
     WHERE cases.id = j.value ->> 0 AND token = j.value ->> 1 AND state = 'running' RETURNING cases.id";

pub(super) const CASE_ITEMS: &str = "SELECT b.body FROM items i CROSS JOIN item_bodies b ON b.item_id = i.id \
     WHERE i.case_id = ?1 ORDER BY i.id DESC LIMIT ?2";

pub(super) const GIVE_BACK: &str = "UPDATE cases SET state = ?3, lease_until = NULL, changed_at = ?4, news = 0, \
     attempts = attempts - ?5 WHERE id = ?1 AND token = ?2 AND state = 'running'";

pub(super) const INTERRUPT: &str = "UPDATE runs SET outcome = 'interrupted', detail = ?3, ended_at = ?2 \
     WHERE case_id = ?1 AND ended_at IS NULL";

const SET_COOLDOWN: &str = "INSERT INTO cooldowns (engine, until, reason) VALUES (?1, ?2, ?3) \
     ON CONFLICT (engine) DO UPDATE SET until = excluded.until, reason = excluded.reason";

impl Store {
    /// Takes up to `limit` cases queued for `engine`, highest priority first, oldest first; counts the attempt.
    pub async fn claim(&self, engine: &str, limit: usize, lease: Duration) -> Result<Vec<Lease>> {
        let engine = engine.to_owned();
        self.write("claim cases", move |tx| Box::pin(claim(tx, engine, limit, lease))).await
    }

    /// Extends leases; returns the cases whose lease was lost.
    pub async fn renew(&self, leases: Vec<(CaseId, i64)>, lease: Duration) -> Result<Vec<CaseId>> {
        const DOING: &str = "extend leases";
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        self.write_single(DOING, move |tx| {
            Box::pin(async move {
                let until = tx.now.plus(lease);
                let rows = tx.all(DOING, sqlx::query(RENEW).bind(until.0).bind(json(&leases))).await?;
                let held = rows.iter().map(|row| Columns::of(row).take()).collect::<Result<Vec<i64>>>()?;
                Ok(leases.into_iter().map(|(id, _)| id).filter(|id| !held.contains(&id.0)).collect())
            })
        })
        .await
    }

    /// The newest items of a case, oldest first.
    pub async fn case_items(&self, case: CaseId, limit: usize) -> Result<Vec<Item>> {
        let query = sqlx::query(CASE_ITEMS).bind(case.0).bind(i64::try_from(limit).unwrap_or(i64::MAX));
        let mut newest_first = items(&self.read_all("read the items of a case", query).await?)?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// Gives a claimed case back to the queue; its run, if any, is `interrupted`.
    ///
    /// Without a run nothing was tried, so the attempt is not counted. Wakes nobody: the giver knows why, and would
    /// otherwise chase its own tail.
    pub async fn give_back(&self, case: CaseId, token: i64, run: Option<RunId>, why: &str) -> Result<()> {
        const DOING: &str = "give a case back";
        let why = why.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let row = tx.first(DOING, sqlx::query(NEWS_OF).bind(case.0).bind(token)).await?;
                let Some(row) = row else { return Err(StoreError::LeaseLost(case)) };
                let news: i64 = Columns::of(&row).take()?;
                // Something came meanwhile: it may belong to another route.
                let to = if news > 1 { CaseState::New } else { CaseState::Queued };
                let query = sqlx::query(GIVE_BACK)
                    .bind(case.0)
                    .bind(token)
                    .bind(to.word())
                    .bind(tx.now.0)
                    .bind(i64::from(run.is_none()));
                tx.run(DOING, query).await?;
                if run.is_some() {
                    interrupt(tx, case, &why).await?;
                }
                tx.wake.ingest |= to == CaseState::New;
                journal::note(tx, case, "given back", why).await
            })
        })
        .await
    }

    /// An engine is not to be used before this moment. Survives restarts.
    pub async fn set_cooldown(&self, engine: &str, until: Timestamp, reason: &str) -> Result<()> {
        let query = sqlx::query(SET_COOLDOWN).bind(engine.to_owned()).bind(until.0).bind(reason.to_owned());
        const DOING: &str = "rest an engine";
        self.write_single(DOING, move |tx| Box::pin(async move { tx.run(DOING, query).await.map(|_| ()) }))
            .await
    }
}

/// Ends the run of a case that was taken from its worker.
pub(super) async fn interrupt(tx: &mut Tx, case: CaseId, why: &str) -> Result<()> {
    let query = sqlx::query(INTERRUPT).bind(case.0).bind(tx.now.0).bind(why.to_owned());
    tx.run("interrupt a run", query).await.map(|_| ())
}

const NEWS_OF: &str = "SELECT news FROM cases WHERE id = ?1 AND token = ?2 AND state = 'running'";

async fn claim(tx: &mut Tx, engine: String, limit: usize, lease: Duration) -> Result<Vec<Lease>> {
    const DOING: &str = "claim cases";
    let until = tx.now.plus(lease);
    let query = sqlx::query(READY).bind(engine).bind(i64::try_from(limit).unwrap_or(i64::MAX));
    let ready: Vec<(i64, i64, String)> = tx.list(DOING, query).await?;
    if ready.is_empty() {
        return Ok(Vec::new());
    }
    let list = shared(&ready);
    let query = sqlx::query(CLAIM)
        .bind(until.0)
        .bind(tx.now.0)
        .bind(list.clone())
        .bind(tx.now.0)
        .bind(list.clone())
        .bind(list);
    let cases: Vec<Case> = tx.list(DOING, query).await?;
    // Claim order, whatever order the join took.
    let mut cases: HashMap<i64, Case> = cases.into_iter().map(|case| (case.id.0, case)).collect();
    let lease = |(id, token, _): (i64, i64, String)| Some(Lease { case: cases.remove(&id)?, token, until });
    Ok(ready.into_iter().filter_map(lease).collect())
}
