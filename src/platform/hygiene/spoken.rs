//! What a text in Markdown says once it is rendered, letter by letter with its place in the source, and without its code:
//! by a parser of the whole of `CommonMark`, since a rule of thumb about code is a way to call people from within it.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::model::text::cut;

/// A letter as a reader meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Itself; [`MARK`] where emphasis or a link begins or ends, [`GAP`] where code or another block stands between.
    pub c: char,
    /// Where its writing begins in the source. `&#64;` is one letter.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
}

/// Text goes on in another manner.
pub const MARK: char = '\u{1}';

/// What stands before and behind does not belong together.
pub const GAP: char = '\u{0}';

/// Entities of letters that call somebody or stand in the way.
const ENTITIES: [(&str, char); 6] =
    [("commat", '@'), ("num", '#'), ("sol", '/'), ("colon", ':'), ("lowbar", '_'), ("period", '.')];

/// An entity is short.
const ENTITY_BYTES_MAX: usize = 12;

/// The letters of all text outside code, in order.
#[must_use]
pub fn letters(markdown: &str) -> Vec<Letter> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = Vec::with_capacity(markdown.len());
    let mut code = 0usize;
    let sign = |c, at: usize| Letter { c, from: at, to: at };
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code += 1,
            Event::End(TagEnd::CodeBlock) => {
                code = code.saturating_sub(1);
                out.push(sign(GAP, range.end));
            }
            _ if code > 0 => {}
            Event::Text(text) => push(&mut out, &text, markdown, range, false),
            Event::Html(text) | Event::InlineHtml(text) => push(&mut out, &text, markdown, range, true),
            Event::SoftBreak | Event::HardBreak => {
                out.push(Letter { c: '\n', from: range.start, to: range.end });
            }
            Event::Start(
                Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. },
            ) => out.push(sign(MARK, range.start)),
            Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image,
            ) => out.push(sign(MARK, range.end)),
            _ => out.push(sign(GAP, range.start)),
        }
    }
    out
}

fn push(out: &mut Vec<Letter>, text: &str, source: &str, range: std::ops::Range<usize>, is_html: bool) {
    let written = source.get(range.clone()).unwrap_or_default();
    if written != text {
        // An entity, or text that is put together anew: it stands as a whole where it is written.
        out.extend(text.chars().map(|c| Letter { c, from: range.start, to: range.end }));
        return;
    }
    let mut at = 0;
    while let Some(rest) = written.get(at..)
        && let Some(c) = rest.chars().next()
    {
        // Markdown leaves entities in HTML to the browser.
        let (c, len) = if is_html { entity(rest).unwrap_or((c, c.len_utf8())) } else { (c, c.len_utf8()) };
        out.push(Letter { c, from: range.start + at, to: range.start + at + len });
        at += len;
    }
}

/// `&#64;`, `&#x40;`, `&commat;` at the beginning, and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    let name = cut(text.strip_prefix('&')?, ENTITY_BYTES_MAX);
    let end = name.find(';')?;
    let name = name.get(..end)?;
    let number = name.strip_prefix('#').map(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let c = match number {
        Some(number) => char::from_u32(number?)?,
        None => ENTITIES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((c, end + 2))
}

/// The source with `what` put in at these places, which are in order.
#[must_use]
pub fn with(source: &str, places: &[usize], what: &str) -> String {
    let mut out = String::with_capacity(source.len() + places.len() * what.len());
    let mut copied = 0;
    for &place in places {
        out.push_str(source.get(copied..place).unwrap_or_default());
        out.push_str(what);
        copied = place;
    }
    out.push_str(source.get(copied..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markdown: &str, expected: &str) {
        let shown: String = letters(markdown).iter().map(|letter| letter.c).collect();
        assert_eq!(shown.replace(GAP, "|").replace(MARK, "'").trim_matches('|'), expected, "{markdown:?}");
    }

    #[test]
    fn what_is_code_by_the_rules_and_what_only_looks_like_it() {
        check("a `@b` c", "a | c");
        check("```\n@b\n```\nc", "c");
        check("``` @b ``` c", " c");
        check("``` ` @b", "``` ` @b");
        check("p\n    @b", "p\n@b");
        check("- a\n    @b", "a\n@b");
        check("> a\n@b", "a\n@b");
        check("a \\` @b `", "a ` @b `");
        check("````\n```\n@b\n````\nc", "c");
        check("~~~\n@b\n```\n~~~\nc", "c");
    }

    #[test]
    fn letters_have_their_places() {
        let at = |markdown: &str| {
            let found = letters(markdown).into_iter().find(|letter| letter.c == '@').unwrap();
            markdown[found.from..found.to].to_owned()
        };
        assert_eq!(at("x &#64;b"), "&#64;");
        assert_eq!(at("x \\@b"), "@");
        assert_eq!(at("<b title='&commat;'>"), "&commat;");
        check("**a**b [c](@d) <i>e</i>", "'a'b 'c' <i>e</i>");
    }

    #[test]
    fn putting_in() {
        assert_eq!(with("abc", &[0, 2, 3], "-"), "-ab-c-");
    }
}
