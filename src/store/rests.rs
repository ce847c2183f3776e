//! What keeps engines from being given cases: their own waits, limits of accounts, circuit breakers. All of it survives
//! restarts: a limit of five hours must not end because the machine was rebooted.

use std::collections::BTreeMap;

use super::rows::{Columns, json};
use super::writer::Tx;
use super::{Result, Store, journal};
use crate::model::breaker::{Breaker, Gate};
use crate::model::ids::CaseId;
use crate::model::run::RunFailure;
use crate::model::time::Timestamp;

const ALL: &str = "SELECT 0, engine, until, reason FROM cooldowns WHERE until > ?1 \
     UNION ALL SELECT 1, account, until, reason FROM account_rests WHERE until > ?1 \
     UNION ALL SELECT 2, engine, 0, state FROM breakers";

const REST_ACCOUNT: &str = "INSERT INTO account_rests (account, until, reason) VALUES (?1, ?2, ?3) \
     ON CONFLICT (account) DO UPDATE SET until = excluded.until, reason = excluded.reason";

const BREAKER: &str = "SELECT state FROM breakers WHERE engine = ?1";

const KEEP_BREAKER: &str = "INSERT INTO breakers (engine, state) VALUES (?1, ?2) \
     ON CONFLICT (engine) DO UPDATE SET state = excluded.state";

const FORGET_BREAKER: &str = "DELETE FROM breakers WHERE engine = ?1";

/// Those that were left to the user because of what turned out to be the engine's fault.
const TRY_AGAIN: &str = "UPDATE cases SET until = ?2 WHERE id IN (SELECT value FROM json_each(?3)) \
     AND state = 'parked' AND until IS NULL AND engine = ?1 RETURNING id";

const END: &str = "DELETE FROM cooldowns WHERE engine IN (SELECT value FROM json_each(?)); \
     DELETE FROM breakers WHERE engine IN (SELECT value FROM json_each(?)); \
     DELETE FROM account_rests WHERE account = ?";

const END_MENDABLE: &str = "\
     DELETE FROM cooldowns WHERE engine = ? AND substr(reason, 1, instr(reason, ':') - 1) IN (SELECT value FROM json_each(?)); \
     DELETE FROM account_rests WHERE account = ? AND substr(reason, 1, instr(reason, ':') - 1) IN (SELECT value FROM json_each(?))";

/// A case that waits for a moment keeps the engine that it waits for.
pub(super) const WAKE_OF: &str = "UPDATE cases SET until = ?1 WHERE state = 'parked' AND until > ?1 \
     AND engine IN (SELECT value FROM json_each(?2)) RETURNING id";

pub(super) const WAITING_FOR: &str = "SELECT id, route FROM cases WHERE state = 'queued' AND engine = ?1 \
     ORDER BY priority DESC, id LIMIT ?2";

pub(super) const PASS_ON: &str = "UPDATE cases SET engine = j.value ->> 1, reason = j.value ->> 2, changed_at = ?1 \
     FROM json_each(?2) j WHERE cases.id = j.value ->> 0 AND state = 'queued' AND engine = ?3 RETURNING cases.id";

/// Nothing is given to an engine before this time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The time.
    pub until: Timestamp,
    /// "usage-limit: resets at 15:00": a failure's word and what it said.
    pub reason: String,
    /// It is the account's, and so that of all its engines.
    pub shared: bool,
}

impl Rest {
    /// The word of the failure that it comes from; empty where it comes from none.
    #[must_use]
    pub fn word(&self) -> &str {
        self.reason.split_once(": ").map_or("", |(word, _)| word)
    }
}

/// Everything that keeps engines from being given cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rests {
    engines: BTreeMap<String, Rest>,
    accounts: BTreeMap<String, Rest>,
    breakers: BTreeMap<String, Breaker>,
    now: Timestamp,
}

