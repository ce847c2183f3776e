//! A message of ours: its bytes, its way, and the look whether it arrived.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SlackConnector;
use super::text::defused;
use super::ts::Ts;
use super::wire::listed;
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::text::visible;
use crate::model::time::Timestamp;
use crate::model::uuid::uuid_of;

/// Slack's limit for `markdown_text`, in characters.
const TEXT_CHARS_MAX: usize = 12_000;

/// The event type of the marker. Every app in the channel can read it; it holds no secret.
const EVENT_TYPE: &str = "workagent_action";

/// Looked for from so long before the first byte may have left: clocks differ.
const LOOK_BACK: u64 = 60;

/// Pages looked through for our message; more in a thread since it was sent cannot be told.
const LOOK_PAGES_MAX: usize = 5;

/// A request whose answer was lost may still be on its way: before this, "not there" is not believed.
const SETTLED: Duration = Duration::from_secs(30);

/// Where an answer goes, as it is kept in an envelope.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    channel: String,
    /// The message that is answered.
    #[serde(default)]
    ts: Option<Ts>,
    /// The thread's first message.
    #[serde(default)]
    thread_ts: Option<Ts>,
}

fn place(action: &OutboundAction) -> Option<Place> {
    serde_json::from_value(action.envelope.thread.clone()).ok()
}

/// The arguments of `chat.postMessage`; `null` where only effects were approved.
pub(super) fn prepare(action: &OutboundAction) -> Result<Payload, PortError> {
    let refuse = |why: &str| Err(PortError::caused(ErrorClass::Permanent, "write a message for Slack", why));
    let Some(place) = place(action) else { return refuse("the draft does not say where it belongs") };
    let text = defused(visible(&action.body).trim());
    let chars = text.chars().count();
    if chars > TEXT_CHARS_MAX {
        return refuse(&format!(
            "the text has {chars} characters, more than the {TEXT_CHARS_MAX} that Slack takes"
        ));
    }
    if text.is_empty() && action.envelope.effects.is_empty() {
        return refuse("there is neither text nor anything else to do");
    }
    if text.is_empty() {
        return Ok(Payload { marker: action.key.clone(), bytes: b"null".to_vec() });
    }
    let mut arguments = json!({
        "channel": place.channel,
        "markdown_text": text,
        "unfurl_links": false,
        "unfurl_media": false,
        // Help for a repeat within moments; not documented, so not relied on.
        "client_msg_id": uuid_of(&["slack message", &action.key]),
        "metadata": { "event_type": EVENT_TYPE, "event_payload": { "id": action.key } },
    });
    if let (Some(root), Some(fields)) = (place.thread_ts, arguments.as_object_mut()) {
        fields.insert("thread_ts".to_owned(), json!(root));
    }
    Ok(Payload { marker: action.key.clone(), bytes: arguments.to_string().into_bytes() })
}

impl SlackConnector {
    /// Reactions first, then the message.
    pub(super) async fn bring(
        &self,
        action: &OutboundAction,
        payload: &Payload,
    ) -> Result<Receipt, PortError> {
        let doing = "post a message in Slack";
        let arguments: Value = serde_json::from_slice(&payload.bytes)
            .map_err(|error| PortError::caused(ErrorClass::Bug, doing, error))?;
        // A token may have been replaced by one for another workspace.
        self.me().await?;
        self.react(action).await?;
        if arguments.is_null() {
            return Ok(Receipt { remote_id: action.key.clone(), evidence: "reacted".to_owned() });
        }
        let reply = self.client.post("chat.postMessage", &arguments, Effect::Write).await?;
        let part = |name: &str| reply.body.get(name).and_then(Value::as_str).unwrap_or_default();
        let (channel, ts) = (part("channel"), part("ts"));
        if ts.parse::<Ts>().is_err() {
            return Err(PortError::caused(ErrorClass::Uncertain, doing, "Slack did not say under which id"));
        }
        Ok(Receipt { remote_id: format!("{channel}:{ts}"), evidence: format!("message {ts} in {channel}") })
    }

    /// Emojis that are there already are what was wanted.
    async fn react(&self, action: &OutboundAction) -> Result<(), PortError> {
        for effect in &action.envelope.effects {
            let doing = "react in Slack";
            let place = place(action).and_then(|place| Some((place.channel, place.ts?)));
            let (Some((channel, ts)), "react") = (place, effect.verb.as_str()) else {
                let why = format!("{effect} cannot be done here");
                return Err(PortError::caused(ErrorClass::Permanent, doing, why));
            };
            let name = effect.value.trim().trim_matches(':');
            let arguments = json!({ "channel": channel, "timestamp": ts, "name": name });
            match self.client.post("reactions.add", &arguments, Effect::Write).await {
                Err(refusal) if refusal.word != "already_reacted" => return Err(refusal.error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Is it there?
    pub(super) async fn look(
        &self,
        action: &OutboundAction,
        payload: &Payload,
        since: Timestamp,
    ) -> Result<Confirmation, PortError> {
        let doing = "look for our message in Slack";
        if payload.bytes == b"null" {
            // Reactions may be set again without harm.
            return Ok(Confirmation::NotSent);
        }
        let Some(place) = place(action) else { return Ok(Confirmation::CannotTell) };
        // Messages are dated by Slack's clock: where that is behind ours, the search begins earlier.
        self.client.read("auth.test", &[]).await?;
        let since_there = self.client.api().on_its_clock(since).min(since);
        let (oldest, root) =
            (Ts::at(since_there).before(LOOK_BACK).to_string(), place.thread_ts.map(|ts| ts.to_string()));
        let method = if root.is_some() { "conversations.replies" } else { "conversations.history" };
        let mut cursor = String::new();
        for _ in 0..LOOK_PAGES_MAX {
            let mut arguments = vec![("channel", place.channel.as_str())];
            if let Some(root) = &root {
                arguments.push(("ts", root));
            }
            arguments.extend([
                ("oldest", oldest.as_str()),
                ("limit", "200"),
                ("include_all_metadata", "true"),
            ]);
            if !cursor.is_empty() {
                arguments.push(("cursor", &cursor));
            }
            let reply = self.client.read(method, &arguments).await?;
            let (list, next) = listed(&reply.body, "messages");
            if let Some(ts) = list.iter().find(|message| is_it(message, action)).and_then(|m| m.get("ts")) {
                let ts = ts.as_str().unwrap_or_default();
                let channel = &place.channel;
                return Ok(Confirmation::Sent(Receipt {
                    remote_id: format!("{channel}:{ts}"),
                    evidence: format!("found as message {ts} in {channel}"),
                }));
            }
            match next {
                Some(next) if next != cursor && !list.is_empty() => cursor = next,
                Some(_) => break,
                None => {
                    let settled = self.client.api().now().since(since) >= SETTLED;
                    return Ok(if settled { Confirmation::NotSent } else { Confirmation::AskAgain });
                }
            }
        }
        let why = format!("it is not among the newest messages of {LOOK_PAGES_MAX} pages");
        tracing::debug!("{doing}: {why}");
        Ok(Confirmation::CannotTell)
    }
}

/// By the marker, or by the id that we gave it.
fn is_it(message: &Value, action: &OutboundAction) -> bool {
    let text = |place: &str| message.pointer(place).and_then(Value::as_str);
    let marked = text("/metadata/event_type") == Some(EVENT_TYPE)
        && text("/metadata/event_payload/id") == Some(action.key.as_str());
    marked || text("/client_msg_id") == Some(uuid_of(&["slack message", &action.key]).as_str())
}
