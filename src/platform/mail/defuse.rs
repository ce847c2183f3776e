//! Keeps the mail parser from reading mails inside mails.
//!
//! The parser follows `message/rfc822` parts to any depth, and giving such a nest back to memory is a recursion over that
//! depth: a mail of a few megabytes would overflow the stack and end the process. An attached mail is listed and never
//! read here, so its type is made unknown to the parser, in place: all offsets stay.

use std::borrow::Cow;

/// Stands in for the first letter of the two words. `clean` would take it out of any text, so putting the letter back
/// ([`restore`]) cannot touch text that was meant.
const STAND_IN: u8 = 1;

/// The words by which a part becomes a mail: its own type, and that of a multipart whose parts are mails by default.
const WORDS: [&[u8]; 2] = [b"message", b"digest"];

/// A header name this long is not `Content-Type`, whatever blanks stand in it.
const NAME_BYTES_MAX: usize = 256;

/// The same mail with types unknown that would make the parser nest. Offsets are the same.
pub(super) fn defuse(raw: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Cow::Borrowed(raw);
    let mut at = 0;
    let mut in_type = Place::Elsewhere;
    for line in raw.split(|byte| *byte == b'\n') {
        let mut value_at = 0;
        if !matches!(line.first(), Some(b' ' | b'\t')) {
            in_type = match content_type_value(line) {
                Some(offset) => {
                    value_at = offset;
                    Place::Type
                }
                None => Place::Elsewhere,
            };
        }
        if in_type != Place::Elsewhere {
            in_type = blot_out(&mut out, line, at, value_at, in_type);
        }
        at += line.len() + 1;
    }
    out
}

/// Puts the letters back, for showing.
pub(super) fn restore(text: &str) -> Cow<'_, str> {
    if !text.contains(char::from(STAND_IN)) {
        return Cow::Borrowed(text);
    }
    let mut text = text.to_owned();
    for (rest, word) in [("essage", "message"), ("essage", "Message"), ("igest", "digest")] {
        text = text.replace(&format!("{}{rest}", char::from(STAND_IN)), word);
    }
    Cow::Owned(text)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Elsewhere,
    /// In front of the first `;`.
    Type,
    /// Behind a `(`: a comment may hold a `;`, so the whole value is taken for the type.
    Commented,
}

/// Where the value begins, if this line is a `Content-Type` field as the parser reads names: it skips blanks in them.
fn content_type_value(line: &[u8]) -> Option<usize> {
    let head = line.get(..NAME_BYTES_MAX).unwrap_or(line);
    let mut name = Vec::with_capacity(16);
    for (at, byte) in head.iter().enumerate() {
        match byte {
            b':' if name.is_empty() => {}
            b':' => return name.ends_with(b"content-type").then_some(at + 1),
            byte if byte.is_ascii_whitespace() => {}
            byte => name.push(byte.to_ascii_lowercase()),
        }
    }
    None
}

fn blot_out(out: &mut Cow<'_, [u8]>, line: &[u8], line_at: usize, from: usize, mut place: Place) -> Place {
    for at in from..line.len() {
        let Some(rest) = line.get(at..) else { break };
        match rest.first() {
            Some(b'(') => place = Place::Commented,
            Some(b';') if place == Place::Type => return Place::Elsewhere,
            _ => {}
        }
        let found = WORDS
            .iter()
            .any(|word| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)));
        if found && let Some(byte) = out.to_mut().get_mut(line_at + at) {
            *byte = STAND_IN;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        let defused = defuse(raw.as_bytes());
        assert_eq!(String::from_utf8_lossy(&defused).replace('\u{1}', "?"), expected);
        assert_eq!(restore(&String::from_utf8_lossy(&defused)), raw);
    }

    #[test]
    fn only_the_type_is_blotted_out() {
        check(
            "Subject: message\r\nContent-Type: message/rfc822; name=message.eml\r\n\r\nmessage/rfc822",
            "Subject: message\r\nContent-Type: ?essage/rfc822; name=message.eml\r\n\r\nmessage/rfc822",
        );
        check("Content-Type: text/plain; name=\"message\"", "Content-Type: text/plain; name=\"message\"");
    }

    #[test]
    fn disguises_do_not_help() {
        check("con tent-type:\n message/rfc822", "con tent-type:\n ?essage/rfc822");
        check(": content-Type : (a;b)message/rfc822", ": content-Type : (a;b)?essage/rfc822");
        check("--bContent-Type: multipart/digest;", "--bContent-Type: multipart/?igest;");
    }

    #[test]
    fn mails_in_mails_in_mails_are_harmless() {
        let nest = "Content-Type: message/rfc822\n\n".repeat(300_000);
        let defused = defuse(nest.as_bytes());
        let message = mail_parser::MessageParser::default().parse(&*defused);
        assert_eq!(message.map(|message| message.parts.len()), Some(1));
    }

    #[test]
    fn digests_of_digests_are_harmless() {
        let nest = "Content-Type: multipart/digest; boundary=b\n\n--b\n\n".repeat(100_000);
        let defused = defuse(nest.as_bytes());
        assert!(mail_parser::MessageParser::default().parse(&*defused).is_some());
    }
}
