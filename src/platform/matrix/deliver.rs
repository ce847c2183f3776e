//! Replies and reactions. The action's key is the transaction id: the server takes the same transaction of the same
//! device once. Since it forgets transactions after a time of its own choosing, and a new token may be of another
//! device, a lost answer is settled by looking for the event, never by sending on trust.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::{Client, MessagesAsk, own_filter};
use super::event::{Event, text};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::{one_line, short_size, visible};
use crate::model::time::Timestamp;

/// The field of our events that holds the action's key; other devices of the account see it too.
const KEY_FIELD: &str = "workagent.key";

/// Longest reaction: an emoji with all its modifiers.
const REACTION_BYTES_MAX: usize = 64;

/// The server's clock may be so far behind ours when we look for what we sent.
const SKEW_MS: i64 = 3_600_000;

/// What goes out, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct Outgoing {
    room: String,
    event: String,
    /// `None`: reactions only.
    content: Option<Value>,
    reactions: Vec<String>,
}

fn refused(why: impl Into<String>) -> PortError {
    PortError::caused(ErrorClass::Permanent, "make the Matrix message", why.into())
}

/// The bytes of a reply. Pure.
pub fn prepare(action: &OutboundAction) -> Result<Payload, PortError> {
    let envelope = &action.envelope;
    let [room] = envelope.to.as_slice() else { return Err(refused("a message goes to one room")) };
    if !room.starts_with('!') {
        return Err(refused(format!("{} is no room id", one_line(room, 255))));
    }
    let handle = |name: &str| text(envelope.thread.get(name));
    let Some(event) = handle("event") else { return Err(refused("the reply names no message to answer")) };
    let mut reactions = Vec::new();
    for effect in &envelope.effects {
        let value = effect.value.trim();
        if effect.verb != "react" {
            return Err(refused(format!("`{effect}` is nothing that can be done to a message")));
        }
        if value.is_empty()
            || value.len() > REACTION_BYTES_MAX
            || value.chars().any(|c| c.is_ascii_alphabetic())
        {
            return Err(refused(format!("`{effect}`: a reaction is one emoji")));
        }
        reactions.push(value.to_owned());
    }
    let body = visible(&action.body);
    let body = body.trim();
    let content = (!body.is_empty()).then(|| {
        let mut content = json!({
            "msgtype": "m.text",
            "body": neutral(body),
            "m.mentions": mentions(handle("sender")),
            "m.relates_to": relation(event, handle("thread")),
        });
        if let Some(content) = content.as_object_mut() {
            content.insert(KEY_FIELD.to_owned(), json!(action.key));
        }
        content
    });
    if content.is_none() && reactions.is_empty() {
        return Err(refused("it is empty"));
    }
    let size = content.as_ref().map_or(0, |content| content.to_string().len());
    if size > limits::MATRIX_CONTENT_BYTES_MAX {
        let most = short_size(limits::MATRIX_CONTENT_BYTES_MAX as u64);
        return Err(refused(format!("{} are more than a message may have, {most}", short_size(size as u64))));
    }
    let outgoing = Outgoing { room: room.clone(), event: event.to_owned(), content, reactions };
    let bytes = serde_json::to_vec(&outgoing)
        .map_err(|error| PortError::caused(ErrorClass::Bug, "write the Matrix message", error))?;
    Ok(Payload { marker: action.key.clone(), bytes })
}

/// Whom it speaks to: the one it answers. Saying so keeps names in the text from pinging anybody else.
fn mentions(sender: Option<&str>) -> Value {
    match sender.filter(|sender| sender.starts_with('@')) {
        Some(sender) => json!({"user_ids": [sender]}),
        None => json!({}),
    }
}

fn relation(event: &str, thread: Option<&str>) -> Value {
    match thread {
        Some(root) => json!({
            "rel_type": "m.thread",
            "event_id": root,
            "is_falling_back": false,
            "m.in_reply_to": {"event_id": event},
        }),
        None => json!({"m.in_reply_to": {"event_id": event}}),
    }
}

/// Servers and clients that do not know `m.mentions` ping a whole room at the word alone.
fn neutral(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('@') {
        let (before, from) = rest.split_at(at + 1);
        out.push_str(before);
        if from.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("room")) {
            out.push('\u{200b}');
        }
        rest = from;
    }
    out + rest
}

