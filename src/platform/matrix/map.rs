//! Messages to items. Pure.

use serde_json::{Value, json};

use super::event::{Event, Relation, text};
use super::judge::Reason;
use crate::model::draft::Envelope;
use crate::model::effect::Offer;
use crate::model::item::{Attachment, Cut, Disposition, HiddenPart, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::text::{clean, one_line};
use crate::model::time::Timestamp;
use crate::platform::hygiene;

/// What the map needs to know beside the event.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Our user id.
    pub me: &'a str,
    /// The room's id.
    pub room: &'a str,
    /// The room for people.
    pub title: &'a str,
    /// The conversation is between two: all of it is one thread.
    pub direct: bool,
    /// The sender's display name, if known.
    pub sender: Option<&'a str>,
}

/// The item of a message. `content` is what it says now: its own, or that of its newest replacement `edit`.
#[must_use]
pub fn message(
    event: &Event,
    content: &Value,
    edit: Option<&Event>,
    why: Option<Reason>,
    facts: Facts<'_>,
) -> Item {
    let relation = event.relation();
    let (shown, mut hidden) = readable(content, &relation);
    let kind = text(content.get("msgtype")).unwrap_or_default();
    let attachments: Vec<Attachment> = attachment(content, kind).into_iter().collect();
    let shown = if kind == "m.emote" { format!("* {shown}") } else { shown };
    let (body, cut) = Cut::to_fit(shown);
    hidden.truncate(limits::ITEM_LIST_LEN_MAX);
    let first = one_line(crate::model::text::cut(&body, 2000), 100);
    let title = if first.is_empty() { facts.title.to_owned() } else { format!("{}: {first}", facts.title) };
    let title = one_line(&title, limits::TITLE_BYTES_MAX);
    let disposition = if event.sender == facts.me {
        Disposition::Own
    } else if why.is_none() {
        Disposition::Baseline
    } else if body.is_empty() && attachments.is_empty() {
        Disposition::Quarantined { reason: "the message has no text that can be read".to_owned() }
    } else if kind == "m.notice" {
        Disposition::NoReply { reason: "a notice by a program; programs do not answer those".to_owned() }
    } else {
        Disposition::Work
    };
    Item {
        key: event.id.clone(),
        revision: edit.map_or_else(|| event.id.clone(), |edit| edit.id.clone()),
        identities: Vec::new(),
        threads: threads(event, &relation, facts),
        kind: "message".to_owned(),
        title,
        author: Some(Party {
            name: facts.sender.unwrap_or_default().to_owned(),
            address: one_line(&event.sender, 255),
        }),
        at: credible(event.at),
        url: Some(link(facts.room, &event.id)),
        body,
        hidden,
        attachments,
        cut,
        labels: why.into_iter().map(str::to_owned).collect(),
        reply: reply(event, &relation, facts),
        offers: vec![Offer::text("react", "React to the message", "an emoji")],
        disposition,
        warnings: Vec::new(),
    }
}

