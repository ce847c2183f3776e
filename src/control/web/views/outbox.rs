//! What was approved: what can be taken back, what is held, what went.

use axum::Extension;
use axum::extract::State;
use serde_json::json;

use super::listed;
use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::model::outbound::{ActionState, OutboundAction};

/// `GET /outbox`
pub(in crate::control::web) async fn list(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    let mut open = Vec::new();
    for state in [ActionState::Held, ActionState::Uncertain, ActionState::Approved, ActionState::Sending] {
        let actions: Vec<OutboundAction> = page.client.get(&listed("/v1/outbox", Some(state.word()))).await?;
        open.extend(actions);
    }
    let newest: Vec<OutboundAction> = page.client.get(&listed("/v1/outbox", None)).await?;
    let is_over = |action: &OutboundAction| {
        matches!(action.state, ActionState::Sent | ActionState::Dead | ActionState::Cancelled)
    };
    let over: Vec<OutboundAction> = newest.into_iter().filter(is_over).collect();
    page.view(&session, "outbox.html", "Outbox", json!({ "open": open, "over": over })).await
}
