//! The ledger: what runs count for against caps. A run's worst case is set aside in the transaction that begins it, and
//! the one that ends it puts what it cost in its place, or leaves all of it where nobody knows. So the sum of a day never
//! passes its cap, however many begin at once and wherever the program ends.

use std::collections::HashMap;

use super::rows::Columns;
use super::types::{Allowance, Cap, CapScope};
use super::writer::{Query, Tx};
use super::{Result, Store};
use crate::model::ids::CaseId;
use crate::model::money::shown_usd;
use crate::model::time::Timestamp;

const ADDING: &str = "add up what was spent";

pub(super) const ENGINE_SPENT: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs \
     WHERE engine = ?1 AND started_at >= ?2 AND spent_micro_usd > 0";

pub(super) const ALL_SPENT: &str =
    "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE started_at >= ?1 AND spent_micro_usd > 0";

pub(super) const CASE_SPENT: &str = "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE case_id = ?1";

pub(super) const CASE_ENGINE_SPENT: &str =
    "SELECT coalesce(sum(spent_micro_usd), 0) FROM runs WHERE case_id = ?1 AND engine = ?2";

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

    fn query(&self) -> Query {
        match (self.engine.clone(), self.case) {
            (Some(engine), None) => sqlx::query(ENGINE_SPENT).bind(engine).bind(self.since.0),
            (None, None) => sqlx::query(ALL_SPENT).bind(self.since.0),
            (None, Some(case)) => sqlx::query(CASE_SPENT).bind(case.0),
            (Some(engine), Some(case)) => sqlx::query(CASE_ENGINE_SPENT).bind(case.0).bind(engine),
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
                let reason = format!(
                    "{of} has {} of {most} USD left {}, and a run may cost up to {reserve}",
                    shown_usd(cap.micro_usd_max.saturating_sub(spent)),
                    cap.span,
                );
                return Ok(Err(Refused { reason, until: cap.until }));
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
        let sum = match tx.first(ADDING, over.query()).await? {
            Some(row) => Columns::of(&row).count()?,
            None => 0,
        };
        self.0.insert(over.clone(), sum);
        Ok(sum)
    }
}

impl Store {
    /// What is spent and set aside under each cap of an engine (those of single cases aside).
    pub async fn spent(&self, engine: &str, caps: &[Cap]) -> Result<Vec<u64>> {
        let mut sums = Vec::with_capacity(caps.len());
        for cap in caps {
            let over = Over::of(cap, engine, CaseId(0));
            sums.push(match self.read_first(ADDING, over.query()).await? {
                Some(row) => Columns::of(&row).count()?,
                None => 0,
            });
        }
        Ok(sums)
    }
}
