//! The readable text of a mail, what is hidden in it, and what came along.

use std::collections::BTreeSet;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::defuse::restore;
use crate::model::item::{Attachment, Cut};
use crate::model::limits;
use crate::model::text::{cut, one_line};
use crate::platform::hygiene::{HiddenParts, hidden_in_text, html};

/// Text parts that are read; a mail of a hundred thousand parts is not a letter.
const TEXT_PARTS_MAX: usize = 32;

/// Text that is looked at in one part: sixteen times what is kept, for markup. What is beyond is said to be cut.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// What was read out of the parts of a mail.
#[derive(Default)]
pub(super) struct Body {
    pub text: String,
    pub cut: Option<Cut>,
    pub attachments: Vec<Attachment>,
    pub warnings: Vec<String>,
}

/// Reads the parts. `missing_bytes` are those behind the end of what was given.
pub(super) fn read(message: &Message<'_>, missing_bytes: u64, hidden: &mut HiddenParts) -> Body {
    let mut body = Body::default();
    let plain = texts(message, &message.text_body, |part| matches!(part, PartType::Text(_)));
    let rich = texts(message, &message.html_body, |part| matches!(part, PartType::Html(_)));
    let mut total = 0;

    let plain_text = join(plain.iter().map(|(_, text)| {
        total += text.len();
        let (visible, found) = hidden_in_text(&restore(within(text)));
        hidden.extend(found);
        visible
    }));
    let rich_text = join(rich.iter().map(|(_, text)| {
        let (visible, found) = html::to_text(&restore(within(text)));
        hidden.extend(found);
        visible
    }));
    let (whole, used) = if plain_text.trim().is_empty() {
        total = rich.iter().map(|(_, text)| text.len()).sum();
        (rich_text, &rich)
    } else {
        if !rich.is_empty() && say_different_things(&plain_text, &rich_text) {
            let warning = "the plain and the HTML part say different things; this is the plain one";
            body.warnings.push(warning.into());
        }
        (plain_text, &plain)
    };

    let whole = whole.trim_end();
    let kept = cut(whole, limits::ITEM_TEXT_BYTES_MAX);
    let unfinished = missing_bytes > 0 && used.iter().any(|(part, _)| reaches_the_end(message, part));
    let unread = used.iter().any(|(_, text)| text.len() > PART_BYTES_MAX);
    if kept.len() < whole.len() || unread || unfinished {
        let seen = if unread { total } else { whole.len() } as u64;
        let total_bytes = seen + if unfinished { missing_bytes } else { 0 };
        body.cut = Some(Cut { kept_bytes: kept.len() as u64, total_bytes });
    }
    body.text = kept.to_owned();
    list_attachments(message, missing_bytes, &mut body);
    warn_of_damage(message, missing_bytes, &mut body.warnings);
    body
}

type Texts<'m> = Vec<(&'m MessagePart<'m>, &'m str)>;

fn texts<'m>(message: &'m Message<'m>, ids: &[u32], wanted: fn(&PartType<'_>) -> bool) -> Texts<'m> {
    ids.iter()
        .filter_map(|id| message.part(*id))
        .filter(|part| wanted(&part.body))
        .filter_map(|part| part.text_contents().map(|text| (part, text)))
        .take(TEXT_PARTS_MAX)
        .collect()
}

fn join(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn within(text: &str) -> &str {
    cut(text, PART_BYTES_MAX)
}

/// The part was still going on where the given bytes end.
fn reaches_the_end(message: &Message<'_>, part: &MessagePart<'_>) -> bool {
    part.offset_end as usize + 2 >= message.raw_message.len()
}

/// Fewer than half of the words of the plain text stand in the other one. Short notes ("see the HTML version") are not
/// judged.
fn say_different_things(plain: &str, rich: &str) -> bool {
    let words = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() > 2)
            .map(str::to_lowercase)
            .take(2000)
            .collect::<BTreeSet<_>>()
    };
    let (plain, rich) = (words(plain), words(rich));
    let shared = plain.intersection(&rich).count();
    plain.len() >= 8 && shared * 2 < plain.len()
}

fn list_attachments(message: &Message<'_>, missing_bytes: u64, body: &mut Body) {
    let files = message.attachments.iter().filter_map(|id| message.part(*id));
    for part in files.clone().take(limits::ITEM_LIST_LEN_MAX) {
        let (name, _) = hidden_in_text(&restore(part.attachment_name().unwrap_or("")));
        let name = one_line(&name, 255);
        let media_type = part.content_type().map_or_else(
            || "text/plain".to_owned(),
            |kind| format!("{}/{}", restore(kind.ctype()), restore(kind.subtype().unwrap_or("octet-stream"))),
        );
        body.attachments.push(Attachment {
            name: if name.is_empty() { "(no name)".into() } else { name },
            media_type: one_line(&media_type, 127),
            size_bytes: size(message, part, missing_bytes),
        });
    }
    let more = files.count().saturating_sub(limits::ITEM_LIST_LEN_MAX);
    if more > 0 {
        body.warnings.push(format!("{more} more attachments are not listed"));
    }
}

/// The decoded size of a file; reckoned from the encoding where its end is missing.
fn size(message: &Message<'_>, part: &MessagePart<'_>, missing_bytes: u64) -> u64 {
    if missing_bytes == 0 || !reaches_the_end(message, part) {
        return part.len() as u64;
    }
    let coded = u64::from(part.offset_end.saturating_sub(part.offset_body)) + missing_bytes;
    let base64 = part.content_transfer_encoding().is_some_and(|name| name.eq_ignore_ascii_case("base64"));
    // A line of 78 bytes holds 57.
    if base64 { coded.saturating_mul(57) / 78 } else { coded }
}

fn warn_of_damage(message: &Message<'_>, missing_bytes: u64, warnings: &mut Vec<String>) {
    let used = message.text_body.iter().chain(&message.html_body).take(TEXT_PARTS_MAX);
    let charsets = used
        .filter_map(|id| message.part(*id))
        .filter_map(|part| part.content_type()?.attribute("charset"))
        .filter(|charset| !is_known(charset))
        .collect::<BTreeSet<_>>();
    for charset in charsets {
        let charset = one_line(charset, 40);
        warnings.push(format!("the character set `{charset}` is not known; some letters may be wrong"));
    }
    // Where we stopped reading is no damage.
    let cut_short = |part: &MessagePart<'_>| missing_bytes > 0 && reaches_the_end(message, part);
    if message.parts.iter().any(|part| part.is_encoding_problem && !cut_short(part)) {
        warnings.push("a part of the mail is damaged and was read as it is".into());
    }
    let broken = message.parts.first().is_some_and(|root| {
        root.content_type().is_some_and(|kind| kind.ctype() == "multipart") && !root.is_multipart()
    });
    if broken {
        warnings.push("the mail says it has parts, but they could not be told apart".into());
    }
}

fn is_known(charset: &str) -> bool {
    encoding_rs::Encoding::for_label(charset.as_bytes()).is_some()
        || mail_parser::decoders::charsets::map::charset_decoder(charset.as_bytes()).is_some()
}
