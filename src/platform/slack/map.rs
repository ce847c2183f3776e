//! Messages to items. Pure.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::memory::{Channel, Me};
use super::text::plain;
use super::ts::Ts;
use super::wire::Message;
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Attachment, Cut, Disposition, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::text::{cut, digest, one_line};
use crate::platform::hygiene;

/// Where a message was found, and what is known around it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub me: &'a Me,
    pub channel: &'a Channel,
    /// Names of users by id.
    pub names: &'a HashMap<String, String>,
}

/// A message.
#[must_use]
pub fn item(value: &Value, view: View<'_>) -> Item {
    let read = serde_json::from_value::<Message>(value.clone()).ok();
    let Some((message, ts)) = read.and_then(|message| {
        let ts = message.ts.as_deref()?.parse::<Ts>().ok()?;
        Some((message, ts))
    }) else {
        return unreadable(value, view);
    };
    let Channel { id, .. } = view.channel;
    let key = format!("{id}:{ts}");
    let root =
        message.thread_ts.as_deref().and_then(|text| text.parse::<Ts>().ok()).filter(|root| *root != ts);
    let text = plain(&readable(&message), view.names);
    let (text, hidden) = hygiene::hidden_in_text(&text);
    let revision = digest(&[text.as_bytes()]).get(..16).unwrap_or_default().to_owned();
    let (body, cut_to) = Cut::to_fit(text.trim().to_owned());
    let gone = message.subtype.as_deref() == Some("tombstone");
    let mut threads = vec![format!("{id}:{}", root.unwrap_or(ts))];
    if view.channel.is_direct() && root.is_none() {
        threads.push(format!("direct:{id}"));
    }
    let identities = std::iter::once(key.clone())
        .chain(message.client_msg_id.as_ref().map(|sent| format!("msg:{}", one_line(sent, 100))))
        .collect();
    let mut item = Item {
        revision,
        identities,
        threads,
        kind: if view.channel.is_direct() { "direct message" } else { "message" }.to_owned(),
        title: title(&body, view.channel),
        author: author(&message, view),
        at: Some(ts.moment()),
        url: Some(permalink(view.me, id, ts, root)),
        body,
        hidden,
        attachments: attachments(&message),
        cut: cut_to,
        labels: vec![view.channel.shown()],
        reply: reply(view, ts, root),
        offers: vec![Offer::text(
            "react",
            "React to the message with an emoji",
            "the emoji's name, such as eyes",
        )],
        disposition: disposition(&message, view.me),
        warnings: Vec::new(),
        key,
    };
    if gone {
        deleted(&mut item);
    }
    item
}

/// A message that is not there any more: whoever knows it hears of it, nobody else does.
pub fn deleted(item: &mut Item) {
    item.revision = "deleted".to_owned();
    item.warnings.push("it was deleted".to_owned());
    item.reply = ReplyWay::Nowhere { reason: "the message was deleted".to_owned() };
    item.offers.clear();
    item.disposition = Disposition::Baseline;
}

fn disposition(message: &Message, me: &Me) -> Disposition {
    let by = |id: &Option<String>, ours: &str| !ours.is_empty() && id.as_deref() == Some(ours);
    if by(&message.user, &me.user) || by(&message.bot_id, &me.bot) {
        Disposition::Own
    } else if message.bot_id.is_some() {
        Disposition::NoReply { reason: "a bot wrote it".to_owned() }
    } else {
        Disposition::Work
    }
}

fn author(message: &Message, view: View<'_>) -> Option<Party> {
    let address = message.user.clone().or_else(|| message.bot_id.clone()).unwrap_or_default();
    let bot = message.bot_profile.as_ref().and_then(|profile| profile.name.clone());
    let name = view.names.get(&address).cloned().or(bot).or_else(|| message.username.clone());
    let party = Party { name: one_line(&name.unwrap_or_default(), 256), address: one_line(&address, 256) };
    (party != Party::default()).then_some(party)
}

