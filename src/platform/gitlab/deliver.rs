//! Answers: first what else they do, then the text; and whether it arrived.

use serde_json::{Map, Value, json};

use super::client::Client;
use super::map::Handle;
use super::outgoing::{self, NOTE_CHARS_MAX};
use super::wire::{Person, Place, Sort};
use crate::model::class::{ErrorClass, PortError};
use crate::model::effect::Effect;
use crate::model::marker;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;
use crate::platform::answer::{CLOCKS, LAG, handle, permanent};
use crate::platform::json;

/// Pages of notes looked through for an answer that may have arrived.
const PAGES_MAX: u32 = 5;

/// Notes on one of them.
const PAGE_LEN: usize = 100;

/// The bytes of an answer. An empty text is none: only the effects are wanted.
pub fn prepare(action: &OutboundAction, mentions: &[String]) -> Result<Payload, PortError> {
    let handle: Handle = handle(action)?;
    for effect in &action.envelope.effects {
        match effect.verb.as_str() {
            "label" | "unlabel" if effect.value.contains(',') => {
                return Err(permanent("GitLab takes a comma for the end of a label"));
            }
            "label" | "unlabel" | "assign" if !effect.value.is_empty() => {}
            "close" | "reopen" if effect.value.is_empty() => {}
            _ => return Err(permanent(format!("`{effect}` is nothing that can be done here"))),
        }
    }
    let payload = |bytes| Ok(Payload { marker: action.key.clone(), bytes });
    if action.body.trim().is_empty() {
        return match action.envelope.effects.as_slice() {
            [] => Err(permanent("it is empty")),
            _ => payload(Vec::new()),
        };
    }
    let people: Vec<String> = handle.people.iter().chain(mentions).cloned().collect();
    let note = outgoing::note(&action.body, &action.key, &people);
    if note.chars().count() > NOTE_CHARS_MAX {
        return Err(permanent(format!("it is longer than {NOTE_CHARS_MAX} characters, GitLab's bound")));
    }
    let mut body = Map::from_iter([("body".to_owned(), Value::String(note))]);
    // A thread passes on what its first note is.
    if handle.internal && handle.thread.is_none() {
        body.insert("internal".to_owned(), Value::Bool(true));
    }
    payload(Value::Object(body).to_string().into_bytes())
}

/// Does what the answer does, then writes it, once.
pub async fn deliver(
    client: &Client,
    action: &OutboundAction,
    payload: &Payload,
) -> Result<Receipt, PortError> {
    let handle: Handle = handle(action)?;
    // A token may have been replaced by another account's: nothing is written in a name that was not approved.
    client.me().await?;
    let effects = &action.envelope.effects;
    if !effects.is_empty() {
        bring_about(client, handle.place, effects).await?;
    }
    if payload.bytes.is_empty() {
        let done = effects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let evidence = format!("{done}: {}", action.envelope.place);
        return Ok(Receipt { remote_id: payload.marker.clone(), evidence });
    }
    match client.write(handle.place, handle.thread.as_deref(), &payload.bytes).await? {
        Some(id) => Ok(receipt(action, id, "written")),
        None => {
            let why = "GitLab took it and named no note";
            Err(PortError::caused(ErrorClass::Uncertain, "write the note", why))
        }
    }
}

fn receipt(action: &OutboundAction, note: u64, how: &str) -> Receipt {
    let evidence = format!("note {note} {how}: {}", action.envelope.place);
    Receipt { remote_id: format!("note:{note}"), evidence }
}

/// Brings the effects about in one change, leaving out what is so already.
async fn bring_about(client: &Client, place: Place, effects: &[Effect]) -> Result<(), PortError> {
    let target = client.target(place).await?;
    let mut assigned = Vec::new();
    for effect in effects.iter().filter(|effect| effect.verb == "assign") {
        let name = effect.value.trim_start_matches('@');
        let person = client.user(name).await?;
        assigned.push(person.ok_or_else(|| permanent(format!("there is no user {name}")))?);
    }
    let changes = changes(place.sort, &target, effects, &assigned)?;
    if changes.is_empty() {
        return Ok(());
    }
    client.change(place, &Value::Object(changes)).await
}

