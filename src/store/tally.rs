//! Runs counted, for who watches the daemon from outside.

use super::rows::Columns;
use super::{Result, Store};

/// Runs of one engine with one outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTally {
    /// The engine unit.
    pub engine: String,
    /// The outcome's word; `running` while it goes on.
    pub outcome: String,
    /// How many are in the record.
    pub runs: u64,
    /// What they count for against budgets.
    pub spent_micro_usd: u64,
}

/// Kinds of outcomes times engines; far more than anybody has.
const TALLY_ROWS_MAX: i64 = 1000;

const TALLY: &str = "SELECT engine, outcome, count(*), sum(coalesce(spent_micro_usd, 0)) FROM runs \
     GROUP BY engine, outcome ORDER BY engine, outcome LIMIT ?1";

const BYTES: &str = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";

impl Store {
    /// All runs in the record by engine and outcome.
    pub async fn run_tally(&self) -> Result<Vec<RunTally>> {
        let rows = self.read_all("count runs", sqlx::query(TALLY).bind(TALLY_ROWS_MAX)).await?;
        let tally = |row| {
            let mut columns = Columns::of(row);
            Ok(RunTally {
                engine: columns.take()?,
                outcome: columns.take()?,
                runs: columns.count()?,
                spent_micro_usd: columns.count()?,
            })
        };
        rows.iter().map(tally).collect()
    }
    /// Bytes of the database as it will be once its log is copied into it.
    pub async fn bytes(&self) -> Result<u64> {
        match self.read_first("measure the database", sqlx::query(BYTES)).await? {
            Some(row) => Columns::of(&row).count(),
            None => Ok(0),
        }
    }
}
