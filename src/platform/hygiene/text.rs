//! Characters that show nothing: zero-width, tag, variation and bidi control characters.

use std::collections::BTreeMap;

use super::HiddenParts;
use crate::model::item::HiddenPart;
use crate::model::text::clean;

/// `text` without the characters that a person cannot see, and what was taken out.
///
/// The visible text is also clean in the sense of [`clean`], and free of C1 controls, which some
/// terminals obey. A joiner or variation selector behind a visible character beyond ASCII stays: emoji and several scripts
/// need it. Letters hidden in tag characters and in runs of variation selectors are made readable in the report.
#[must_use]
pub fn hidden_in_text(text: &str) -> (String, Vec<HiddenPart>) {
    let text = clean(text);
    if text.is_ascii() {
        return (text, Vec::new());
    }
    let mut visible = String::with_capacity(text.len());
    let mut found = Found::default();
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let kind = kind_of(c);
        match kind {
            Kind::Visible => visible.push(c),
            Kind::LineEnd => visible.push('\n'),
            Kind::Control => {}
            Kind::Joiner | Kind::Selector
                if before.is_some_and(|b| !b.is_ascii())
                    && !chars.peek().is_some_and(|next| kind_of(*next) == Kind::Selector) =>
            {
                visible.push(c);
            }
            Kind::Joiner | Kind::ZeroWidth => found.count("zero-width characters", c),
            Kind::Bidi => found.count("bidi controls", c),
            Kind::Tag => found.tags.extend(tag_letter(c)),
            Kind::Selector => found.selectors.extend(selector_byte(c)),
        }
        before = (kind == Kind::Visible).then_some(c);
    }
    (visible, found.report())
}

#[derive(Default)]
struct Found {
    counts: BTreeMap<(&'static str, char), usize>,
    tags: String,
    selectors: Vec<u8>,
}

impl Found {
    fn count(&mut self, why: &'static str, c: char) {
        *self.counts.entry((why, c)).or_default() += 1;
    }

    fn report(self) -> Vec<HiddenPart> {
        let mut parts = HiddenParts::default();
        for why in ["zero-width characters", "bidi controls"] {
            let counted = self
                .counts
                .iter()
                .filter(|((counted_as, _), _)| *counted_as == why)
                .map(|((_, c), count)| format!("{count} × U+{:04X}", u32::from(*c)))
                .collect::<Vec<_>>();
            parts.push(why, &counted.join(", "));
        }
        parts.push("tag characters", &self.tags);
        parts.push("variation selectors", &String::from_utf8_lossy(&self.selectors));
        parts.finish()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Visible,
    LineEnd,
    Control,
    Joiner,
    ZeroWidth,
    Bidi,
    Tag,
    Selector,
}

fn kind_of(c: char) -> Kind {
    match c {
        '\u{80}'..='\u{9f}' => Kind::Control,
        '\u{2028}' | '\u{2029}' => Kind::LineEnd,
        '\u{200c}' | '\u{200d}' => Kind::Joiner,
        // Soft hyphen, grapheme joiner, Hangul and Khmer fillers, Mongolian separator, zero-width space and
        // no-break space, word joiner, invisible operators.
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2064}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}' => Kind::ZeroWidth,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => Kind::Bidi,
        '\u{e0000}'..='\u{e007f}' => Kind::Tag,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Kind::Selector,
        _ => Kind::Visible,
    }
}

/// Tag characters mirror ASCII.
fn tag_letter(c: char) -> Option<char> {
    u8::try_from(u32::from(c) - 0xE0000).ok().map(char::from).filter(|letter| !letter.is_ascii_control())
}

/// Variation selectors number from 1 to 256; text is smuggled as one byte a selector.
fn selector_byte(c: char) -> Option<u8> {
    let code = u32::from(c);
    u8::try_from(if code < 0xE0100 { code - 0xFE00 } else { code - 0xE0100 + 16 }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, visible: &str, hidden: &[(&str, &str)]) {
        let (text, parts) = hidden_in_text(input);
        let parts = parts.iter().map(|p| (p.why.as_str(), p.text.as_str())).collect::<Vec<_>>();
        assert_eq!((text.as_str(), parts.as_slice()), (visible, hidden));
    }

    #[test]
    fn ordinary_text_stays() {
        check("Grüße,\r\nJörg 👍🏽", "Grüße,\nJörg 👍🏽", &[]);
        check("👨\u{200d}👩 ❤\u{fe0f} می\u{200c}خواهم", "👨\u{200d}👩 ❤\u{fe0f} می\u{200c}خواهم", &[]);
    }

    #[test]
    fn zero_width_characters_are_taken_out_and_counted() {
        check(
            "Button\u{200b} does\u{200b} nothi\u{200d}ng",
            "Button does nothing",
            &[("zero-width characters", "2 × U+200B, 1 × U+200D")],
        );
    }

    #[test]
    fn bidi_controls_are_taken_out() {
        check(
            "invoice\u{202e}fdp.exe\u{202c}",
            "invoicefdp.exe",
            &[("bidi controls", "1 × U+202C, 1 × U+202E")],
        );
    }

    #[test]
    fn letters_in_tag_characters_are_made_readable() {
        let smuggled =
            "send".bytes().filter_map(|b| char::from_u32(0xE0000 + u32::from(b))).collect::<String>();
        check(&format!("Hi{smuggled} there"), "Hi there", &[("tag characters", "send")]);
    }

    #[test]
    fn letters_in_variation_selectors_are_made_readable() {
        let smuggled =
            "send".bytes().filter_map(|b| char::from_u32(0xE0100 + u32::from(b) - 16)).collect::<String>();
        check(&format!("😀{smuggled}"), "😀", &[("variation selectors", "send")]);
    }

    #[test]
    fn terminal_controls_go() {
        check("a\u{9b}31mb\u{2028}c\0", "a31mb\nc", &[]);
    }
}
