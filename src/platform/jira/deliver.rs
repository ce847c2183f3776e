//! Answers: first what else they do, then the text; and whether it arrived.

use serde_json::{Map, Value, json};

use super::client::Client;
use super::map::Handle;
use super::wire::{Comment, PROPERTY, Person};
use super::{adf, markdown, wiki};
use crate::model::class::{ErrorClass, PortError};
use crate::model::effect::Effect;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::visible;
use crate::model::time::Timestamp;
use crate::platform::answer::{CLOCKS, LAG, handle, permanent};
use crate::platform::json;

/// Jira's bound of a comment, characters, as far as is known.
const COMMENT_CHARS_MAX: usize = 32_767;

/// Comments on a page while an answer is looked for.
const PAGE_LEN: usize = 100;

/// Pages looked through.
const PAGES_MAX: usize = 5;

/// The bytes of an answer. An empty text is none: only the effects are wanted.
pub fn prepare(action: &OutboundAction, cloud: bool) -> Result<Payload, PortError> {
    let handle: Handle = handle(action)?;
    for effect in &action.envelope.effects {
        match effect.verb.as_str() {
            "label" | "unlabel" if effect.value.contains(char::is_whitespace) => {
                return Err(permanent("a label of Jira holds no blanks"));
            }
            "label" | "unlabel" | "assign" | "transition" if !effect.value.is_empty() => {}
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
    let text = visible(&action.body);
    let blocks = markdown::read(&text);
    let mut body = Map::new();
    let written = if cloud {
        let mark = json!([{ "key": PROPERTY, "value": { "id": action.key } }]);
        body.insert("properties".to_owned(), mark);
        body.insert("body".to_owned(), adf::document(&blocks));
        text
    } else {
        let text = wiki::stamp(&wiki::text(&blocks), &action.key);
        body.insert("body".to_owned(), Value::String(text.clone()));
        text
    };
    if written.chars().count() > COMMENT_CHARS_MAX {
        return Err(permanent(format!("it is longer than {COMMENT_CHARS_MAX} characters, Jira's bound")));
    }
    if let Some(parent) = handle.parent {
        body.insert("parentId".to_owned(), json!(parent));
    }
    if let Some(visibility) = handle.visibility {
        body.insert("visibility".to_owned(), visibility);
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
    let effects = &action.envelope.effects;
    if !effects.is_empty() {
        bring_about(client, &handle, effects, action.sending_at).await?;
    }
    if payload.bytes.is_empty() {
        let done = effects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let evidence = format!("{done}: {}", action.envelope.place);
        return Ok(Receipt { remote_id: payload.marker.clone(), evidence });
    }
    match client.comment(handle.issue, &payload.bytes).await? {
        Some(id) => Ok(receipt(action, id, "written")),
        None => {
            let why = "Jira took it and named no comment";
            Err(PortError::caused(ErrorClass::Uncertain, "write the comment", why))
        }
    }
}

fn receipt(action: &OutboundAction, comment: u64, how: &str) -> Receipt {
    let evidence = format!("comment {comment} {how}: {}", action.envelope.place);
    Receipt { remote_id: format!("comment:{comment}"), evidence }
}

/// Brings the effects about, leaving out what is so already.
async fn bring_about(
    client: &Client,
    handle: &Handle,
    effects: &[Effect],
    since: Option<Timestamp>,
) -> Result<(), PortError> {
    let issue = client.issue(handle.issue).await?;
    let labels = label_changes(&issue, effects);
    if !labels.is_empty() {
        client.labels(handle.issue, &labels).await?;
    }
    for effect in effects {
        match effect.verb.as_str() {
            "assign" => assign(client, handle, &issue, &effect.value).await?,
            "transition" => transition(client, handle, &issue, &effect.value, since).await?,
            _ => {}
        }
    }
    Ok(())
}

fn label_changes(issue: &Value, effects: &[Effect]) -> Vec<Value> {
    let set: Vec<&str> = json::list(issue, "/fields/labels").iter().filter_map(Value::as_str).collect();
    let change = |effect: &Effect| match (effect.verb.as_str(), set.contains(&effect.value.as_str())) {
        ("label", false) => Some(json!({ "add": effect.value })),
        ("unlabel", true) => Some(json!({ "remove": effect.value })),
        _ => None,
    };
    effects.iter().filter_map(change).collect()
}

async fn assign(client: &Client, handle: &Handle, issue: &Value, name: &str) -> Result<(), PortError> {
    let name = name.trim_start_matches('@');
    let person = if name == "me" {
        client.me().await?.person
    } else {
        let found = client.assignable(&handle.key, name).await?;
        one_of(&found, name)?
    };
    let now = issue.pointer("/fields/assignee").map(Person::read).unwrap_or_default();
    if now.is(&person) { Ok(()) } else { client.assign(handle.issue, &person).await }
}

/// The one who is meant. A search also finds what only begins like the name.
fn one_of(found: &[(Person, String)], name: &str) -> Result<Person, PortError> {
    let meant = |(person, address): &&(Person, String)| {
        let names = [&person.name, &person.login, &person.id, address];
        names.iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let all: Vec<&Person> = found.iter().filter(meant).map(|(person, _)| person).collect();
    match all.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(permanent(format!("there is nobody called {name} to whom the issue can be assigned"))),
        _ => Err(permanent(format!("several people are called {name}; name the account id"))),
    }
}

async fn transition(
    client: &Client,
    handle: &Handle,
    issue: &Value,
    name: &str,
    since: Option<Timestamp>,
) -> Result<(), PortError> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    let status = json::text_or_empty(issue, "/fields/status/name");
    if same(status) {
        return Ok(());
    }
    let ways = client.transitions(handle.issue).await?;
    let by_name = ways.iter().find(|(_, way, _)| same(way));
    if let Some((id, _, to)) = by_name.or_else(|| ways.iter().find(|(_, _, to)| same(to))) {
        // A way from everywhere to everywhere also leads to where it is.
        let there = to.eq_ignore_ascii_case(status);
        return if there { Ok(()) } else { client.transition(handle.issue, id).await };
    }
    // After a lost answer the way is behind us, and no longer offered.
    let me = client.me().await?;
    if since.is_some_and(|since| moved_since(issue, &me.person, client.on_its_clock(since))) {
        return Ok(());
    }
    let ways: Vec<&str> = ways.iter().map(|(_, way, _)| way.as_str()).collect();
    let offered = if ways.is_empty() { "none".to_owned() } else { ways.join(", ") };
    Err(permanent(format!("there is no transition {name} from {status}; there is: {offered}")))
}

/// We changed the status since then.
fn moved_since(issue: &Value, me: &Person, since: Timestamp) -> bool {
    let read = super::wire::Issue::read(issue).unwrap_or_default();
    let since = since.minus(CLOCKS);
    read.changes.iter().any(|change| {
        change.field == "status" && me.is(&change.author) && change.at.is_some_and(|at| at >= since)
    })
}

/// Looks for the answer among the newest comments.
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
    // Comments are dated by the server's clock.
    let border = client.on_its_clock(since).minus(CLOCKS);
    let sent: Value = serde_json::from_slice(&payload.bytes).unwrap_or_default();
    let text = adf::to_text(sent.pointer("/body").unwrap_or(&Value::Null)).text;
    for page in 0..PAGES_MAX {
        let (comments, more) = client.comments(handle.issue, PAGE_LEN, page * PAGE_LEN).await?;
        let found =
            comments.iter().find(|comment| is_ours(comment, &me.person, &payload.marker, &text, border));
        if let Some(comment) = found {
            return Ok(Confirmation::Sent(receipt(action, comment.id, "found")));
        }
        let older = comments.last().and_then(|comment| comment.created).is_some_and(|at| at < border);
        if older || !more {
            let long_ago = client.now().since(since) >= LAG;
            return Ok(if long_ago { Confirmation::NotSent } else { Confirmation::AskAgain });
        }
    }
    Ok(Confirmation::CannotTell)
}

/// By the mark; and should a server keep no properties, by our own words written since.
fn is_ours(comment: &Comment, me: &Person, key: &str, text: &str, border: Timestamp) -> bool {
    let by_us = me.is(&comment.author) || comment.author.id.is_empty();
    let same_words = || {
        comment.mark.is_none()
            && me.is(&comment.author)
            && comment.created.is_some_and(|at| at >= border)
            && adf::to_text(&comment.body).text == text
    };
    by_us && (comment.mark.as_deref() == Some(key) || same_words())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_can_be_meant() {
        let person = |id: &str, name: &str| {
            (Person { id: id.into(), name: name.into(), ..Person::default() }, format!("{id}@example.org"))
        };
        let found =
            [person("a", "Kim Lee"), person("b", "Kim Leeds"), person("c", "Pat"), person("d", "Pat")];
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(one_of(&found, name).ok().map(|person| person.id).as_deref(), expected, "{name}");
        };
        check("kim lee", Some("a"));
        check("b@example.org", Some("b"));
        check("Pat", None);
        check("d", Some("d"));
        check("Kim", None);
    }

    #[test]
    fn labels_that_are_set_stay() {
        let issue = json!({"fields": {"labels": ["bug"]}});
        let effects: Vec<Effect> = ["label: bug", "label: ui", "unlabel: bug", "unlabel: x"]
            .iter()
            .map(|text| Effect::parse(text))
            .collect();
        assert_eq!(label_changes(&issue, &effects), [json!({"add": "ui"}), json!({"remove": "bug"})]);
    }
}
