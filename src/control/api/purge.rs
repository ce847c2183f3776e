//! Letting go of what came through one connector.

use axum::Json;
use axum::extract::{Path, State};

use super::{Reply, Shared};
use crate::control::manager::Why;
use crate::control::server::Fault;
use crate::control::wire::PurgeBody;
use crate::store::Belongings;
use crate::unit::plan::Standing;

pub(super) async fn look(State(state): Shared, Path(connector): Path<String>) -> Reply<Belongings> {
    Ok(Json(state.store.belongings(&connector).await?))
}

pub(super) async fn purge(
    State(state): Shared,
    Path(connector): Path<String>,
    Json(body): Json<PurgeBody>,
) -> Reply<Belongings> {
    let is_on = || matches!(state.present.get().plan.connectors.get(&connector), Some(Standing::Active(_)));
    if is_on()
        && let Some(manager) = &state.manager
    {
        // It may have been switched off a moment ago, and the watcher has not said so yet.
        manager.reload(Why::Hand, false).await?;
    }
    if is_on() {
        let fault =
            Fault::refused(format!("{connector} is on: it would read on while its record is let go of"));
        return Err(fault.hint(format!("workagent disable {connector}.connector")));
    }
    let gone = state.store.purge(&connector, body.receipts).await?;
    tracing::info!(unit = %connector, cases = gone.cases, items = gone.items, "let go of a connector's data");
    Ok(Json(gone))
}