fn read(payload: &Payload) -> Result<Outgoing, PortError> {
    serde_json::from_slice(&payload.bytes)
        .map_err(|error| PortError::caused(ErrorClass::Bug, "read the stored Matrix message", error))
}

/// Sends: reactions, then the text. All of it may be repeated without harm while the server remembers.
pub async fn deliver(
    client: &Client,
    action: &OutboundAction,
    payload: &Payload,
) -> Result<Receipt, PortError> {
    let outgoing = read(payload)?;
    // Encryption may have been switched on since the message was read: what is said there is not for the server.
    if client.is_encrypted(&outgoing.room).await? {
        return Err(PortError::caused(
            ErrorClass::Permanent,
            "send to the Matrix room",
            "it is encrypted now; answer in your Matrix client",
        ));
    }
    let mut last = String::new();
    for (number, key) in outgoing.reactions.iter().enumerate() {
        let relates = json!({"rel_type": "m.annotation", "event_id": outgoing.event, "key": key});
        let transaction = format!("{}-react-{number}", action.key);
        let content = json!({"m.relates_to": relates});
        last = match client.send(&outgoing.room, "m.reaction", &transaction, &content).await {
            Ok(id) => id,
            Err(error) if is_duplicate(&error) => outgoing.event.clone(),
            Err(error) => return Err(error),
        };
    }
    if let Some(content) = &outgoing.content {
        last = client.send(&outgoing.room, "m.room.message", &action.key, content).await?;
    }
    Ok(Receipt { evidence: format!("the server took it as {last}"), remote_id: last })
}

/// We reacted like this before.
fn is_duplicate(error: &PortError) -> bool {
    error.class == ErrorClass::Permanent
        && error.source.as_ref().is_some_and(|cause| cause.to_string().contains("M_DUPLICATE_ANNOTATION"))
}

/// Looks for the event among our own in the room.
pub async fn confirm(
    client: &Client,
    me: &str,
    action: &OutboundAction,
    payload: &Payload,
    since: Timestamp,
) -> Result<Confirmation, PortError> {
    let outgoing = read(payload)?;
    if outgoing.content.is_none() {
        // Reactions are taken once, whoever remembers what: the server knows them by message and emoji.
        return Ok(Confirmation::NotSent);
    }
    let earliest = since.min(action.approved_at).0.saturating_sub(SKEW_MS);
    let filter = own_filter(me);
    let mut from: Option<String> = None;
    for _ in 0..limits::MATRIX_CONFIRM_PAGES_MAX {
        let ask = MessagesAsk { room: &outgoing.room, from: from.as_deref(), to: None, filter: &filter };
        let page = client.messages(ask).await?;
        let chunk = page.get("chunk").and_then(Value::as_array);
        for event in chunk.into_iter().flatten().filter_map(Event::read) {
            let ours = event.transaction.as_deref() == Some(&action.key)
                || event.text(KEY_FIELD) == Some(&action.key);
            if ours && event.sender == me {
                let evidence = format!("found in the room as {}", event.id);
                return Ok(Confirmation::Sent(Receipt { remote_id: event.id, evidence }));
            }
            if event.at < earliest {
                return Ok(Confirmation::NotSent);
            }
        }
        let end = text(page.get("end"));
        if end.is_none() || end == from.as_deref() {
            return Ok(Confirmation::NotSent);
        }
        from = end.map(str::to_owned);
    }
    Ok(Confirmation::CannotTell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_is_pinged() {
        assert_eq!(neutral("hi @room and @Room, @ann @"), "hi @\u{200b}room and @\u{200b}Room, @ann @");
        assert_eq!(mentions(Some("@ann:x")), json!({"user_ids": ["@ann:x"]}));
        assert_eq!(mentions(Some("ann")), json!({}));
    }

    #[test]
    fn where_it_appears() {
        assert_eq!(relation("$e", None), json!({"m.in_reply_to": {"event_id": "$e"}}));
        assert_eq!(relation("$e", Some("$r")).pointer("/event_id"), Some(&json!("$r")));
    }
}