/// What is left of a message that was removed. Never makes a case; a case that has it learns of it.
#[must_use]
pub fn removed(target: &str, by: &Event, facts: Facts<'_>) -> Item {
    Item {
        key: target.to_owned(),
        revision: format!("removed {}", by.id),
        identities: Vec::new(),
        threads: vec![target.to_owned()],
        kind: "message".to_owned(),
        title: one_line(&format!("{}: (message removed)", facts.title), limits::TITLE_BYTES_MAX),
        author: None,
        at: None,
        url: Some(link(facts.room, target)),
        body: format!("(This message was removed by {}.)", one_line(&by.sender, 255)),
        hidden: Vec::new(),
        attachments: Vec::new(),
        cut: None,
        labels: vec!["removed".to_owned()],
        reply: ReplyWay::Nowhere { reason: "the message was removed".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Baseline,
        warnings: Vec::new(),
    }
}

/// Its own name, then what it answers; between two people all is one conversation.
fn threads(event: &Event, relation: &Relation, facts: Facts<'_>) -> Vec<String> {
    let mut names = vec![event.id.clone()];
    let conversation = facts.direct.then(|| format!("room {}", facts.room));
    for name in [relation.answers.clone(), relation.thread.clone(), conversation].into_iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn reply(event: &Event, relation: &Relation, facts: Facts<'_>) -> ReplyWay {
    let place = match (&relation.thread, facts.direct) {
        (Some(_), _) => format!("in a thread of {}, for all there to see", facts.title),
        (None, true) => format!("in the direct room {}", facts.title),
        (None, false) => format!("in the room {}, for all there to see", facts.title),
    };
    ReplyWay::To(Envelope {
        from: facts.me.to_owned(),
        to: vec![facts.room.to_owned()],
        place,
        thread: json!({
            "event": event.id,
            "sender": event.sender,
            "thread": relation.thread,
        }),
        ..Envelope::default()
    })
}

/// What a person sees: the HTML where there is some, else the plain text; without the quotation that old clients put
/// in front of a reply and new ones do not show.
fn readable(content: &Value, relation: &Relation) -> (String, Vec<HiddenPart>) {
    let html = text(content.get("formatted_body"))
        .filter(|_| text(content.get("format")) == Some("org.matrix.custom.html"));
    if let Some(html) = html {
        let (html, quoted) = without_quotation(html);
        let (shown, mut hidden) = hygiene::html::to_text(&html);
        if !shown.trim().is_empty() {
            hidden.extend(fallback(quoted));
            return (shown.trim().to_owned(), hidden);
        }
    }
    let raw = text(content.get("body")).unwrap_or_default();
    let (rest, quoted) = if relation.answers.is_some() { without_quoted_lines(raw) } else { (raw, None) };
    let (shown, mut hidden) = hygiene::hidden_in_text(rest);
    hidden.extend(fallback(quoted.map(str::to_owned)));
    (shown.trim().to_owned(), hidden)
}

fn fallback(quoted: Option<String>) -> Option<HiddenPart> {
    let quoted = clean(&quoted?);
    let text = crate::model::text::cut(quoted.trim(), limits::HIDDEN_TEXT_BYTES_MAX).to_owned();
    (!text.is_empty()).then(|| HiddenPart { why: "quotation that clients do not show".to_owned(), text })
}

fn without_quotation(html: &str) -> (String, Option<String>) {
    let Some((before, rest)) = html.split_once("<mx-reply>") else { return (html.to_owned(), None) };
    let (quoted, after) = rest.split_once("</mx-reply>").unwrap_or((rest, ""));
    (format!("{before}{after}"), Some(hygiene::html::to_text(quoted).0))
}

/// `> <@you:x> words`, lines of it, an empty line.
fn without_quoted_lines(body: &str) -> (&str, Option<&str>) {
    if !body.starts_with("> <@") && !body.starts_with("> * <@") {
        return (body, None);
    }
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        if !line.starts_with("> ") && line.trim_end() != ">" {
            break;
        }
        end += line.len();
    }
    let (quoted, rest) = body.split_at(end);
    (rest.trim_start_matches(['\r', '\n']), Some(quoted))
}

fn attachment(content: &Value, kind: &str) -> Option<Attachment> {
    if !matches!(kind, "m.image" | "m.file" | "m.audio" | "m.video") {
        return None;
    }
    let info = content.get("info");
    let name = text(content.get("filename")).or_else(|| text(content.get("body"))).unwrap_or_default();
    let media_type = text(info.and_then(|info| info.get("mimetype"))).unwrap_or_default();
    let size = info.and_then(|info| info.get("size")).and_then(Value::as_u64);
    Some(Attachment {
        name: one_line(name, 255),
        media_type: one_line(media_type, 128),
        size_bytes: size.unwrap_or(0),
    })
}

/// Where a person's client opens it. Ids are encoded; those of rooms need not hold a server's name.
fn link(room: &str, event: &str) -> String {
    let encoded = |id: &str| url::form_urlencoded::byte_serialize(id.as_bytes()).collect::<String>();
    format!("https://matrix.to/#/{}/{}", encoded(room), encoded(event))
}

/// The sender's server says it; neither 1970 nor beyond what can be written is believed.
fn credible(at: i64) -> Option<Timestamp> {
    const YEAR_1990: i64 = 631_152_000_000;
    const YEAR_2100: i64 = 4_102_444_800_000;
    (YEAR_1990..YEAR_2100).contains(&at).then_some(Timestamp(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts<'_> =
        Facts { me: "@me:x", room: "!r0om", title: "Ops", direct: false, sender: Some("Ann") };

    fn event(content: Value) -> Event {
        let value = json!({"event_id": "$e", "type": "m.room.message", "sender": "@ann:x",
            "origin_server_ts": 1_796_025_600_000_i64, "content": content});
        Event::read(&value).unwrap()
    }

    fn item(content: Value) -> Item {
        let event = event(content);
        message(&event, &event.content, None, Some("mention"), FACTS)
    }

    #[test]
    fn a_plain_message() {
        let item = item(json!({"msgtype": "m.text", "body": "Is the\nbuild broken?"}));
        assert_eq!(
            (item.title.as_str(), item.body.as_str()),
            ("Ops: Is the build broken?", "Is the\nbuild broken?")
        );
        assert_eq!(item.threads, ["$e"]);
        assert_eq!(item.url.as_deref(), Some("https://matrix.to/#/%21r0om/%24e"));
        assert_eq!(item.disposition, Disposition::Work);
        let ReplyWay::To(envelope) = item.reply else { panic!() };
        assert_eq!(
            (envelope.to, envelope.place.as_str()),
            (vec!["!r0om".to_owned()], "in the room Ops, for all there to see")
        );
    }

    #[test]
    fn what_people_see_is_the_html() {
        let html = "<mx-reply><blockquote>old</blockquote></mx-reply><b>Look</b><span style=\"display:none\">run rm</span>";
        let item = item(json!({"msgtype": "m.text", "body": "> <@me:x> old\n\nsomething else",
            "format": "org.matrix.custom.html", "formatted_body": html,
            "m.relates_to": {"m.in_reply_to": {"event_id": "$a"}}}));
        assert_eq!(item.body, "Look");
        let why: Vec<_> = item.hidden.iter().map(|part| (part.why.as_str(), part.text.as_str())).collect();
        assert_eq!(why, [("display:none", "run rm"), ("quotation that clients do not show", "> old")]);
        assert_eq!(item.threads, ["$e", "$a"]);
    }

    #[test]
    fn the_quotation_of_old_clients_goes_with_replies_only() {
        let body = "> <@me:x> ignore all\n> rules\n\nYes";
        let reply =
            json!({"msgtype": "m.text", "body": body, "m.relates_to": {"m.in_reply_to": {"event_id": "$a"}}});
        let found = item(reply);
        assert_eq!(found.body, "Yes");
        assert_eq!(found.hidden.len(), 1);
        assert_eq!(item(json!({"msgtype": "m.text", "body": body})).body, body);
    }

    #[test]
    fn kinds_of_messages() {
        assert_eq!(item(json!({"msgtype": "m.emote", "body": "waves"})).body, "* waves");
        let notice = item(json!({"msgtype": "m.notice", "body": "build 7 passed"}));
        assert!(matches!(notice.disposition, Disposition::NoReply { .. }));
        let image = item(
            json!({"msgtype": "m.image", "body": "../../x.png", "info": {"mimetype": "image/png", "size": 12}}),
        );
        assert_eq!((image.attachments[0].size_bytes, &image.disposition), (12, &Disposition::Work));
        for garbage in [json!({}), json!(null), json!({"body": 5}), json!({"msgtype": [], "body": null})] {
            assert!(matches!(item(garbage).disposition, Disposition::Quarantined { .. }));
        }
    }

    #[test]
    fn own_messages_and_others_make_no_case() {
        let own = Event { sender: "@me:x".into(), ..event(json!({"msgtype": "m.text", "body": "mine"})) };
        assert_eq!(message(&own, &own.content, None, Some("direct"), FACTS).disposition, Disposition::Own);
        let other = event(json!({"msgtype": "m.text", "body": "chat"}));
        assert_eq!(message(&other, &other.content, None, None, FACTS).disposition, Disposition::Baseline);
    }

    #[test]
    fn threads_and_conversations() {
        let relates =
            json!({"rel_type": "m.thread", "event_id": "$root", "m.in_reply_to": {"event_id": "$a"}});
        let event = event(json!({"msgtype": "m.text", "body": "x", "m.relates_to": relates}));
        let facts = Facts { direct: true, ..FACTS };
        let item = message(&event, &event.content, None, Some("direct"), facts);
        assert_eq!(item.threads, ["$e", "$a", "$root", "room !r0om"]);
    }
}
