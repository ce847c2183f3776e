//! Review: drafts with what they answer, and decisions. Every decision names the hash of the version that was seen.

mod view;

use axum::Json;
use axum::extract::{Path, Query, State};

use super::{ApiState, Fault, Reply, Shared, id};
use crate::control::wire::{ApproveBody, Approved, DeferBody, EditBody, RejectBody, ReviewQuery, ReviewView};
use crate::model::draft::Draft;
use crate::model::effect::{self, Chosen, Effect, Offer};
use crate::model::ids::DraftId;
use crate::model::item::Item;
use crate::model::limits;
use crate::model::text;
use crate::store::StoreError;

pub(super) async fn list(State(state): Shared, Query(query): Query<ReviewQuery>) -> Reply<Vec<ReviewView>> {
    let mut drafts = state.store.open_drafts(query.deferred).await?;
    drafts.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(Json(view::views(&state, drafts).await?))
}

pub(super) async fn show(State(state): Shared, Path(draft): Path<String>) -> Reply<ReviewView> {
    let draft = state.store.draft(id::<DraftId>(&draft)?).await?;
    let missing = format!("draft {}", draft.id);
    let view = view::views(&state, vec![draft]).await?.pop();
    Ok(Json(view.ok_or(StoreError::NotFound { what: missing })?))
}

pub(super) async fn edit(
    State(state): Shared,
    Path(draft): Path<String>,
    Json(body): Json<EditBody>,
) -> Reply<Draft> {
    let clean = text::visible(&body.body);
    let seen = state.store.draft(id(&draft)?).await?;
    let effects = body.effects.as_ref().map(|wanted| effects(&state, &seen, wanted));
    let effects = match effects {
        Some(effects) => Some(effects.await?),
        None => None,
    };
    let none = effects.as_ref().unwrap_or(&seen.envelope.effects).is_empty();
    if clean.trim().is_empty() && none {
        return Err(Fault::usage("an empty reply cannot be sent: reject the draft instead"));
    }
    if clean.len() > limits::DRAFT_BYTES_MAX {
        return Err(Fault::usage(format!("a reply may have {} bytes", limits::DRAFT_BYTES_MAX)));
    }
    Ok(Json(state.store.edit_draft(seen.id, &body.hash, clean, effects).await?))
}

/// The wanted effects, if all of them are offered, or stand in the draft already.
async fn effects(state: &ApiState, draft: &Draft, wanted: &[String]) -> Result<Vec<Effect>, Fault> {
    let items = state.store.case_items(draft.case, limits::CASE_ITEMS_PROMPT_MAX).await?;
    let offers = Item::offered(&items);
    let mut wanted: Vec<Effect> = wanted.iter().map(|text| Effect::parse(text)).collect();
    let mut seen = Vec::new();
    wanted.retain(|effect| {
        !seen.contains(effect) && {
            seen.push(effect.clone());
            true
        }
    });
    let (fresh, kept): (Vec<Effect>, Vec<Effect>) =
        wanted.into_iter().partition(|effect| !draft.envelope.effects.contains(effect));
    let Chosen { kept: fresh, refused, beyond } = effect::chosen(&fresh, offers);
    if !refused.is_empty() {
        let forms: Vec<String> = offers.iter().map(Offer::form).collect();
        let fault = Fault::usage(format!("not offered for {}: {}", draft.id, refused.join(", ")));
        return Err(match forms.is_empty() {
            true => fault.hint("nothing but a text is offered here"),
            false => fault.hint(format!("there are: {}", forms.join("; "))),
        });
    }
    let all: Vec<Effect> = kept.into_iter().chain(fresh).collect();
    if !beyond.is_empty() || all.len() > limits::EFFECTS_MAX {
        return Err(Fault::usage(format!("a draft may have {} effects", limits::EFFECTS_MAX)));
    }
    Ok(all)
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
    let pauses = state.store.pauses().await?;
    let connector = state.store.draft(draft).await?.connector;
    let paused = pauses.all.is_some() || pauses.of(&format!("{connector}.connector")).is_some();
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
