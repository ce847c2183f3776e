//! Decisions: each form becomes the same request that a terminal makes, by the name of `page`.

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::HeaderMap;

use super::answer::{Trouble, see};
use super::form::Form;
use super::views::segment;
use super::{Reply, Shared, guard};
use crate::control::wire::units::{ReloadView, UnitOrder};
use crate::control::wire::{
    ApproveBody, Approved, DeferBody, EditBody, PauseBody, Reason, RejectBody, ReleaseBody, ResumeBody,
    ReviewView, TakeOverBody,
};
use crate::model::draft::Draft;
use crate::model::effect::Effect;
use crate::model::pause::Pause;

/// The surface, as it stands in the record.
const BY: &str = "page";

/// The longest deferral that can be asked for here.
const DEFER_HOURS_MAX: u64 = 24 * 60;

/// `POST /review/{id}/decide`: one form with all that can be decided; the button says what.
pub(super) async fn draft(State(page): Shared, Path(id): Path<String>, form: Form) -> Reply {
    let base = format!("/v1/reviews/{}", segment(&id));
    let field = |name: &str| form.get(name).unwrap_or_default();
    let after = match form.get("next").filter(|next| next.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        Some(next) if !next.is_empty() => format!("/review/{next}"),
        _ => "/review".to_owned(),
    };
    match field("do") {
        "approve" => {
            let hash = edited(&page, &base, &form).await?;
            let body = ApproveBody { hash, by: BY.to_owned(), stale_ok: form.get("stale_ok").is_some() };
            page.client.post::<_, Approved>(&format!("{base}/approve"), &body).await?;
            Ok(see(&after))
        }
        "save" => {
            edited(&page, &base, &form).await?;
            Ok(see(&format!("/review/{}", segment(&id))))
        }
        "retry" | "reject" => {
            let retry = field("do") == "retry";
            if retry && field("note").trim().is_empty() {
                return Err(Trouble::usage("another try needs a note: what should be different?"));
            }
            let body = RejectBody { note: field("note").to_owned(), retry };
            page.client.post::<_, ()>(&format!("{base}/reject"), &body).await?;
            Ok(see(&after))
        }
        "redraft" => {
            let body = RejectBody { note: String::new(), retry: true };
            page.client.post::<_, ()>(&format!("{base}/reject"), &body).await?;
            Ok(see(&after))
        }
        "by-hand" => {
            let view: ReviewView = page.client.get(&base).await?;
            let body = TakeOverBody { by: BY.to_owned() };
            page.client.post::<_, ()>(&format!("/v1/cases/{}/take-over", view.draft.case), &body).await?;
            Ok(see(&after))
        }
        "defer" => {
            let hours =
                field("hours").parse::<u64>().ok().filter(|hours| (1..=DEFER_HOURS_MAX).contains(hours));
            let hours = hours.ok_or_else(|| Trouble::usage("defer for how many hours?"))?;
            let until = page.clock.now().plus(Duration::from_secs(hours * 3600));
            page.client.post::<_, ()>(&format!("{base}/defer"), &DeferBody { until }).await?;
            Ok(see(&after))
        }
        _ => Err(Trouble::usage("the form names no decision")),
    }
}

/// The hash of the version that the form shows: of the draft as it was seen, or of what the form made of it.
async fn edited(page: &super::Page, base: &str, form: &Form) -> Result<String, Trouble> {
    let hash = form.get("hash").unwrap_or_default().to_owned();
    let (Some(body), true) = (form.get("body"), form.get("effects").is_some()) else { return Ok(hash) };
    let view: ReviewView = page.client.get(base).await?;
    let mut wanted: Vec<Effect> = form.all("effect").map(Effect::parse).collect();
    let words = form.beginning("word:").filter(|(_, word)| !word.trim().is_empty());
    wanted.extend(words.map(|(verb, word)| Effect::with(verb, word.trim())));
    let kept = &view.draft.envelope.effects;
    let is_same = wanted.len() == kept.len() && kept.iter().all(|effect| wanted.contains(effect));
    if is_same && body == view.draft.body.replace("\r\n", "\n").replace('\r', "\n") {
        // As it was; or as somebody else made it since, which the hash will tell.
        return Ok(hash);
    }
    let effects = (!is_same).then(|| wanted.iter().map(ToString::to_string).collect());
    let change = EditBody { hash, body: body.to_owned(), effects };
    let draft: Draft = page.client.post(&format!("{base}/edit"), &change).await?;
    Ok(draft.hash)
}

