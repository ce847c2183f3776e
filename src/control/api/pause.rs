//! The stop by hand, of everything or of one unit.

use axum::Json;
use axum::extract::State;

use super::{Fault, Reply, Shared};
use crate::control::wire::{PauseBody, ResumeBody};
use crate::model::pause::Pause;

pub(super) async fn pause(State(state): Shared, Json(body): Json<PauseBody>) -> Reply<Pause> {
    let since = state.clock.now();
    let pause = Pause { since, until: body.span.map(|span| since.plus(span)) };
    if let Some(unit) = &body.unit {
        pausable(&state, unit)?;
    }
    state.store.pause(body.unit.as_deref(), pause).await?;
    let what = body.unit.as_deref().unwrap_or("everything");
    match pause.until {
        Some(until) => tracing::info!("{what} is paused until {until}"),
        None => tracing::info!("{what} is paused until resumed"),
    }
    Ok(Json(pause))
}

pub(super) async fn resume(State(state): Shared, Json(body): Json<ResumeBody>) -> Reply<()> {
    state.store.resume(body.unit.as_deref()).await?;
    tracing::info!("{} is resumed", body.unit.as_deref().unwrap_or("everything"));
    Ok(Json(()))
}

/// What would get no case, or send nothing.
fn pausable(state: &super::ApiState, unit: &str) -> Result<(), Fault> {
    let plan = state.present.get().plan.clone();
    let known = match unit.rsplit_once('.') {
        Some((name, "engine")) => plan.engines.contains_key(name),
        Some((name, "connector")) => plan.connectors.contains_key(name),
        _ => {
            let fault = Fault::usage(format!("`{unit}` cannot be paused: only engines and connectors can"));
            return Err(fault.hint("an engine gets no case while it is paused, a connector sends nothing"));
        }
    };
    if known { Ok(()) } else { Err(Fault::not_found(format!("there is no unit {unit}"))) }
}
