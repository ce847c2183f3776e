//! What needs a person now.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use crate::control::health::Health;
use crate::control::web::doors::Session;
use crate::control::web::{Reply, Shared};
use crate::control::wire::{ActiveState, ReviewView, StatusView};
use crate::model::limits::WEB_ROWS_MAX;
use crate::model::outbound::OutboundAction;

/// `GET /`
pub(in crate::control::web) async fn today(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    let status: StatusView = page.client.get("/v1/status").await?;
    let reviews: Vec<ReviewView> = page.client.get(&format!("/v1/reviews?limit={WEB_ROWS_MAX}")).await?;
    let asked = |state: &str| format!("/v1/outbox?state={state}&limit={WEB_ROWS_MAX}");
    let held: Vec<OutboundAction> = page.client.get(&asked("held")).await?;
    let approved: Vec<OutboundAction> = page.client.get(&asked("approved")).await?;
    let parked: Vec<crate::model::case::Case> =
        page.client.get(&format!("/v1/cases?state=parked&limit={WEB_ROWS_MAX}")).await?;
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
