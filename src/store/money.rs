//! The ledger: what runs count for against caps. A run's worst case is set aside in the transaction that begins it, and
//! the one that ends it puts what it cost in its place, or leaves all of it where nobody knows. So the sum of a day never
//! passes its cap, however many begin at once and wherever the program ends.

use std::collections::HashMap;
use std::time::Duration;

use super::rows::Columns;
use super::types::{Allowance, Cap, CapScope, RunCost};
use super::writer::{Query, Tx};
use super::{Result, Store};
use crate::model::ids::CaseId;
use crate::model::money::shown_usd;
use crate::model::run::Usage;
use crate::model::time::Timestamp;

const ADDING: &str = "add up what was spent";

/// A case for which there will be money when a run under way has ended waits so long, and not for the next day.
const SOON: Duration = Duration::from_secs(60);

pub(super) const ENGINE_SPENT: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs \
     WHERE engine = ?1 AND started_at >= ?2 AND spent_micro_usd > 0";

pub(super) const ALL_SPENT: &str =
    "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE started_at >= ?1 AND spent_micro_usd > 0";

pub(super) const CASE_SPENT: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE case_id = ?1";

pub(super) const CASE_ENGINE_SPENT: &str =
    "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE case_id = ?1 AND engine = ?2";

/// The same without what is set aside for runs under way.
const ENGINE_SETTLED: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs \
     WHERE engine = ?1 AND started_at >= ?2 AND spent_micro_usd > 0 AND ended_at IS NOT NULL";
const ALL_SETTLED: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs \
     WHERE started_at >= ?1 AND spent_micro_usd > 0 AND ended_at IS NOT NULL";
const CASE_SETTLED: &str =
    "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE case_id = ?1 AND ended_at IS NOT NULL";
const CASE_ENGINE_SETTLED: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs \
     WHERE case_id = ?1 AND engine = ?2 AND ended_at IS NOT NULL";

/// Which runs a sum goes over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Over {
    engine: Option<String>,
    case: Option<CaseId>,
    since: Timestamp,
}

impl Over {
    fn of(cap: &Cap, engine: &str, case: CaseId) -> Self {
        let (engine, case) = match cap.scope {
            CapScope::Engine => (Some(engine), None),
            CapScope::All => (None, None),
            CapScope::Case => (None, Some(case)),
            CapScope::EngineCase => (Some(engine), Some(case)),
        };
        // A case has no day.
        let since = if case.is_some() { Timestamp(0) } else { cap.since };
        Self { engine: engine.map(str::to_owned), case, since }
    }

    /// What is spent and set aside.
    fn spent(&self) -> Query {
        self.bound([ENGINE_SPENT, ALL_SPENT, CASE_SPENT, CASE_ENGINE_SPENT])
    }

    /// What is spent for good.
    fn settled(&self) -> Query {
        self.bound([ENGINE_SETTLED, ALL_SETTLED, CASE_SETTLED, CASE_ENGINE_SETTLED])
    }

