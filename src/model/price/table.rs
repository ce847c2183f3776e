//! The prices that ship: list prices of vendors, by host and model.

use std::sync::OnceLock;

use serde::Deserialize;

use super::{Above, Price, date, day_after};
use crate::model::money::parse_usd;

const TEXT: &str = include_str!("prices.toml");

/// One row as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    host: String,
    model: String,
    input: String,
    output: String,
    cache_read: Option<String>,
    cache_write: Option<String>,
    above_tokens: Option<u64>,
    above_input_percent: Option<u64>,
    above_output_percent: Option<u64>,
    valid_from: Option<String>,
    valid_to: Option<String>,
    as_of: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    price: Vec<Row>,
}

struct Listed {
    host: String,
    model: String,
    price: Price,
}

fn rows() -> &'static [Listed] {
    static ROWS: OnceLock<Vec<Listed>> = OnceLock::new();
    // A text that cannot be read is a fault of the build, which a test finds; then no price is known.
    ROWS.get_or_init(|| {
        let table: Option<Table> = toml::from_str(TEXT).ok();
        table.into_iter().flat_map(|table| table.price).filter_map(listed).collect()
    })
}

fn listed(row: Row) -> Option<Listed> {
    let maybe = |text: &Option<String>| match text {
        Some(text) => parse_usd(text).map(Some),
        None => Some(None),
    };
    let above = row.above_tokens.map(|tokens| Above {
        tokens,
        input_percent: row.above_input_percent.unwrap_or(100),
        output_percent: row.above_output_percent.unwrap_or(100),
    });
    date(&row.as_of)?;
    let price = Price {
        input: parse_usd(&row.input)?,
        output: parse_usd(&row.output)?,
        cache_read: maybe(&row.cache_read)?,
        cache_write: maybe(&row.cache_write)?,
        above,
        from: row.valid_from.as_deref().and_then(date),
        until: row.valid_to.as_deref().and_then(day_after),
        as_of: row.as_of,
    };
    Some(Listed { host: row.host, model: row.model, price })
}

/// The prices of a model at a host; more than one where they change on a day.
#[must_use]
pub fn of(host: &str, model: &str) -> Vec<Price> {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let is_it = |row: &&Listed| row.host == host && is_version_of(model, &row.model);
    rows().iter().filter(is_it).map(|row| row.price.clone()).collect()
}

/// `claude-opus-5-5`, `claude-opus-5-5-20260922` and `gpt-6.2-sol-2026-11-01` are; `claude-opus-5-5-fast` is another model.
fn is_version_of(model: &str, listed: &str) -> bool {
    let Some(rest) = model.strip_prefix(listed) else { return false };
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    rest.is_empty()
        || rest.starts_with('-')
            && digits == 8
            && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let written = TEXT.matches("[[price]]").count();
        assert_eq!(rows().len(), written);
        for row in rows() {
            assert!(row.price.output >= row.price.input && row.price.input > 0, "{}", row.model);
            assert_eq!(of(&row.host, &row.model).len(), 1, "{} is there twice", row.model);
        }
    }

    #[test]
    fn a_model_is_known_by_its_name_and_host() {
        let known = |host: &str, model: &str| !of(host, model).is_empty();
        assert!(known("api.anthropic.com", "claude-opus-5-5"));
        assert!(known("api.anthropic.com", "claude-opus-5-5-20260922"));
        assert!(known("api.openai.com", "gpt-6.2-sol-2026-11-01"));
        assert!(known("generativelanguage.googleapis.com", "models/gemini-3.5-flash-lite"));
        assert!(!known("api.anthropic.com", "claude-opus-5-5-fast"));
        assert!(!known("openrouter.ai", "claude-opus-5-5"));
        assert_eq!(of("api.anthropic.com", "claude-opus-5-20260724")[0].input, 5_000_000);
    }
}
