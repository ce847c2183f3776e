//! Orders to units: reload, start, stop, restart, isolate. The daemon's manager does the work.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::{ApiState, Reply, Shared};
use crate::control::manager::{Manager, Why};
use crate::control::server::Fault;
use crate::control::wire::units::{ReloadView, UnitOrder, WatchedDir};

/// How to reload.
#[derive(Debug, Deserialize)]
pub(super) struct ReloadQuery {
    /// Say what would happen and do nothing.
    #[serde(default)]
    dry_run: bool,
}

pub(super) async fn watched(State(state): Shared) -> Reply<Vec<WatchedDir>> {
    Ok(Json(manager(&state, "nothing is watched")?.watched()))
}

pub(super) async fn reload(State(state): Shared, Query(query): Query<ReloadQuery>) -> Reply<ReloadView> {
    manager(&state, "nothing can be reloaded")?.reload(Why::Hand, query.dry_run).await.map(Json)
}

pub(super) async fn order(
    State(state): Shared,
    Path((unit, order)): Path<(String, String)>,
) -> Reply<ReloadView> {
    let all = [UnitOrder::Start, UnitOrder::Stop, UnitOrder::Restart, UnitOrder::ResetFailed];
    let Some(order) = all.into_iter().find(|known| known.word() == order) else {
        return Err(Fault::usage(format!("`{order}` is no order to a unit")));
    };
    let why = format!("{unit} cannot be given the order `{}`", order.word());
    let done = manager(&state, &why)?.order(unit.clone(), order).await?;
    if order == UnitOrder::Restart {
        let full = if unit.contains('.') { unit } else { format!("{unit}.connector") };
        super::hasten(&state, &full).await?;
    }
    Ok(Json(done))
}

pub(super) async fn isolate(State(state): Shared, Path(target): Path<String>) -> Reply<ReloadView> {
    manager(&state, "no target can be isolated")?.isolate(target).await.map(Json)
}

pub(super) fn manager<'a>(state: &'a ApiState, what: &str) -> Result<&'a Arc<dyn Manager>, Fault> {
    state.manager.as_ref().ok_or_else(|| {
        Fault::not_found(format!("the daemon is not running, so {what}"))
            .hint("start it with `workagent run`; it reads the unit files when it starts")
    })
}
