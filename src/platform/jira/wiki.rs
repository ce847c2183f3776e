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
        let inner = escaped(span.text.trim());
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
            Some(link) if *link != span.text => out.push_str(&format!("[{inner}|{link}]")),
            Some(link) => out.push_str(link),
            None => out.push_str(&inner),
        }
        manners.iter().rev().for_each(|(_, _, close)| out.push_str(close));
        out.push_str(span.text.get(end..).unwrap_or_default());
    }
    out
}

/// What would be markup is text: macros, and `[~name]`, which calls a person.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '{' | '}' | '[' | ']' | '|' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
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
    fn the_mark_is_the_last_line() {
        let key = "wa-7-0123456789abcdef";
        assert_eq!(own_key(&stamp("Yes.", key)), Some(key));
        assert_eq!(own_key(&format!("{{quote}}\n{}\n{{quote}}\nWhich?", stamp("Yes.", key))), None);
        assert_eq!(own_key("{anchor:top}"), None);
    }
}
