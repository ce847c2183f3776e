//! What was spent: `cost --json`, and where budgets stand. Amounts are millionths of a US dollar.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

/// By what runs are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBy {
    /// Local days, those without a run too.
    Day,
    /// Engine units.
    Engine,
    /// Cases.
    Case,
    /// The routes on which the cases are now.
    Route,
}

impl CostBy {
    /// The word in queries.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Engine => "engine",
            Self::Case => "case",
            Self::Route => "route",
        }
    }
}

impl std::str::FromStr for CostBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Day, Self::Engine, Self::Case, Self::Route];
        all.into_iter()
            .find(|by| by.word() == text)
            .ok_or_else(|| "it is day, engine, case or route".to_owned())
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CostQuery {
    /// From when on.
    pub since: i64,
    /// By what.
    pub by: CostBy,
}

impl CostQuery {
    /// The request's path with its query.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/v1/cost?since={}&by={}", self.since, self.by.word())
    }
}

/// Runs put together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostRow {
    /// `2026-11-30`, `claude`, `c12`, `mail-draft`.
    pub key: String,
    /// All of them.
    pub runs: u64,
    /// Tokens read, as far as told.
    pub input_tokens: u64,
    /// Tokens written, as far as told.
    pub output_tokens: u64,
    /// What those cost whose cost is known.
    pub cost_micro_usd: u64,
    /// Runs whose cost nobody knows, those under way too.
    pub unknown_runs: u64,
    /// What is set aside for these: the most that they count for against budgets.
    pub unknown_micro_usd_max: u64,
    /// Runs that a plan pays.
    pub plan_runs: u64,
    /// What they would have cost by the engine's own figure.
    pub plan_micro_usd: u64,
}

/// Where one cap stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetView {
    /// `claude.engine`, or `workagent.daemon` for all engines together.
    pub unit: String,
    /// `today`, `this month`.
    pub span: String,
    /// Spent and set aside.
    pub spent_micro_usd: u64,
    /// The cap.
    pub micro_usd_max: u64,
    /// When there is money again.
    pub until: Option<Timestamp>,
    /// Beyond the unit's own level of warning.
    pub near: bool,
}

/// `cost --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostView {
    /// From when on.
    pub since: Timestamp,
    /// The moment this was written.
    pub now: Timestamp,
    /// By what.
    pub by: CostBy,
    /// Days oldest first; others dearest first.
    pub rows: Vec<CostRow>,
    /// All of them together; its key is `total`.
    pub total: CostRow,
    /// The months that the runs lie in, by `2026-11`, oldest first.
    pub months: Vec<CostRow>,
    /// There are more runs than were added up: the oldest are missing.
    pub cut: bool,
    /// Where caps stand now.
    pub budgets: Vec<BudgetView>,
}