impl Rests {
    /// What an engine of this account waits for, the longest wait first; `None`: nothing.
    #[must_use]
    pub fn of(&self, engine: &str, account: &str) -> Option<Rest> {
        let breaker = self.breakers.get(engine).and_then(|breaker| match breaker.gate(self.now) {
            Gate::Shut(until) => Some(Rest { until, reason: breaker.reason().to_owned(), shared: false }),
            Gate::Open | Gate::Probe => None,
        });
        let all = [self.engines.get(engine).cloned(), self.accounts.get(account).cloned(), breaker];
        all.into_iter().flatten().max_by_key(|rest| rest.until)
    }

    /// It failed several times, its wait is over, and the next case shows whether it is well again.
    #[must_use]
    pub fn is_probed(&self, engine: &str) -> bool {
        self.breakers.get(engine).is_some_and(|breaker| breaker.gate(self.now) == Gate::Probe)
    }

    /// Something is held against it.
    #[must_use]
    pub fn is_doubted(&self, engine: &str) -> bool {
        self.breakers.contains_key(engine)
    }
}

impl Store {
    /// What keeps engines from being given cases, now.
    pub async fn rests(&self) -> Result<Rests> {
        let now = self.now();
        let rows = self.read_all("read resting engines", sqlx::query(ALL).bind(now.0)).await?;
        let mut rests = Rests { now, ..Rests::default() };
        for row in &rows {
            let mut columns = Columns::of(row);
            let (what, name): (i64, String) = (columns.take()?, columns.take()?);
            let until = columns.time()?;
            if what == 2 {
                rests.breakers.insert(name, columns.json()?);
                continue;
            }
            let rest = Rest { until, reason: columns.take()?, shared: what == 1 };
            if what == 1 {
                rests.accounts.insert(name, rest)
            } else {
                rests.engines.insert(name, rest)
            };
        }
        Ok(rests)
    }

    /// No engine of this account is to be used before this moment. Survives restarts.
    pub async fn rest_account(&self, account: &str, until: Timestamp, reason: &str) -> Result<()> {
        const DOING: &str = "rest an account";
        let query = sqlx::query(REST_ACCOUNT).bind(account.to_owned()).bind(until.0).bind(reason.to_owned());
        self.write_single(DOING, move |tx| Box::pin(async move { tx.run(DOING, query).await.map(|_| ()) }))
            .await
    }

    /// Counts a failure of an engine with a case. Gives the end of the wait when the engine is taken for ill. Cases that
    /// were given up for this engine within the last minutes are tried again then: it was not their fault.
    pub async fn engine_failed(
        &self,
        engine: &str,
        case: CaseId,
        failure: &RunFailure,
        reason: &str,
    ) -> Result<Option<Timestamp>> {
        let (engine, failure, reason) = (engine.to_owned(), failure.clone(), reason.to_owned());
        self.write("count a failure", move |tx| Box::pin(failed(tx, engine, case, failure, reason))).await
    }

    /// An engine works: nothing is held against it any more.
    pub async fn engine_works(&self, engine: &str) -> Result<()> {
        const DOING: &str = "forget failures";
        let query = sqlx::query(FORGET_BREAKER).bind(engine.to_owned());
        self.write_single(DOING, move |tx| Box::pin(async move { tx.run(DOING, query).await.map(|_| ()) }))
            .await
    }

