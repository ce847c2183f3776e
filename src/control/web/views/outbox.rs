//! What was approved: what can be taken back, what is held, what went.

use axum::Extension;
use axum::extract::State;
use serde_json::json;

use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::model::limits::WEB_ROWS_MAX;
use crate::model::outbound::{ActionState, OutboundAction};

/// `GET /outbox`
pub(in crate::control::web) async fn list(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    let mut open = Vec::new();
    for state in [ActionState::Held, ActionState::Uncertain, ActionState::Approved, ActionState::Sending] {
        let path = format!("/v1/outbox?state={}&limit={WEB_ROWS_MAX}", state.word());
        let actions: Vec<OutboundAction> = page.client.get(&path).await?;
        open.extend(actions);
    }
    let newest: Vec<OutboundAction> = page.client.get(&format!("/v1/outbox?limit={WEB_ROWS_MAX}")).await?;
    let is_over = |action: &OutboundAction| {
        matches!(action.state, ActionState::Sent | ActionState::Dead | ActionState::Cancelled)
    };
    let over: Vec<OutboundAction> = newest.into_iter().filter(is_over).collect();
    page.view(&session, "outbox.html", "Outbox", json!({ "open": open, "over": over })).await
}
