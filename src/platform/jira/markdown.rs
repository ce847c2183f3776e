//! The subset of Markdown that answers are written in: headings, lists, quotes, code, rules, paragraphs; bold, italic,
//! struck, code and links. What is not understood stays as it was typed.

use super::inline::{self, Span};

/// Lists in lists and quotes in quotes; deeper ones are paragraphs.
const DEPTH_MAX: usize = 6;

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// `## Title`.
    Heading(u8, Vec<Span>),
    /// Lines of text.
    Paragraph(Vec<Span>),
    /// Between fences; the language may be empty.
    Code {
        /// `rust`.
        language: String,
        /// Without the fences.
        text: String,
    },
    /// Behind `>`.
    Quote(Vec<Block>),
    /// `-` or `1.`
    List {
        /// The first number; `None` for bullets.
        first: Option<u32>,
        /// What stands in each.
        items: Vec<Vec<Block>>,
    },
    /// `---`.
    Rule,
}

/// A list item's mark: how far it is indented, its number, and where its text begins.
#[derive(Clone, Copy)]
struct Mark {
    indent: usize,
    number: Option<u32>,
    text_at: usize,
}

/// Reads a text.
#[must_use]
pub fn read(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    blocks(&lines, 0)
}

fn blocks(lines: &[&str], depth: usize) -> Vec<Block> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let (block, taken) = if line.trim().is_empty() {
            (None, 1)
        } else if let Some(found) = code(rest) {
            found
        } else if let Some((level, title)) = heading(line) {
            (Some(Block::Heading(level, inline::spans(title))), 1)
        } else if is_rule(line) {
            (Some(Block::Rule), 1)
        } else if depth < DEPTH_MAX && line.trim_start().starts_with('>') {
            quote(rest, depth)
        } else if let Some(mark) = mark(line).filter(|_| depth < DEPTH_MAX) {
            list(rest, mark, depth)
        } else {
            paragraph(rest, depth)
        };
        out.extend(block);
        at += taken;
    }
    out
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let line = line.trim();
    let title = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - title.len()).ok().filter(|level| (1..=6).contains(level))?;
    let text = title.strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim_end();
    (!text.is_empty()).then_some((level, text))
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && ['-', '*', '_'].iter().any(|mark| line.chars().all(|c| c == *mark))
}

fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mark = ['`', '~'].into_iter().find(|mark| line.starts_with(&mark.to_string().repeat(3)))?;
    let language = line.trim_start_matches(mark);
    let marks = line.get(..line.len() - language.len())?;
    (!language.contains('`')).then(|| (marks, language.trim()))
}

/// A block of code: to its end, or to the end of the text.
fn code(lines: &[&str]) -> Option<(Option<Block>, usize)> {
    let (marks, language) = fence(lines.first()?)?;
    let ends = |line: &&str| {
        let line = line.trim();
        line.len() >= marks.len() && line.chars().all(|c| marks.starts_with(c))
    };
    let inside: Vec<&str> = lines.iter().skip(1).copied().take_while(|line| !ends(line)).collect();
    let closed = lines.get(inside.len() + 1).is_some();
    let language = language.split_whitespace().next().unwrap_or_default().to_owned();
    Some((Some(Block::Code { language, text: inside.join("\n") }), inside.len() + 1 + usize::from(closed)))
}

fn quote(lines: &[&str], depth: usize) -> (Option<Block>, usize) {
    let quoted: Vec<&str> = lines
        .iter()
        .map_while(|line| line.trim_start().strip_prefix('>'))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    (Some(Block::Quote(blocks(&quoted, depth + 1))), quoted.len().max(1))
}

fn mark(line: &str) -> Option<Mark> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, width) = match digits {
        0 if text.starts_with(['-', '*', '+', '•']) => {
            (None, text.chars().next().map_or(1, char::len_utf8))
        }
        1..=6 if text.get(digits..).is_some_and(|rest| rest.starts_with(['.', ')'])) => {
            (text.get(..digits)?.parse().ok(), digits + 1)
        }
        _ => return None,
    };
    let behind = text.get(width..)?;
    // A mark alone on its line is an empty item.
    let is_mark = behind.is_empty() || behind.starts_with([' ', '\t']);
    is_mark.then(|| Mark { indent, number, text_at: (indent + width + 1).min(line.len()) })
}

fn list(lines: &[&str], first: Mark, depth: usize) -> (Option<Block>, usize) {
    let mut items: Vec<Vec<&str>> = Vec::new();
    let mut at = 0;
    let inner = |line: &&str| line.len() - line.trim_start().len() > first.indent + 1;
    while let Some(line) = lines.get(at) {
        let same = mark(line).filter(|mark| {
            mark.indent <= first.indent + 1
                && mark.number.is_some() == first.number.is_some()
                && !is_rule(line)
        });
        if let Some(mark) = same {
            items.push(vec![line.get(mark.text_at..).unwrap_or_default()]);
        } else if line.trim().is_empty() {
            let next = lines.get(at + 1..).unwrap_or_default().iter().find(|line| !line.trim().is_empty());
            let goes_on = next.is_some_and(|next| {
                inner(next)
                    || mark(next).is_some_and(|mark| {
                        mark.number.is_some() == first.number.is_some() && mark.indent <= first.indent + 1
                    })
            });
            if !goes_on {
                break;
            }
            items.last_mut().into_iter().for_each(|item| item.push(""));
        } else if inner(line) || !starts_block(line) {
            let text =
                line.get(first.text_at.min(line.len() - line.trim_start().len())..).unwrap_or_default();
            items.last_mut().into_iter().for_each(|item| item.push(text));
        } else {
            break;
        }
        at += 1;
    }
    let items = items.iter().map(|item| blocks(item, depth + 1)).collect();
    (Some(Block::List { first: first.number, items }), at.max(1))
}

fn starts_block(line: &str) -> bool {
    fence(line).is_some()
        || heading(line).is_some()
        || is_rule(line)
        || mark(line).is_some()
        || line.trim_start().starts_with('>')
}

fn paragraph(lines: &[&str], depth: usize) -> (Option<Block>, usize) {
    let ends = |line: &&str| line.trim().is_empty() || (depth < DEPTH_MAX && starts_block(line));
    // The first line was no block, whatever it looks like.
    let more = lines.iter().skip(1).take_while(|line| !ends(line)).count();
    let text: Vec<&str> = lines.iter().take(more + 1).map(|line| line.trim()).collect();
    (Some(Block::Paragraph(inline::spans(&text.join("\n")))), more + 1)
}