    fn bound(&self, [of_engine, of_all, of_case, of_both]: [&'static str; 4]) -> Query {
        match (self.engine.clone(), self.case) {
            (Some(engine), None) => sqlx::query(of_engine).bind(engine).bind(self.since.0),
            (None, None) => sqlx::query(of_all).bind(self.since.0),
            (None, Some(case)) => sqlx::query(of_case).bind(case.0),
            (Some(engine), Some(case)) => sqlx::query(of_both).bind(case.0).bind(engine),
        }
    }
}

/// The sums of one round of the writer, with what the round itself has set aside.
#[derive(Default)]
pub(super) struct Sums(HashMap<Over, u64>);

/// A run that must not begin.
pub(super) struct Refused {
    pub reason: String,
    pub until: Option<Timestamp>,
}

impl Sums {
    /// Sets aside what the run may cost, or says which cap is in the way. Nothing is set aside then.
    pub async fn reserve(
        &mut self,
        tx: &mut Tx,
        engine: &str,
        case: CaseId,
        allowance: &Allowance,
    ) -> Result<std::result::Result<u64, Refused>> {
        let reserve = match &allowance.reserve {
            Ok(reserve) => *reserve,
            // Nothing is capped: what nobody knows counts for nothing until it is known.
            Err(_) if allowance.caps.is_empty() => return Ok(Ok(0)),
            Err(why) => {
                let reason = format!("{engine} has a budget, and {why}");
                return Ok(Err(Refused { reason, until: None }));
            }
        };
        if reserve == 0 {
            return Ok(Ok(0));
        }
        for cap in &allowance.caps {
            let over = Over::of(cap, engine, case);
            let spent = self.sum(tx, &over).await?;
            if spent.saturating_add(reserve) > cap.micro_usd_max {
                let (most, reserve) = (shown_usd(cap.micro_usd_max), shown_usd(reserve));
                let of = cap.of(engine);
                let left = |spent| shown_usd(cap.micro_usd_max.saturating_sub(spent));
                let settled = sum(tx, over.settled()).await?;
                // Runs under way mostly cost less than was set aside for them.
                let soon =
                    settled.saturating_add(allowance.reserve.clone().unwrap_or(0)) <= cap.micro_usd_max;
                let (under_way, until) = if soon {
                    (
                        format!(
                            " beside {} set aside for runs under way",
                            shown_usd(spent.saturating_sub(settled))
                        ),
                        Some(tx.now.plus(SOON)),
                    )
                } else {
                    (String::new(), cap.until)
                };
                let reason = format!(
                    "{of} has {} of {most} USD left {}{under_way}, and a run may cost up to {reserve}",
                    left(spent),
                    cap.span,
                );
                return Ok(Err(Refused { reason, until }));
            }
        }
        for sum in allowance.caps.iter().map(|cap| Over::of(cap, engine, case)) {
            *self.0.entry(sum).or_default() += reserve;
        }
        Ok(Ok(reserve))
    }

    async fn sum(&mut self, tx: &mut Tx, over: &Over) -> Result<u64> {
        if let Some(sum) = self.0.get(over) {
            return Ok(*sum);
        }
        let sum = sum(tx, over.spent()).await?;
        self.0.insert(over.clone(), sum);
        Ok(sum)
    }
}

async fn sum(tx: &mut Tx, query: Query) -> Result<u64> {
    match tx.first(ADDING, query).await? {
        Some(row) => Columns::of(&row).count(),
        None => Ok(0),
    }
}

const RUN_COSTS: &str = "SELECT r.started_at, r.engine, r.case_id, c.route, r.input_tokens, r.output_tokens, \
     r.cost_micro_usd, r.cost_source, r.cache_read_tokens, r.cache_write_tokens, r.spent_micro_usd \
     FROM runs r CROSS JOIN cases c ON c.id = r.case_id WHERE r.started_at >= ?1 ORDER BY r.id DESC LIMIT ?2";

impl Store {
    /// What the newest runs since a moment cost, newest first.
    pub async fn run_costs(&self, since: Timestamp, limit: usize) -> Result<Vec<RunCost>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows =
            self.read_all("read what runs cost", sqlx::query(RUN_COSTS).bind(since.0).bind(limit)).await?;
        let unsigned = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let of = |row| {
            let mut columns = Columns::of(row);
            Ok(RunCost {
                started_at: columns.time()?,
                engine: columns.take()?,
                case: CaseId(columns.take()?),
                route: columns.take()?,
                usage: Usage {
                    input_tokens: unsigned(columns.take()?),
                    output_tokens: unsigned(columns.take()?),
                    cost_micro_usd: unsigned(columns.take()?),
                    cost_source: columns.take()?,
                    cache_read_tokens: unsigned(columns.take()?),
                    cache_write_tokens: unsigned(columns.take()?),
                },
                spent_micro_usd: columns.count()?,
            })
        };
        rows.iter().map(of).collect()
    }

    /// What is spent and set aside under each cap of an engine (those of single cases aside).
    pub async fn spent(&self, engine: &str, caps: &[Cap]) -> Result<Vec<u64>> {
        let mut sums = Vec::with_capacity(caps.len());
        for cap in caps {
            let over = Over::of(cap, engine, CaseId(0));
            sums.push(match self.read_first(ADDING, over.spent()).await? {
                Some(row) => Columns::of(&row).count()?,
                None => 0,
            });
        }
        Ok(sums)
    }
}
