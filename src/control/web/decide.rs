//! Decisions: each form becomes the same request that a terminal makes, by the name of `page`.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use serde_json::{Value, json};

use super::answer::{Trouble, see};
use super::form::Form;
use super::views::segment;
use super::{Reply, Shared, guard};
use crate::control::web::doors::Session;
use crate::control::wire::ReviewView;
use crate::model::draft::Draft;
use crate::model::effect::Effect;
use std::time::Duration;

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
            let body = json!({ "hash": hash, "by": BY, "stale_ok": form.get("stale_ok").is_some() });
            page.client.post::<Value, Value>(&format!("{base}/approve"), &body).await?;
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
            let body = json!({ "note": field("note"), "retry": retry, "by": BY });
            page.client.post::<Value, Value>(&format!("{base}/reject"), &body).await?;
            Ok(see(&after))
        }
        "defer" => {
            let hours =
                field("hours").parse::<u64>().ok().filter(|hours| (1..=DEFER_HOURS_MAX).contains(hours));
            let hours = hours.ok_or_else(|| Trouble::usage("defer for how many hours?"))?;
            let until = page.clock.now().plus(Duration::from_secs(hours * 3600));
            page.client
                .post::<Value, Value>(&format!("{base}/defer"), &json!({ "until": until, "by": BY }))
                .await?;
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
    let mut change = json!({ "hash": hash, "body": body, "by": BY });
    if !is_same && let Some(change) = change.as_object_mut() {
        let effects: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        change.insert("effects".to_owned(), json!(effects));
    }
    let draft: Draft = page.client.post(&format!("{base}/edit"), &change).await?;
    Ok(draft.hash)
}

/// `POST /case/{id}/retry`
pub(super) async fn retry(State(page): Shared, Path(id): Path<String>, _form: Form) -> Reply {
    let id = segment(&id);
    page.client.post::<Value, Value>(&format!("/v1/cases/{id}/retry"), &json!({ "by": BY })).await?;
    Ok(see(&format!("/case/{id}")))
}

/// `POST /case/{id}/dismiss`
pub(super) async fn dismiss(State(page): Shared, Path(id): Path<String>, form: Form) -> Reply {
    let id = segment(&id);
    let reason = form.get("note").filter(|note| !note.trim().is_empty()).unwrap_or("dismissed on the page");
    let body = json!({ "reason": reason, "by": BY });
    page.client.post::<Value, Value>(&format!("/v1/cases/{id}/dismiss"), &body).await?;
    Ok(see(&format!("/case/{id}")))
}

/// `POST /outbox/{id}/cancel`
pub(super) async fn cancel(State(page): Shared, Path(id): Path<String>, _form: Form) -> Reply {
    let path = format!("/v1/outbox/{}/cancel", segment(&id));
    page.client.post::<Value, Value>(&path, &json!({ "by": BY })).await?;
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
    page.client.post::<Value, Value>(&path, &json!({ "was_sent": was_sent, "by": BY })).await?;
    Ok(see("/outbox"))
}

/// `POST /outbox/{id}/dismiss`
pub(super) async fn give_up(State(page): Shared, Path(id): Path<String>, _form: Form) -> Reply {
    let path = format!("/v1/outbox/{}/dismiss", segment(&id));
    page.client.post::<Value, Value>(&path, &json!({ "by": BY })).await?;
    Ok(see("/outbox"))
}

/// `POST /units/{unit}/kick`
pub(super) async fn kick(State(page): Shared, Path(unit): Path<String>, _form: Form) -> Reply {
    page.client.post::<Value, Value>(&format!("/v1/kick/{}", segment(&unit)), &json!({})).await?;
    Ok(see("/units"))
}

/// `POST /pause`
pub(super) async fn pause(State(page): Shared, _form: Form) -> Reply {
    page.client.post::<Value, Value>("/v1/pause", &json!({})).await?;
    Ok(see("/"))
}

/// `POST /resume`
pub(super) async fn resume(State(page): Shared, _form: Form) -> Reply {
    page.client.post::<Value, Value>("/v1/resume", &json!({})).await?;
    Ok(see("/"))
}

/// `POST /logout`
pub(super) async fn logout(
    State(page): Shared,
    Extension(_session): Extension<Session>,
    headers: HeaderMap,
    _form: Form,
) -> Reply {
    if let Some(cookie) = guard::cookie(page.port, &headers) {
        page.doors.leave(cookie);
    }
    let mut answer = see("/");
    let gone = format!("workagent-{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", page.port);
    if let Ok(value) = HeaderValue::from_str(&gone) {
        answer.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(answer)
}
