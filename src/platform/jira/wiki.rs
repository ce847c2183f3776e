//! Answers as wiki markup, for Data Center, which knows no documents; and their mark, an anchor that shows nothing.

use super::inline::Span;
use super::markdown::Block;
use crate::model::marker::is_key;

/// The text of the blocks.
#[must_use]
pub fn text(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        write(&mut out, block, "");
    }
    out.trim_end().to_owned()
}

/// With the mark of the action `key` as its last line.
#[must_use]
pub fn stamp(text: &str, key: &str) -> String {
    format!("{text}\n{{anchor:{key}}}")
}

/// The action key of a text that we wrote. In a quotation it is not the last line by itself.
#[must_use]
pub fn own_key(text: &str) -> Option<&str> {
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    let key = last.trim().strip_prefix("{anchor:")?.strip_suffix('}')?;
    is_key(key).then_some(key)
}

fn write(out: &mut String, block: &Block, marks: &str) {
    match block {
        Block::Heading(level, spans) => out.push_str(&format!("h{level}. {}\n", inline(spans))),
        Block::Paragraph(spans) => out.push_str(&format!("{}\n", inline(spans))),
        Block::Rule => out.push_str("----\n"),
        Block::Code { language, text } => {
            let language = if language.is_empty() { String::new() } else { format!(":{language}") };
            let harmless =
                language.chars().all(|c| c.is_alphanumeric() || matches!(c, ':' | '+' | '#' | '-'));
            let language = if harmless { language } else { String::new() };
            // The end of the block within it would end it.
            let text = text.replace("{code", "{ code");
            out.push_str(&format!("{{code{language}}}\n{text}\n{{code}}\n"));
        }
        Block::Quote(blocks) => {
            out.push_str("{quote}\n");
            blocks.iter().for_each(|block| write(out, block, ""));
            out.push_str("{quote}\n");
        }
        Block::List { first, items } => {
            let marks = format!("{marks}{}", if first.is_some() { '#' } else { '*' });
            for item in items {
                out.push_str(&format!("{marks} "));
                if !matches!(item.first(), Some(Block::Paragraph(_))) {
                    out.push('\n');
                }
                item.iter().for_each(|block| write(out, block, &marks));
            }
        }
    }
}

fn inline(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        let (start, end) = (span.text.len() - span.text.trim_start().len(), span.text.trim_end().len());
        let before = out.chars().next_back();
        let inner = escaped(span.text.trim(), if start > 0 { Some(' ') } else { before });
        if inner.is_empty() {
            out.push_str(&span.text);
            continue;
        }
        let manners = [
            (span.strong && !span.code, "*", "*"),
            (span.em && !span.code, "_", "_"),
            (span.strike && !span.code, "-", "-"),
            (span.code, "{{", "}}"),
        ];
        let manners: Vec<_> = manners.into_iter().filter(|(on, ..)| *on).collect();
        out.push_str(span.text.get(..start).unwrap_or_default());
        manners.iter().for_each(|(_, open, _)| out.push_str(open));
        match &span.link {
            Some(link) if *link != span.text => out.push_str(&format!("[{inner}|{}]", address(link))),
            Some(link) => out.push_str(&address(link)),
            None => out.push_str(&inner),
        }
        manners.iter().rev().for_each(|(_, _, close)| out.push_str(close));
        out.push_str(span.text.get(end..).unwrap_or_default());
    }
    out
}

