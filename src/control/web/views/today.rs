//! What needs a person now.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::listed;
use crate::control::health::Health;
use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::control::wire::{ActiveState, ReviewView, StatusView};
use crate::model::case::{Case, CaseState};
use crate::model::limits::WEB_ROWS_MAX;
use crate::model::outbound::{ActionState, OutboundAction};

/// `GET /`
pub(in crate::control::web) async fn today(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    let status: StatusView = page.client.get("/v1/status").await?;
    let reviews: Vec<ReviewView> = page.client.get(&format!("/v1/reviews?limit={WEB_ROWS_MAX}")).await?;
    let sends = |state: ActionState| listed("/v1/outbox", Some(state.word()));
    let held: Vec<OutboundAction> = page.client.get(&sends(ActionState::Held)).await?;
    let approved: Vec<OutboundAction> = page.client.get(&sends(ActionState::Approved)).await?;
    let parked: Vec<Case> = page.client.get(&listed("/v1/cases", Some(CaseState::Parked.word()))).await?;
    let ill: Vec<_> = status
        .units
        .iter()
        .filter(|unit| {
            unit.active == ActiveState::Failed
                || unit.kept.is_some()
                || matches!(unit.health, Some(Health::Failing | Health::Late))
        })
        .collect();
    let more = status.counts.drafts_open.saturating_sub(reviews.len() as u64);
    let values = json!({ "reviews": reviews, "held": held, "approved": approved, "parked": parked, "ill": ill, "more": more, "status": status });
    Ok(page.framed(StatusCode::OK, &session, "today.html", "Today", &status, values))
}