    /// A person has mended something: `engines`, all of `account`, get cases again at once, and cases that wait for them
    /// wait no longer.
    pub async fn end_rests(&self, engines: Vec<String>, account: &str) -> Result<()> {
        const DOING: &str = "end the rest of an engine";
        let account = account.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let names = json(&engines);
                let query = sqlx::query(END).bind(names.clone()).bind(names.clone()).bind(account);
                tx.run(DOING, query).await?;
                let woken = tx.all(DOING, sqlx::query(WAKE_OF).bind(tx.now.0).bind(names)).await?;
                tx.wake.pending |= !woken.is_empty();
                tx.wake.worker = true;
                Ok(())
            })
        })
        .await
    }

    /// Settings or secrets may be mended: rests of the engine and its account that come from failures of these words end.
    pub async fn end_mendable(&self, engine: &str, account: &str, words: &[&str]) -> Result<()> {
        const DOING: &str = "end the rest of a mended engine";
        let words = json(words);
        let query = sqlx::query(END_MENDABLE)
            .bind(engine.to_owned())
            .bind(words.clone())
            .bind(account.to_owned())
            .bind(words);
        let names = json(&[engine]);
        self.write(DOING, move |tx| {
            Box::pin(async move {
                if tx.run(DOING, query).await? > 0 {
                    let woken = tx.all(DOING, sqlx::query(WAKE_OF).bind(tx.now.0).bind(names)).await?;
                    tx.wake.pending |= !woken.is_empty();
                }
                tx.wake.worker = true;
                Ok(())
            })
        })
        .await
    }

    /// Cases queued for an engine, in the order in which it would get them, each with its route.
    pub async fn waiting_for(&self, engine: &str, limit: usize) -> Result<Vec<(CaseId, String)>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = sqlx::query(WAITING_FOR).bind(engine.to_owned()).bind(limit);
        let rows = self.read_all("read the queue of an engine", query).await?;
        let of = |row| {
            let mut columns = Columns::of(row);
            Ok((CaseId(columns.take()?), columns.take::<Option<String>>()?.unwrap_or_default()))
        };
        rows.iter().map(of).collect()
    }

    /// Gives queued cases of one engine to others, each with the reason. Gives how many.
    pub async fn pass_on(&self, from: &str, to: Vec<(CaseId, String, String)>) -> Result<u64> {
        const DOING: &str = "pass queued cases on";
        let from = from.to_owned();
        self.write(DOING, move |tx| {
            Box::pin(async move {
                let rows: Vec<_> = to.iter().map(|(id, engine, why)| (id.0, engine, why)).collect();
                let query = sqlx::query(PASS_ON).bind(tx.now.0).bind(json(&rows)).bind(from);
                let moved = tx.all(DOING, query).await?;
                let moved = moved.iter().map(|row| Columns::of(row).take()).collect::<Result<Vec<i64>>>()?;
                let lines: Vec<_> = to
                    .iter()
                    .filter(|(id, ..)| moved.contains(&id.0))
                    .map(|(id, engine, why)| (id.0, "queued", format!("to {engine}: {why}")))
                    .collect();
                journal::notes(tx, &lines).await?;
                Ok(lines.len() as u64)
            })
        })
        .await
    }
}

async fn failed(
    tx: &mut Tx,
    engine: String,
    case: CaseId,
    failure: RunFailure,
    reason: String,
) -> Result<Option<Timestamp>> {
    const DOING: &str = "count a failure";
    let mut breaker = match tx.first(DOING, sqlx::query(BREAKER).bind(engine.clone())).await? {
        // Written by another version, perhaps: then the count begins anew.
        Some(row) => Columns::of(&row).json().unwrap_or_default(),
        None => Breaker::default(),
    };
    let shut_by = breaker.failed(case, &failure, &reason, tx.now);
    tx.run(DOING, sqlx::query(KEEP_BREAKER).bind(engine.clone()).bind(json(&breaker))).await?;
    let Gate::Shut(until) = breaker.gate(tx.now) else { return Ok(None) };
    if let Some(cases) = shut_by {
        let ids: Vec<i64> = cases.into_iter().filter(|id| *id != case).map(|id| id.0).collect();
        let query = sqlx::query(TRY_AGAIN).bind(engine.clone()).bind(until.0).bind(json(&ids));
        let moved = tx.all(DOING, query).await?;
        let line = |row| {
            let why = format!("tried again at {until}: {engine} fails with other cases too");
            Ok((Columns::of(row).take()?, "parked", why))
        };
        let lines = moved.iter().map(line).collect::<Result<Vec<_>>>()?;
        tx.wake.pending |= !lines.is_empty();
        journal::notes(tx, &lines).await?;
    }
    Ok(Some(until))
}
