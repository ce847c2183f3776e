//! Takes secrets out of what a far side or a program gave, before it is committed: servers echo what they were asked
//! with, programs print what they were given.
//!
//! The text belongs to the user, so only whole values are masked. Names are replaced by a digest, which keeps them apart
//! and steady. What must come back unchanged (a position, a reply's address) is refused instead.

use crate::model::draft::Envelope;
use crate::model::item::{Disposition, Item, Page, ReplyWay};
use crate::model::text::digest;
use crate::secret::scrub::Scrubber;

/// The page's items and notes without secrets. `false`: the position holds one; nothing of the page may be kept.
pub(super) fn mask(page: &mut Page, scrubber: &Scrubber) -> bool {
    if page.cursor.as_ref().is_some_and(|cursor| has_secret(scrubber, &cursor.0)) {
        return false;
    }
    for item in &mut page.items {
        mask_item(item, scrubber);
    }
    // Said by us about the far side, so that here every piece counts.
    for note in &mut page.notes {
        *note = scrubber.scrub(note).into_owned();
    }
    true
}

/// A name in place of one that holds a secret: as distinct and as steady.
pub(super) fn masked_name(name: &str) -> String {
    format!("masked:{}", digest(&[name.as_bytes()]))
}

fn has_secret(scrubber: &Scrubber, text: &str) -> bool {
    matches!(scrubber.mask_whole(text), std::borrow::Cow::Owned(_))
}

fn mask_item(item: &mut Item, scrubber: &Scrubber) {
    let text = |text: &mut String| {
        if let std::borrow::Cow::Owned(masked) = scrubber.mask_whole(text) {
            *text = masked;
        }
    };
    let name = |name: &mut String| {
        if has_secret(scrubber, name) {
            *name = masked_name(name);
        }
    };
    name(&mut item.key);
    name(&mut item.revision);
    item.identities.iter_mut().chain(&mut item.threads).for_each(name);
    text(&mut item.kind);
    text(&mut item.title);
    text(&mut item.body);
    item.url.iter_mut().for_each(text);
    item.labels.iter_mut().chain(&mut item.warnings).for_each(text);
    if let Some(author) = &mut item.author {
        text(&mut author.name);
        text(&mut author.address);
    }
    for part in &mut item.hidden {
        text(&mut part.text);
    }
    for attachment in &mut item.attachments {
        text(&mut attachment.name);
        text(&mut attachment.media_type);
    }
    // Half an offer is none.
    item.offers.retain(|offer| !serde_json::to_string(offer).is_ok_and(|text| has_secret(scrubber, &text)));
    match &mut item.disposition {
        Disposition::NoReply { reason } | Disposition::Quarantined { reason } => text(reason),
        Disposition::Work | Disposition::Own | Disposition::Baseline => {}
    }
    match &mut item.reply {
        ReplyWay::To(envelope) if holds_secret(envelope, scrubber) => {
            let reason = "its reply address holds a secret of yours".to_owned();
            item.reply = ReplyWay::Nowhere { reason };
        }
        ReplyWay::To(_) => {}
        ReplyWay::Nowhere { reason } => text(reason),
    }
}

fn holds_secret(envelope: &Envelope, scrubber: &Scrubber) -> bool {
    serde_json::to_string(envelope).is_ok_and(|text| has_secret(scrubber, &text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::item::Cursor;
    use crate::secret::SecretValue;

    const SECRET: &str = "canary-7f3a91c2";

    fn page(change: impl FnOnce(&mut Item)) -> Page {
        let mut item = Item {
            key: "7".into(),
            revision: "1".into(),
            identities: Vec::new(),
            threads: vec!["7".into()],
            kind: "item".into(),
            title: "t".into(),
            author: None,
            at: None,
            url: None,
            body: "b".into(),
            hidden: Vec::new(),
            attachments: Vec::new(),
            cut: None,
            labels: Vec::new(),
            reply: ReplyWay::Nowhere { reason: "no".into() },
            offers: Vec::new(),
            disposition: Disposition::Work,
            warnings: Vec::new(),
        };
        change(&mut item);
        Page { items: vec![item], ..Page::default() }
    }

    fn masked(mut page: Page) -> Option<Page> {
        let scrubber = Scrubber::new();
        scrubber.register(&SecretValue::new(SECRET.to_owned()));
        mask(&mut page, &scrubber).then_some(page)
    }

    #[test]
    fn no_field_keeps_a_secret() {
        let full = masked(page(|item| {
            let value = serde_json::to_value(&*item).unwrap();
            let mut echo = value.as_object().unwrap().clone();
            for (name, field) in &mut echo {
                match name.as_str() {
                    "key" | "revision" | "kind" | "title" | "url" | "body" => {
                        *field = json!(format!("x {SECRET}"));
                    }
                    "identities" | "threads" | "labels" | "warnings" => *field = json!([SECRET]),
                    "author" => *field = json!({ "name": SECRET, "address": SECRET }),
                    "hidden" => *field = json!([{ "why": "w", "text": SECRET }]),
                    "attachments" => {
                        *field = json!([{ "name": SECRET, "media_type": SECRET, "size_bytes": 1 }]);
                    }
                    "reply" => *field = json!({ "nowhere": { "reason": SECRET } }),
                    "offers" => {
                        *field = json!([{ "verb": SECRET, "what": SECRET, "value": { "one-of": [SECRET] } }]);
                    }
                    "disposition" => *field = json!({ "quarantined": { "reason": SECRET } }),
                    "at" | "cut" => {}
                    other => panic!("a new field, {other}: may it hold a secret?"),
                }
            }
            *item = serde_json::from_value(echo.into()).unwrap();
        }));
        let shown = serde_json::to_string(&full.unwrap().items).unwrap();
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("x [masked]") && shown.contains("masked:"), "{shown}");
    }

    #[test]
    fn what_must_come_back_unchanged_is_refused() {
        let envelope = Envelope { thread: json!({ "token": SECRET }), ..Envelope::default() };
        let page_of = |envelope| page(|item| item.reply = ReplyWay::To(envelope));
        let refused = masked(page_of(envelope)).unwrap();
        assert!(matches!(refused.items[0].reply, ReplyWay::Nowhere { .. }));
        let kept = masked(page_of(Envelope::default())).unwrap();
        assert!(matches!(kept.items[0].reply, ReplyWay::To(_)));
        let cursor = Some(Cursor(format!("{{\"at\":\"{SECRET}\"}}")));
        assert!(masked(Page { cursor, ..page(|_| ()) }).is_none());
    }
}
