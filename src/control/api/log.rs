//! What is logged, for as long as somebody looks.

use std::time::Duration;

use axum::Json;
use axum::extract::State;

use super::units::manager;
use super::{Reply, Shared};
use crate::control::server::Fault;
use crate::control::wire::log::{LogLevelBody, LogLevelsView};
use crate::model::log_filter::{LogFilter, LogLevel};

pub(super) async fn levels(State(state): Shared) -> Reply<LogLevelsView> {
    Ok(Json(manager(&state, "nothing is logged")?.log().shown()))
}

pub(super) async fn set(State(state): Shared, Json(body): Json<LogLevelBody>) -> Reply<LogLevelsView> {
    let manager = manager(&state, "nothing is logged")?;
    let unit = body.unit.map(|unit| manager.named(&unit)).transpose()?;
    let filter = body.level.as_deref().map(|text| level(text, unit.is_some())).transpose()?;
    let span = body.for_s.map(Duration::from_secs);
    let (what, whose) = (filter.as_ref().map(ToString::to_string), unit.as_deref().unwrap_or("all units"));
    manager.log().set(unit.as_deref(), filter, span);
    match what {
        Some(what) => tracing::info!(for_s = body.for_s, "log level of {whose} by hand: {what}"),
        None => tracing::info!("log level of {whose} as usual again"),
    }
    Ok(Json(manager.log().shown()))
}

/// A filter; for one unit a level alone, since its parts have no units.
fn level(text: &str, of_unit: bool) -> Result<LogFilter, Fault> {
    let wrong = |error: crate::model::log_filter::BadLogFilter| Fault::usage(format!("`{text}` is {error}"));
    if of_unit {
        text.parse::<LogLevel>().map_err(wrong)?;
    }
    text.parse().map_err(wrong)
}