/// The body of the change. Pure.
fn changes(
    sort: Sort,
    target: &Value,
    effects: &[Effect],
    assigned: &[Person],
) -> Result<Map<String, Value>, PortError> {
    let mut changes = Map::new();
    let labels: Vec<&str> = json::list(target, "/labels").iter().filter_map(Value::as_str).collect();
    let named = |verb: &str, is_set: bool| {
        let names = effects.iter().filter(|effect| effect.verb == verb).map(|effect| effect.value.as_str());
        names.filter(|name| labels.contains(name) == is_set).collect::<Vec<_>>().join(",")
    };
    for (key, names) in [("add_labels", named("label", false)), ("remove_labels", named("unlabel", true))] {
        if !names.is_empty() {
            changes.insert(key.to_owned(), Value::String(names));
        }
    }
    let had = json::list(target, "/assignees").iter().filter_map(|person| json::number(person, "/id"));
    let had: Vec<u64> = had.collect();
    let new: Vec<u64> =
        assigned.iter().filter_map(|person| person.id).filter(|id| !had.contains(id)).collect();
    if !new.is_empty() {
        // Where only one is allowed the server takes the first.
        let ids: Vec<u64> = new.into_iter().chain(had).collect();
        changes.insert("assignee_ids".to_owned(), json!(ids));
    }
    let state = json::text_or_empty(target, "/state");
    let last = effects.iter().rev().find(|effect| matches!(effect.verb.as_str(), "close" | "reopen"));
    let event = match (last.map(|effect| effect.verb.as_str()), state) {
        (Some("close"), "closed") | (Some("reopen"), "opened") | (None, _) => None,
        (Some(verb), "merged" | "locked") => {
            return Err(permanent(format!("the {} is {state}: it cannot be told to {verb}", sort.word())));
        }
        (verb, _) => verb,
    };
    if let Some(event) = event {
        changes.insert("state_event".to_owned(), Value::String(event.to_owned()));
    }
    Ok(changes)
}

/// Looks for the answer among the newest notes of ours.
pub async fn confirm(
    client: &Client,
    action: &OutboundAction,
    payload: &Payload,
    since: Timestamp,
) -> Result<Confirmation, PortError> {
    // Effects alone may be brought about once more.
    if payload.bytes.is_empty() {
        return Ok(Confirmation::NotSent);
    }
    let (handle, me) = (handle::<Handle>(action)?, client.me().await?);
    for page in 1..=PAGES_MAX {
        let now = client.now();
        let found = client.notes(handle.place, "created_at", PAGE_LEN, page).await?;
        let ours = found.notes.iter().find(|note| {
            marker::own_key(&note.body) == Some(payload.marker.as_str())
                && (note.author.id.is_none() || note.author.id == me.id)
        });
        if let Some(note) = ours {
            return Ok(Confirmation::Sent(receipt(action, note.id, "found")));
        }
        // The notes are dated by the server's clock.
        let ahead = found.server_now.map_or(0, |server| server.0.saturating_sub(now.0));
        let since = Timestamp(since.0.saturating_add(ahead)).minus(CLOCKS);
        let older = found.notes.last().and_then(|note| note.created_at).is_some_and(|at| at < since);
        if older || !found.full {
            return Ok(absent(client.now(), action.sending_at));
        }
    }
    Ok(Confirmation::CannotTell)
}

fn absent(now: Timestamp, sending_at: Option<Timestamp>) -> Confirmation {
    let long_ago = sending_at.is_none_or(|at| now.since(at) >= LAG);
    if long_ago { Confirmation::NotSent } else { Confirmation::AskAgain }
}

/// The to-do item that the answer was to.
pub fn todo(action: &OutboundAction) -> Option<u64> {
    Some(handle::<Handle>(action).ok()?.todo)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: Value, effects: &[&str], expected: Value) {
        let effects: Vec<Effect> = effects.iter().map(|text| Effect::parse(text)).collect();
        let kim = Person { id: Some(5), ..Person::default() };
        let changes = changes(Sort::Issue, &target, &effects, &[kim]).map(Value::Object);
        assert_eq!(changes.unwrap_or_else(|error| json!(crate::model::class::chain(&error))), expected);
    }

    #[test]
    fn only_what_is_not_so_already() {
        let target = json!({"state": "opened", "labels": ["bug"], "assignees": [{"id": 5}]});
        check(target.clone(), &["label: bug", "unlabel: ui", "reopen"], json!({}));
        check(
            target,
            &["label: ui", "label: api v2", "unlabel: bug", "close"],
            json!({"add_labels": "ui,api v2", "remove_labels": "bug", "state_event": "close"}),
        );
        check(json!({"assignees": [{"id": 9}]}), &[], json!({"assignee_ids": [5, 9]}));
        check(
            json!({"state": "merged", "assignees": [{"id": 5}]}),
            &["close"],
            json!("make the answer: the issue is merged: it cannot be told to close"),
        );
    }
}
