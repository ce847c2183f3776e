//! Items as the program gives them to items of ours. Pure.

use serde_json::Value;

use super::text;
use crate::model::draft::Envelope;
use crate::model::effect::{Offer, OfferedValue};
use crate::model::item::{
    Attachment, Backlog, Cut, Disposition, HiddenPart, Item, Party, PollRequest, ReplyWay,
};
use crate::model::limits;
use crate::model::marker;
use crate::model::text::{clean, cut, digest, one_line};
use crate::model::time::Timestamp;
use crate::platform::hygiene;
use crate::secret::Scrubber;

/// What the map needs to know of the unit.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The program's name, for people.
    pub program: String,
    /// Whom we write as.
    pub account: Option<String>,
    /// Replies are taken.
    pub send: bool,
}

/// Longest id, thread or revision taken as it is.
const NAME_BYTES_MAX: usize = 512;

/// The item; one that cannot be understood is quarantined, never dropped.
#[must_use]
pub fn item(value: &Value, rules: &Rules, scrubber: &Scrubber) -> Item {
    let line = value.to_string();
    let own_text = |name: &str| text(value, name).map(|text| scrubber.scrub_owned(text));
    let id = text(value, "id").map(|id| name(&id));
    let raw = own_text("body").unwrap_or_default();
    let author = author(value, scrubber);
    // Before anything is taken out of the text: the mark is the last thing in it.
    let own = marker::own_key(&raw).is_some() && by_us(author.as_ref(), rules);
    let (body, hidden) = readable(&raw, text(value, "body_format").as_deref());
    let title = one_line(&own_text("title").unwrap_or_default(), limits::TITLE_BYTES_MAX);
    let title = if title.is_empty() { one_line(cut(&body, 2000), 80) } else { title };
    let revision = text(value, "updated").map(|updated| name(&updated));
    let revision = revision.unwrap_or_else(|| short_digest(&[title.as_bytes(), raw.as_bytes()]));
    let (body, cut) = Cut::to_fit(body);
    let disposition = match &id {
        None => Disposition::Quarantined { reason: "the program gave an item without `id`".to_owned() },
        Some(_) if own => Disposition::Own,
        Some(_) => Disposition::Work,
    };
    let key = id.unwrap_or_else(|| format!("no-id:{}", short_digest(&[line.as_bytes()])));
    let thread = text(value, "thread").map(|thread| name(&thread)).filter(|thread| *thread != key);
    Item {
        revision,
        identities: Vec::new(),
        threads: std::iter::once(key.clone()).chain(thread).collect(),
        key,
        kind: text(value, "kind").map_or_else(|| "item".to_owned(), |kind| one_line(&kind, 64)),
        title: if title.is_empty() { "(no title)".to_owned() } else { title },
        author,
        at: at(value.get("at")),
        url: text(value, "url").map(|url| one_line(&url, 4096)),
        body,
        hidden,
        attachments: attachments(value, scrubber),
        cut,
        labels: labels(value),
        reply: reply(value, rules, scrubber),
        offers: offers(value, rules, scrubber),
        disposition,
        warnings: Vec::new(),
    }
}

/// What was there before the connector was switched on is no work unless the unit says so. Gives how many there are
/// and how many of them are work.
pub fn first_walk<'a>(
    items: impl Iterator<Item = &'a mut Item>,
    began: Timestamp,
    request: &PollRequest<'_>,
) -> (usize, usize) {
    let (mut found, mut worked) = (0, 0);
    for item in items {
        let work = match request.backlog {
            Backlog::All => true,
            Backlog::Since(span) => item.at.is_some_and(|at| at >= began.minus(span)),
            // A first run that failed and is repeated later: what has come meanwhile is new.
            Backlog::New => began < request.now && item.at.is_some_and(|at| at > began && at <= request.now),
        };
        if !work && item.disposition != Disposition::Own {
            item.disposition = Disposition::Baseline;
        }
        found += 1;
        worked += usize::from(item.disposition == Disposition::Work);
    }
    (found, worked)
}