/// `POST /case/{id}/retry`
pub(super) async fn retry(State(page): Shared, Path(id): Path<String>, _form: Form) -> Reply {
    let id = segment(&id);
    page.client.post::<(), ()>(&format!("/v1/cases/{id}/retry"), &()).await?;
    Ok(see(&format!("/case/{id}")))
}

/// `POST /case/{id}/dismiss`
pub(super) async fn dismiss(State(page): Shared, Path(id): Path<String>, form: Form) -> Reply {
    let id = segment(&id);
    let reason = form.get("note").filter(|note| !note.trim().is_empty()).unwrap_or("dismissed on the page");
    let body = Reason { reason: reason.to_owned() };
    page.client.post::<_, ()>(&format!("/v1/cases/{id}/dismiss"), &body).await?;
    Ok(see(&format!("/case/{id}")))
}

/// `POST /outbox/{id}/cancel`
pub(super) async fn cancel(State(page): Shared, Path(id): Path<String>, _form: Form) -> Reply {
    let path = format!("/v1/outbox/{}/cancel", segment(&id));
    page.client.post::<(), ()>(&path, &()).await?;
    Ok(see("/outbox"))
}

/// `POST /outbox/{id}/release`: a held send, as a person saw with their own eyes.
pub(super) async fn release(State(page): Shared, Path(id): Path<String>, form: Form) -> Reply {
    let was_sent = match form.get("was_sent") {
        Some("yes") => true,
        Some("no") => false,
        _ => return Err(Trouble::usage("did it arrive or not?")),
    };
    let path = format!("/v1/outbox/{}/release", segment(&id));
    page.client.post::<_, ()>(&path, &ReleaseBody { was_sent }).await?;
    Ok(see("/outbox"))
}

/// `POST /outbox/{id}/dismiss`
pub(super) async fn give_up(State(page): Shared, Path(id): Path<String>, _form: Form) -> Reply {
    let path = format!("/v1/outbox/{}/dismiss", segment(&id));
    page.client.post::<(), ()>(&path, &()).await?;
    Ok(see("/outbox"))
}

/// `POST /units/{unit}/kick`
pub(super) async fn kick(State(page): Shared, Path(unit): Path<String>, _form: Form) -> Reply {
    page.client.post::<(), ()>(&format!("/v1/kick/{}", segment(&unit)), &()).await?;
    Ok(see("/units"))
}

/// `POST /units/{unit}/reset`: a unit that gave up starts again.
pub(super) async fn reset(State(page): Shared, Path(unit): Path<String>, _form: Form) -> Reply {
    let path = format!("/v1/units/{}/{}", segment(&unit), UnitOrder::ResetFailed.word());
    page.client.post::<(), ReloadView>(&path, &()).await?;
    Ok(see("/"))
}

/// `POST /pause`
pub(super) async fn pause(State(page): Shared, _form: Form) -> Reply {
    page.client.post::<_, Pause>("/v1/pause", &PauseBody::default()).await?;
    Ok(see("/"))
}

/// `POST /resume`
pub(super) async fn resume(State(page): Shared, _form: Form) -> Reply {
    page.client.post::<_, ()>("/v1/resume", &ResumeBody::default()).await?;
    Ok(see("/"))
}

/// `POST /logout`
pub(super) async fn logout(State(page): Shared, headers: HeaderMap, _form: Form) -> Reply {
    if let Some(cookie) = guard::cookie(page.port, &headers) {
        page.doors.leave(cookie);
    }
    let mut answer = see("/");
    guard::set_cookie(&mut answer, page.port, "", Duration::ZERO);
    Ok(answer)
}
