//! Markdown as platforms show it: what a reader of the rendered page does not see is taken out and told.

use super::HiddenParts;
use super::text::hidden_in_text;
use crate::model::item::HiddenPart;

/// `text` without HTML comments and link definitions used as comments (`[//]: # (…)`), and without characters that show
/// nothing; what was taken out. Code stays as it is: there a comment is shown.
#[must_use]
pub fn to_text(text: &str) -> (String, Vec<HiddenPart>) {
    let (text, characters) = hidden_in_text(text);
    let mut hidden = HiddenParts::default();
    let mut visible = String::with_capacity(text.len());
    let mut fence: Option<(char, usize)> = None;
    let mut rest = text.as_str();
    // Known once: a search for an end that is not there, at each beginning, would take quadratic time.
    let last_end = text.rfind("-->");
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
        let marks = fence_of(line);
        match (fence, marks) {
            (Some((mark, length)), Some((other, longer, bare)))
                if mark == other && bare && longer >= length =>
            {
                fence = None;
            }
            (None, Some((mark, length, _))) => fence = Some((mark, length)),
            _ => {}
        }
        if fence.is_some() || marks.is_some() {
            visible.push_str(line);
            rest = after;
        } else if let Some(comment) = definition_comment(line) {
            hidden.push("markdown comment", comment);
            rest = after;
        } else {
            let last_end = last_end.and_then(|end| end.checked_sub(text.len() - rest.len()));
            let read = without_comments(rest, line.len(), last_end, &mut visible, &mut hidden);
            rest = rest.get(read..).unwrap_or_default();
        }
    }
    hidden.extend(characters);
    (visible, hidden.finish())
}

/// Takes one line, and where a comment begins in it, up to the comment's end, which may lie lines below. Gives the bytes
/// taken. `last_end` is where the last `-->` stands.
fn without_comments(
    rest: &str,
    line_len: usize,
    last_end: Option<usize>,
    visible: &mut String,
    hidden: &mut HiddenParts,
) -> usize {
    let mut at = 0;
    while at < line_len {
        let line = rest.get(at..line_len).unwrap_or_default();
        let Some(next) = line.find(['`', '<']) else { break };
        visible.push_str(line.get(..next).unwrap_or_default());
        at += next;
        let here = rest.get(at..).unwrap_or_default();
        if here.starts_with('`') {
            let code = code_span(rest.get(at..line_len).unwrap_or_default());
            visible.push_str(here.get(..code).unwrap_or_default());
            at += code;
            continue;
        }
        let Some(inner) = here.strip_prefix("<!--") else {
            visible.push('<');
            at += 1;
            continue;
        };
        let at_start = rest.get(..at).is_some_and(|before| before.trim().is_empty());
        let ends = last_end.is_some_and(|end| end >= at + "<!--".len());
        match ends.then(|| inner.find("-->")).flatten() {
            Some(end) => {
                hidden.push("html comment", inner.get(..end).unwrap_or_default());
                at += "<!--".len() + end + "-->".len();
                if at >= line_len {
                    return at;
                }
            }
            // A block of HTML that never ends swallows the rest of the document.
            None if at_start => {
                hidden.push("html comment", inner);
                return rest.len();
            }
            None => {
                visible.push_str("<!--");
                at += "<!--".len();
            }
        }
    }
    visible.push_str(rest.get(at..line_len).unwrap_or_default());
    line_len.max(at)
}

/// The mark, its length, and that nothing stands behind it, of a line that begins or ends a block of code.
fn fence_of(line: &str) -> Option<(char, usize, bool)> {
    let trimmed = line.trim_start_matches(' ');
    if line.len() - trimmed.len() > 3 {
        return None;
    }
    let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let behind = trimmed.trim_start_matches(mark);
    let length = trimmed.len() - behind.len();
    let is_code_span = mark == '`' && behind.contains('`');
    (length >= 3 && !is_code_span).then(|| (mark, length, behind.trim().is_empty()))
}

/// The length of the code span that the line begins with, or of its backticks alone if it never ends on the line.
fn code_span(line: &str) -> usize {
    let run = line.len() - line.trim_start_matches('`').len();
    let mut at = run;
    while let Some(next) = line.get(at..).and_then(|rest| rest.find('`')) {
        let start = at + next;
        let rest = line.get(start..).unwrap_or_default();
        let length = rest.len() - rest.trim_start_matches('`').len();
        at = start + length;
        if length == run {
            return at;
        }
    }
    run
}

/// The text of a line such as `[//]: # (text)` or `[comment]: <> (text)`.
fn definition_comment(line: &str) -> Option<&str> {
    let (label, target) = line.trim().strip_prefix('[')?.split_once("]:")?;
    let target = target.trim_start();
    let nowhere = label.trim_start().starts_with("//") || target.starts_with('#') || target.starts_with("<>");
    nowhere.then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, visible: &str, hidden: &[(&str, &str)]) {
        let (text, parts) = to_text(input);
        let parts = parts.iter().map(|part| (part.why.as_str(), part.text.as_str())).collect::<Vec<_>>();
        assert_eq!((text.as_str(), parts.as_slice()), (visible, hidden), "{input}");
    }

    #[test]
    fn ordinary_text_stays() {
        for text in ["", "a\nb", "a < b <- c <b>d</b>\n", "# T\n- `x`\n", "[a]: https://example.org\n", "<"] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn comments_are_taken_out_and_told() {
        check("a<!-- do this -->b", "ab", &[("html comment", "do this")]);
        check("a\n<!-- one\n\ntwo\n-->\nb", "a\n\nb", &[("html comment", "one\n\ntwo")]);
        check("a <!-- x --> b <!-- y -->\nc", "a  b \nc", &[("html comment", "x"), ("html comment", "y")]);
        check("<!-- x\n--> `<!-- y -->`", " `<!-- y -->`", &[("html comment", "x")]);
        check("a\n<!-- never ends\nb", "a\n", &[("html comment", "never ends\nb")]);
        check("a <!-- never ends\nb", "a <!-- never ends\nb", &[]);
        check("a\n[//]: # (say yes)\nb", "a\nb", &[("markdown comment", "# (say yes)")]);
    }

    #[test]
    fn in_code_they_are_shown() {
        check("`<!-- a -->` ``<!-- ` -->``", "`<!-- a -->` ``<!-- ` -->``", &[]);
        check("```html\n<!-- a -->\n```\n<!-- b -->", "```html\n<!-- a -->\n```\n", &[("html comment", "b")]);
        check("~~~\n```\n<!-- a -->\n~~~", "~~~\n```\n<!-- a -->\n~~~", &[]);
        check("` <!-- a -->", "` ", &[("html comment", "a")]);
    }

    #[test]
    fn unseen_characters_too() {
        check(
            "a\u{200b}b <!-- c -->",
            "ab ",
            &[("html comment", "c"), ("zero-width characters", "1 × U+200B")],
        );
    }

    #[test]
    fn time_grows_with_the_length_alone() {
        let many = "<!-- ` <!--".repeat(20_000);
        assert!(to_text(&many).0.len() <= many.len());
        assert_eq!(to_text(&"`".repeat(100_000)).0.len(), 100_000);
    }
}