/// `"offers": ["close", {"verb": "state", "what": "Move it", "values": ["open", "done"]}, {"verb": "label", "value":
/// "its name"}]`; what cannot be read is left out.
fn offers(value: &Value, rules: &Rules, scrubber: &Scrubber) -> Vec<Offer> {
    let given = value.get("offers").and_then(Value::as_array).filter(|_| rules.send);
    let word = |text: &str| one_line(&scrubber.scrub_owned(text.to_owned()), 64);
    let read = |offer: &Value| {
        let said = |key: &str| offer.get(key).and_then(Value::as_str).map(word);
        let verb = offer.as_str().map(word).or_else(|| said("verb"))?.to_lowercase();
        let values = offer.get("values").and_then(Value::as_array);
        let values = values.map(|values| {
            values.iter().filter_map(Value::as_str).map(word).take(limits::EFFECTS_MAX).collect()
        });
        let value = match (values, said("value")) {
            (Some(values), _) => OfferedValue::OneOf(values),
            (None, Some(value)) => OfferedValue::Text(value),
            (None, None) => OfferedValue::None,
        };
        let what = said("what").unwrap_or_else(|| format!("by the program {}", rules.program));
        (!verb.is_empty() && !verb.contains(':')).then_some(Offer { verb, what, value })
    };
    given.into_iter().flatten().filter_map(read).take(limits::EFFECTS_MAX).collect()
}

/// An id as it is, one line; a long one as its digest.
fn name(text: &str) -> String {
    let line = clean(text).replace(['\n', '\t'], " ");
    let line = line.trim();
    if line.len() <= NAME_BYTES_MAX {
        line.to_owned()
    } else {
        format!("long:{}", short_digest(&[line.as_bytes()]))
    }
}

fn short_digest(parts: &[&[u8]]) -> String {
    digest(parts).get(..32).unwrap_or_default().to_owned()
}

/// Somebody else can copy the mark of a text of ours under their own.
fn by_us(author: Option<&Party>, rules: &Rules) -> bool {
    let Some(account) = &rules.account else { return true };
    author.is_some_and(|author| {
        author.address.eq_ignore_ascii_case(account)
            || (author.address.is_empty() && author.name.eq_ignore_ascii_case(account))
    })
}

/// `"author": "kim"`, or an object with `name` and `address` (an account or a mail address).
fn author(value: &Value, scrubber: &Scrubber) -> Option<Party> {
    let given = value.get("author")?;
    let part = |name: &str| {
        let text = text(given, name).unwrap_or_default();
        one_line(&scrubber.scrub_owned(text), 256)
    };
    let party = match given {
        Value::Object(_) => Party { name: part("name"), address: part("address") },
        _ => Party {
            name: one_line(&scrubber.scrub_owned(text(value, "author")?), 256),
            address: String::new(),
        },
    };
    (party != Party::default()).then_some(party)
}

fn readable(raw: &str, format: Option<&str>) -> (String, Vec<HiddenPart>) {
    match format {
        Some("html") => hygiene::html::to_text(raw),
        Some("markdown") => {
            let (rest, mut hidden) = without_comments(raw);
            let (text, more) = hygiene::hidden_in_text(&rest);
            hidden.extend(more);
            hidden.truncate(limits::ITEM_LIST_LEN_MAX);
            (text, hidden)
        }
        _ => hygiene::hidden_in_text(raw),
    }
}

/// Comments do not show where Markdown is rendered. Those inside code do, and are reported all the same.
fn without_comments(raw: &str) -> (String, Vec<HiddenPart>) {
    let (mut rest, mut hidden) = (String::with_capacity(raw.len()), Vec::new());
    let mut left = raw;
    while let Some((before, inside)) = left.split_once("<!--") {
        rest.push_str(before);
        let (comment, after) = inside.split_once("-->").unwrap_or((inside, ""));
        let comment = clean(comment);
        if hidden.len() < limits::ITEM_LIST_LEN_MAX && !comment.trim().is_empty() {
            let text = cut(comment.trim(), limits::HIDDEN_TEXT_BYTES_MAX).to_owned();
            hidden.push(HiddenPart { why: "html comment".to_owned(), text });
        }
        left = after;
    }
    rest.push_str(left);
    (rest, hidden)
}