/// Where an answer appears: in the thread; in a direct conversation below, unless it is in a thread already.
fn reply(view: View<'_>, ts: Ts, root: Option<Ts>) -> ReplyWay {
    let parent = root.or_else(|| (!view.channel.is_direct()).then_some(ts));
    let mut thread = json!({ "channel": view.channel.id, "ts": ts.to_string() });
    if let (Some(parent), Some(fields)) = (parent, thread.as_object_mut()) {
        fields.insert("thread_ts".to_owned(), json!(parent.to_string()));
    }
    let what = if parent.is_some() { "a reply in a thread of" } else { "a message to" };
    ReplyWay::To(Envelope {
        from: view.me.name.clone(),
        place: format!("{what} {} in Slack ({})", view.channel.shown(), view.me.workspace),
        thread,
        ..Envelope::default()
    })
}

fn permalink(me: &Me, channel: &str, ts: Ts, root: Option<Ts>) -> String {
    let number = ts.to_string().replace('.', "");
    let thread = root.map(|root| format!("?thread_ts={root}&cid={channel}")).unwrap_or_default();
    format!("{}/archives/{channel}/p{number}{thread}", me.url.trim_end_matches('/'))
}

fn title(body: &str, channel: &Channel) -> String {
    let line = one_line(cut(body, 2000), 80);
    if line.is_empty() { format!("A message in {}", channel.shown()) } else { line }
}

/// The text; of apps that send none, the texts of their blocks and attachments.
fn readable(message: &Message) -> String {
    let mut text = message.text.clone().unwrap_or_default();
    if text.trim().is_empty() {
        let mut parts = Vec::new();
        for block in message.blocks.iter().flatten() {
            texts(block, 0, &mut parts);
        }
        text = parts.join("\n");
    }
    for attachment in message.attachments.iter().flatten().take(limits::ITEM_LIST_LEN_MAX) {
        let part = |name: &str| attachment.get(name).and_then(Value::as_str).unwrap_or_default();
        let said = [part("pretext"), part("title"), part("text")].join("\n");
        let said = if said.trim().is_empty() { part("fallback").to_owned() } else { said };
        text.push_str(&format!("\n\n{}", said.trim()));
    }
    text
}

/// Blocks nest a few levels deep; what is deeper is no text.
const BLOCK_DEPTH_MAX: usize = 12;

fn texts(block: &Value, depth: usize, parts: &mut Vec<String>) {
    if depth > BLOCK_DEPTH_MAX || parts.len() > 1000 {
        return;
    }
    match block {
        Value::Array(list) => list.iter().for_each(|block| texts(block, depth + 1, parts)),
        Value::Object(fields) => {
            match fields.get("text") {
                Some(Value::String(text)) => parts.push(text.clone()),
                Some(nested) => texts(nested, depth + 1, parts),
                None => {}
            }
            for name in ["elements", "fields"] {
                if let Some(nested) = fields.get(name) {
                    texts(nested, depth + 1, parts);
                }
            }
        }
        _ => {}
    }
}

fn attachments(message: &Message) -> Vec<Attachment> {
    let files = message.files.iter().flatten().take(limits::ITEM_LIST_LEN_MAX);
    files
        .map(|file| {
            let part = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
            Attachment {
                name: one_line(part("name"), 255),
                media_type: one_line(part("mimetype"), 128),
                size_bytes: file.get("size").and_then(Value::as_u64).unwrap_or(0),
            }
        })
        .collect()
}

/// Kept for the user with what was sent, so that nothing is lost.
fn unreadable(value: &Value, view: View<'_>) -> Item {
    let raw = value.to_string();
    let mark = digest(&[raw.as_bytes()]).get(..16).unwrap_or_default().to_owned();
    let (body, hidden) = hygiene::hidden_in_text(&raw);
    let (body, cut) = Cut::to_fit(body);
    Item {
        key: format!("unreadable:{mark}"),
        revision: mark,
        identities: Vec::new(),
        threads: Vec::new(),
        kind: "message".to_owned(),
        title: format!("A message in {} that could not be read", view.channel.shown()),
        author: None,
        at: None,
        url: None,
        body,
        hidden,
        attachments: Vec::new(),
        cut,
        labels: vec![view.channel.shown()],
        reply: ReplyWay::Nowhere { reason: "it could not be read".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Quarantined {
            reason: "Slack sent a message in a shape that is not known".into(),
        },
        warnings: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
