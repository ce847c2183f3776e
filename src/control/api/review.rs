//! Review: drafts with what they answer, and decisions. Every decision names the hash of the version that was seen.

use axum::Json;
use axum::extract::{Path, Query, State};

use super::{ApiState, Fault, Reply, Shared, id};
use crate::control::wire::{ApproveBody, Approved, DeferBody, EditBody, RejectBody, ReviewQuery, ReviewView};
use crate::model::draft::Draft;
use crate::model::ids::DraftId;
use crate::model::limits;
use crate::model::text;
use crate::store::StoreError;
use crate::unit::plan::OutboundRule;

pub(super) async fn list(State(state): Shared, Query(query): Query<ReviewQuery>) -> Reply<Vec<ReviewView>> {
    let mut views = Vec::new();
    for draft in state.store.open_drafts(query.deferred).await? {
        views.push(view(&state, draft).await?);
    }
    Ok(Json(views))
}

pub(super) async fn show(State(state): Shared, Path(draft): Path<String>) -> Reply<ReviewView> {
    let draft = state.store.draft(id::<DraftId>(&draft)?).await?;
    Ok(Json(view(&state, draft).await?))
}

async fn view(state: &ApiState, draft: Draft) -> Result<ReviewView, StoreError> {
    let items = state.store.case_items(draft.case, limits::CASE_ITEMS_PROMPT_MAX).await?;
    let rule = state.desk.rule(&draft.connector);
    let blocked = match &rule {
        None => Some(format!("the connector {} is off", draft.connector)),
        Some(rule) if rule.outbound == OutboundRule::Never => {
            Some(format!("the connector {} says outbound = \"never\"", draft.connector))
        }
        Some(_) => None,
    };
    let route = state.store.case_route(draft.case).await?;
    Ok(ReviewView { draft, items, route, hold: rule.map(|rule| rule.hold), blocked })
}

pub(super) async fn edit(
    State(state): Shared,
    Path(draft): Path<String>,
    Json(body): Json<EditBody>,
) -> Reply<Draft> {
    let clean = text::visible(&body.body);
    if clean.trim().is_empty() {
        return Err(Fault::usage("an empty reply cannot be sent: reject the draft instead"));
    }
    if clean.len() > limits::DRAFT_BYTES_MAX {
        return Err(Fault::usage(format!("a reply may have {} bytes", limits::DRAFT_BYTES_MAX)));
    }
    Ok(Json(state.store.edit_draft(id(&draft)?, &body.hash, clean).await?))
}

pub(super) async fn approve(
    State(state): Shared,
    Path(draft): Path<String>,
    Json(body): Json<ApproveBody>,
) -> Reply<Approved> {
    let draft = id(&draft)?;
    let action = state.desk.approve(draft, &body.hash, &body.by, body.stale_ok).await.map_err(|error| {
        Fault::from(error).hint(format!("look at it again: workagent review show {draft}"))
    })?;
    let paused = state.store.flag("paused").await?.is_some();
    Ok(Json(Approved { action, paused }))
}

pub(super) async fn reject(
    State(state): Shared,
    Path(draft): Path<String>,
    Json(body): Json<RejectBody>,
) -> Reply<()> {
    state.store.reject(id(&draft)?, &text::clean(&body.note), body.retry).await?;
    Ok(Json(()))
}

pub(super) async fn defer(
    State(state): Shared,
    Path(draft): Path<String>,
    Json(body): Json<DeferBody>,
) -> Reply<()> {
    state.store.defer(id(&draft)?, body.until).await?;
    Ok(Json(()))
}
