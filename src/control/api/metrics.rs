//! The state of the daemon for Prometheus.

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::{Reply, Shared, status};
use crate::control::metrics::{self, Measured};
use crate::control::server::Fault;

/// As Prometheus takes it.
pub(super) async fn plain(State(state): Shared) -> Result<Response, Fault> {
    Ok(([(CONTENT_TYPE, metrics::CONTENT_TYPE)], text(&state).await?).into_response())
}

/// The same text as JSON, for our own client.
pub(super) async fn json(State(state): Shared) -> Reply<String> {
    Ok(Json(text(&state).await?))
}

async fn text(state: &std::sync::Arc<super::ApiState>) -> Result<String, Fault> {
    let status = status::view(state).await?;
    let runs = state.store.run_tally().await?;
    let passes: Vec<(String, u64, u64)> = state
        .board
        .all()
        .into_iter()
        .map(|(unit, seen)| (unit, seen.passes, u64::from(seen.panics)))
        .collect();
    let store_bytes = Some(state.store.bytes().await?);
    Ok(metrics::text(&Measured { status: &status, runs: &runs, passes: &passes, store_bytes }))
}