/// An address in which nothing is markup, and which ends where it ends. One that begins as `[~name]` and `[^file]` do
/// would be a person or a file.
fn address(link: &str) -> String {
    let mut out = String::with_capacity(link.len());
    for c in link.trim().chars() {
        let is_markup =
            matches!(c, '{' | '}' | '[' | ']' | '|' | '!' | '\\' | '^' | '~' | '*' | '"' | '<' | '>');
        if is_markup || c.is_whitespace() || c.is_control() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Signs in brackets that become pictures: `(x)`, `(!)`.
const PICTURES: [&str; 14] =
    ["(y)", "(n)", "(i)", "(/)", "(x)", "(!)", "(+)", "(-)", "(?)", "(on)", "(off)", "(*)", "(*r)", "(flag)"];

/// What would be markup is text: macros, `[~name]`, which calls a person, pictures, tables, and bold, struck and the like
/// where they could begin. `before`: what stands in front.
fn escaped(text: &str, before: Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = before.unwrap_or('\n');
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let next = rest.chars().nth(1);
        let begins = next.is_some_and(|next| !next.is_whitespace()) && !before.is_alphanumeric();
        let at_line = before == '\n';
        let escape = match c {
            '{' | '}' | '[' | ']' | '|' => true,
            // Behind an opening bracket that is text already.
            '~' | '^' if before == '[' => false,
            '*' | '_' | '-' | '+' | '^' | '~' | '!' | '?' => begins || at_line,
            '#' => at_line,
            '(' => PICTURES.iter().any(|picture| {
                rest.get(..picture.len()).is_some_and(|found| found.eq_ignore_ascii_case(picture))
            }),
            _ => false,
        };
        match c {
            // Two of them end a line, so one cannot escape the other.
            '\\' => out.push_str("&#92;"),
            '.' if is_block_word(text.get(..at).unwrap_or_default()) => out.push_str("&#46;"),
            _ => {
                if escape {
                    out.push('\\');
                }
                out.push(c);
            }
        }
        before = c;
    }
    out
}

/// `h1` or `bq` at the beginning of a line: a full stop behind it makes a title or a quotation.
fn is_block_word(before: &str) -> bool {
    let word = before.rsplit('\n').next().unwrap_or_default().trim_start();
    word == "bq"
        || word.strip_prefix('h').is_some_and(|level| matches!(level, "1" | "2" | "3" | "4" | "5" | "6"))
}

#[cfg(test)]
mod tests {
    use super::super::markdown;
    use super::*;

    #[test]
    fn a_bit_of_everything() {
        let markdown = "# T\n\nA **b** *c* `d` [e](https://x.example), [~kim] {color}\nnext\n\n- one\n  1. two\n- three\n\n\
                        > quoted\n\n```rust\nlet {code} = 1;\n```\n---";
        insta::assert_snapshot!(text(&markdown::read(markdown)), @r"
        h1. T

        A *b* _c_ {{d}} [e|https://x.example], \[~kim\] \{color\}
        next

        * one
        *# two
        * three

        {quote}
        quoted
        {quote}

        {code:rust}
        let { code} = 1;
        {code}

        ----
        ");
    }

    #[test]
    fn what_was_typed_is_what_is_read() {
        let check = |markdown: &str, expected: &str| {
            assert_eq!(text(&markdown::read(markdown)), expected, "{markdown}");
        };
        check("a_b and 2-3, well - yes!", "a_b and 2-3, well - yes!");
        check(
            "see !x.png! and ~tilde~ ^up^ +in+ ??who??",
            "see \\!x.png! and \\~tilde~ \\^up^ \\+in+ \\?\\?who??",
        );
        check("|a|b|", "\\|a\\|b\\|");
        check("C:\\\\dir {noformat} (x) (see)", "C:&#92;dir \\{noformat\\} \\(x) (see)");
        check("h1. no title", "h1&#46; no title");
        check("bq. none", "bq&#46; none");
        check("x h1. y", "x h1. y");
        check(
            "[all](https://a.example/x|y]z{w}?q=~me!)",
            "[all|https://a.example/x%7Cy%5Dz%7Bw%7D?q=%7Eme%21]",
        );
        check("[kim](~kim)", "\\[kim\\](\\~kim)");
    }

    #[test]
    fn the_mark_is_the_last_line() {
        let key = "wa-7-0123456789abcdef";
        assert_eq!(own_key(&stamp("Yes.", key)), Some(key));
        assert_eq!(own_key(&format!("{{quote}}\n{}\n{{quote}}\nWhich?", stamp("Yes.", key))), None);
        assert_eq!(own_key("{anchor:top}"), None);
    }
}
