//! The outbox: approved actions, taking one back, deciding a held one.

use axum::Json;
use axum::extract::{Path, Query, State};

use super::{Reply, Shared, id, state_word};
use crate::control::wire::{ListQuery, ReleaseBody};
use crate::model::ids::ActionId;
use crate::model::outbound::OutboundAction;

pub(super) async fn list(State(state): Shared, Query(query): Query<ListQuery>) -> Reply<Vec<OutboundAction>> {
    let only = state_word(query.state.as_deref())?;
    let mut actions = state.store.actions(only, query.limit()).await?;
    for action in &mut actions {
        // The bytes are for the wire; the list shows what was approved.
        action.payload = None;
    }
    Ok(Json(actions))
}

pub(super) async fn cancel(State(state): Shared, Path(action): Path<String>) -> Reply<()> {
    state.store.cancel_action(id(&action)?).await?;
    Ok(Json(()))
}

pub(super) async fn dismiss(State(state): Shared, Path(action): Path<String>) -> Reply<()> {
    state.store.dismiss_action(id(&action)?).await?;
    Ok(Json(()))
}

pub(super) async fn release(
    State(state): Shared,
    Path(action): Path<String>,
    Json(body): Json<ReleaseBody>,
) -> Reply<()> {
    let action: ActionId = id(&action)?;
    let connector = state.store.action(action).await?.connector;
    state.desk.release(action, &connector, body.was_sent).await?;
    Ok(Json(()))
}