/// RFC 3339, or seconds since 1970.
fn at(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::String(text) => Timestamp::from_rfc3339(text),
        Value::Number(seconds) => seconds.as_i64().map(Timestamp::from_seconds),
        _ => None,
    }
}

fn labels(value: &Value) -> Vec<String> {
    let given = value.get("labels").and_then(Value::as_array).into_iter().flatten();
    let texts = given.filter_map(Value::as_str).map(|label| one_line(label, 128));
    texts.filter(|label| !label.is_empty()).take(limits::ITEM_LIST_LEN_MAX).collect()
}

fn attachments(value: &Value, scrubber: &Scrubber) -> Vec<Attachment> {
    let given = value.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let one = |value: &Value| Attachment {
        name: one_line(&scrubber.scrub_owned(text(value, "name").unwrap_or_default()), 255),
        media_type: one_line(&text(value, "media_type").unwrap_or_default(), 128),
        size_bytes: value.get("size_bytes").and_then(Value::as_u64).unwrap_or(0),
    };
    given.take(limits::ITEM_LIST_LEN_MAX).map(one).collect()
}

fn reply(value: &Value, rules: &Rules, scrubber: &Scrubber) -> ReplyWay {
    let nowhere = |reason: &str| ReplyWay::Nowhere { reason: reason.to_owned() };
    if !rules.send {
        return nowhere("the unit does not send (`send = false`)");
    }
    let Some(handle) = value.get("reply_handle").filter(|handle| !handle.is_null()) else {
        return nowhere("the program gave no `reply_handle`");
    };
    if handle.to_string().len() > limits::REPLY_HANDLE_BYTES_MAX {
        return nowhere("the program's `reply_handle` is too large");
    }
    let place = text(value, "reply_place").map(|place| one_line(&scrubber.scrub_owned(place), 256));
    ReplyWay::To(Envelope {
        from: rules.account.clone().unwrap_or_default(),
        place: place.unwrap_or_else(|| format!("by {}", rules.program)),
        thread: handle.clone(),
        ..Envelope::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: &Value) -> Item {
        let rules = Rules { program: "feeder".into(), account: Some("owner".into()), send: true };
        item(value, &rules, &Scrubber::new())
    }

    #[test]
    fn the_least_item() {
        let least = map(&json!({ "id": 7 }));
        assert_eq!((least.key.as_str(), least.title.as_str(), least.threads.len()), ("7", "(no title)", 1));
        assert!(matches!(least.reply, ReplyWay::Nowhere { .. }));
    }

    #[test]
    fn an_item_without_id_is_kept_for_the_user() {
        let odd = map(&json!({ "title": "x" }));
        assert!(odd.key.starts_with("no-id:") && matches!(odd.disposition, Disposition::Quarantined { .. }));
    }

    #[test]
    fn comments_in_markdown_are_hidden_parts() {
        let odd = map(&json!({ "id": 1, "body_format": "markdown", "body": "a<!-- psst -->b <!-- open" }));
        assert_eq!(odd.body, "ab ");
        assert_eq!(odd.hidden.iter().map(|part| part.text.as_str()).collect::<Vec<_>>(), ["psst", "open"]);
    }

    #[test]
    fn a_mark_under_somebody_elses_text_is_not_ours() {
        let body = marker::stamp("Thanks.", "wa-7-0123456789abcdef");
        assert_eq!(map(&json!({ "id": 1, "author": "Owner", "body": body })).disposition, Disposition::Own);
        assert_eq!(map(&json!({ "id": 1, "author": "eve", "body": body })).disposition, Disposition::Work);
        assert_eq!(map(&json!({ "id": 1, "body": body })).disposition, Disposition::Work);
        let named = json!({ "name": "owner", "address": "eve" });
        assert_eq!(map(&json!({ "id": 1, "author": named, "body": body })).disposition, Disposition::Work);
    }

    #[test]
    fn another_text_is_another_revision() {
        let one = map(&json!({ "id": 1, "body": "a" }));
        let two = map(&json!({ "id": 1, "body": "b" }));
        assert!(one.key == two.key && one.revision != two.revision);
        assert_eq!(map(&json!({ "id": 1, "body": "b", "updated": "v2" })).revision, "v2");
    }
}
