//! Connectors, engines and the rest: how each is, since when, what is due next, what mends it.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::control::wire::{StatusView, UnitView};

/// `GET /units`
pub(in crate::control::web) async fn list(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    let status: StatusView = page.client.get("/v1/status").await?;
    let (connectors, rest): (Vec<&UnitView>, Vec<&UnitView>) =
        status.units.iter().partition(|unit| unit.unit.ends_with(".connector"));
    let (engines, others): (Vec<&UnitView>, Vec<&UnitView>) =
        rest.into_iter().partition(|unit| unit.unit.ends_with(".engine"));
    let groups = [("Connectors", connectors), ("Engines", engines), ("Everything else", others)];
    let values = json!({ "groups": groups, "status": status });
    Ok(page.framed(StatusCode::OK, &session, "units.html", "Connectors and engines", &status, values))
}
