//! `[budget]` and `[price]`: what an engine costs and may cost, and what all engines together may.

use crate::model::budget::{Budget, EngineMoney};
use crate::model::money::parse_usd;
use crate::model::price::{Above, Price, date, day_after, table};
use crate::unit::registry::EngineView;
use crate::unit::schema::{KeySpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// The tables' names.
pub(crate) const BUDGET: &str = "budget";
pub(crate) const PRICE: &str = "price";

/// Dollars are asked for before they are spent: see the worker.
const DAILY: KeySpec = KeySpec::new(
    "daily_usd",
    ValueType::Usd,
    "US dollars a day in local time; what a run may cost at most is set aside before it begins, and beyond this the case \
     waits for the next day",
);
const MONTHLY: KeySpec = KeySpec::new("monthly_usd", ValueType::Usd, "US dollars a month in local time");
const WARN_AT: KeySpec = KeySpec::new(
    "warn_at_percent",
    ValueType::Integer { min: 0, max: 100 },
    "From this share of a cap on `status` and the log say so; 0 never",
)
.default("80");

/// The budget of one engine.
pub(crate) const ENGINE_BUDGET: TableSpec = TableSpec::new(
    BUDGET,
    &[
        KeySpec::new(
            "daily_runs",
            ValueType::Integer { min: 0, max: 1_000_000 },
            "Runs a day in local time, failed ones and retries too",
        ),
        DAILY,
        MONTHLY,
        KeySpec::new(
            "per_case_usd",
            ValueType::Usd,
            "US dollars for one case, over all its runs on this engine",
        ),
        KeySpec::new(
            "per_run_usd",
            ValueType::Usd,
            "US dollars for one run; a run that may cost more is not begun, and engines that can are told to stop there. \
             Where the price is not known this is what is set aside",
        ),
        WARN_AT,
    ],
    "What it may cost.",
);

/// The budget of all engines together.
pub(crate) const DAEMON_BUDGET: TableSpec = TableSpec::new(
    BUDGET,
    &[
        DAILY,
        MONTHLY,
        KeySpec::new(
            "per_case_usd",
            ValueType::Usd,
            "US dollars for one case, over all its runs on all engines",
        ),
        WARN_AT,
    ],
    "What all engines together may cost.",
);

/// The price of one engine.
pub(crate) const ENGINE_PRICE: TableSpec = TableSpec::new(
    PRICE,
    &[
        KeySpec::new("input", ValueType::Usd, "US dollars for a million tokens read"),
        KeySpec::new("output", ValueType::Usd, "US dollars for a million tokens written, reasoning included"),
        KeySpec::new("cache_read", ValueType::Usd, "The same for tokens read from a cache; as `input` if not said"),
        KeySpec::new(
            "cache_write",
            ValueType::Usd,
            "The same for tokens written into a cache; twice `input` if not said",
        ),
        KeySpec::new("as_of", ValueType::Text, "The day the price was looked up: \"2026-11-30\""),
        KeySpec::new("valid_to", ValueType::Text, "The last day it is in force; then the price is unknown"),
        KeySpec::new(
            "above_tokens",
            ValueType::Integer { min: 1, max: 1_000_000_000 },
            "A request that reads more tokens than this costs more, all of it",
        ),
        KeySpec::new(
            "above_input_percent",
            ValueType::Integer { min: 1, max: 10_000 },
            "What input costs then, in hundredths of the usual price",
        )
        .default("100"),
        KeySpec::new("above_output_percent", ValueType::Integer { min: 1, max: 10_000 }, "What output costs then")
            .default("100"),
        KeySpec::new(
            "plan",
            ValueType::Bool,
            "A plan pays: runs cost nothing more, whatever figure the engine gives; count them with `daily_runs`",
        )
        .default("false"),
    ],
    "What it costs. The vendors' list prices of known models ship with workagent; this comes before them. What runs on \
     this machine is free, and a price that is not known is not nothing: a budget over it refuses.",
);

/// The caps of a `[budget]`.
pub(crate) fn budget(table: &Settings) -> Budget {
    Budget {
        daily: table.usd("daily_usd"),
        monthly: table.usd("monthly_usd"),
        per_case: table.usd("per_case_usd"),
        per_run: table.usd("per_run_usd"),
        warn_percent: table
            .integer("warn_at_percent")
            .and_then(|number| u64::try_from(number).ok())
            .unwrap_or(80),
    }
}

/// What is known of an engine's money.
pub(crate) fn engine(unit: &Typed, view: &EngineView) -> EngineMoney {
    let (own, price) = (unit.settings(view.name), unit.settings(PRICE));
    let mut budget = budget(unit.settings(BUDGET));
    // Some engines have a key of their own for where one run is to stop.
    let own_cap = own.text("max_usd").and_then(parse_usd);
    budget.per_run = budget.per_run.into_iter().chain(own_cap).min();
    EngineMoney {
        prices: prices(unit, view),
        plan: price.flag("plan"),
        output_tokens_max: own.integer("max_tokens").and_then(|number| u64::try_from(number).ok()),
        budget,
    }
}

fn prices(unit: &Typed, view: &EngineView) -> Vec<Price> {
    let (own, price) = (unit.settings(view.name), unit.settings(PRICE));
    if let (Some(input), Some(output)) = (price.usd("input"), price.usd("output")) {
        let count = |key| price.integer(key).and_then(|number| u64::try_from(number).ok());
        let above = count("above_tokens").map(|tokens| Above {
            tokens,
            input_percent: count("above_input_percent").unwrap_or(100),
            output_percent: count("above_output_percent").unwrap_or(100),
        });
        return vec![Price {
            input,
            output,
            cache_read: price.usd("cache_read"),
            cache_write: price.usd("cache_write"),
            above,
            from: None,
            until: price.text("valid_to").and_then(day_after),
            as_of: price.text("as_of").unwrap_or_default().to_owned(),
        }];
    }
    if (view.is_local)(own) {
        return vec![Price::free()];
    }
    let host = own.text("base_url").and_then(|url| url::Url::parse(url).ok());
    let host = host.as_ref().and_then(url::Url::host_str).unwrap_or_default();
    table::of(host, unit.settings("engine").text("model").unwrap_or_default())
}

/// What is wrong with a `[price]`: the key, and why.
pub(crate) fn problem(unit: &Typed) -> Option<(&'static str, &'static str)> {
    let price = unit.settings(PRICE);
    match (price.usd("input"), price.usd("output")) {
        (Some(_), None) => return Some(("input", "needs `output` beside it")),
        (None, Some(_)) => return Some(("output", "needs `input` beside it")),
        (None, None) => {
            let idle = ["cache_read", "cache_write", "above_tokens", "valid_to"];
            if let Some(key) = idle.into_iter().find(|key| price.get(key).is_some()) {
                return Some((key, "needs `input` and `output` beside it"));
            }
        }
        (Some(_), Some(_)) => {}
    }
    let wrong = |key: &&str| price.text(key).is_some_and(|text| date(text).is_none());
    ["as_of", "valid_to"].into_iter().find(wrong).map(|key| (key, "is not a date such as `\"2026-11-30\"`"))
}
