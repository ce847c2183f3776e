//! How things look on a terminal: colours, ages, cut lines. Text is fully understandable without colour.

mod table;

use std::fmt::{self, Display};
use std::path::Path;

pub use table::{Cell, Table, table};

use crate::control::health::Health;
use crate::model::text;
use crate::model::time::{Timestamp, short_span};

/// Paints text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    /// Use colours.
    pub colour: bool,
}

/// Painted text.
pub struct Painted<T> {
    text: T,
    code: Option<&'static str>,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "\x1b[{code}m{}\x1b[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}

impl Paint {
    /// Any SGR code.
    pub fn with<T: Display>(self, code: &'static str, text: T) -> Painted<T> {
        Painted { text, code: self.colour.then_some(code) }
    }

    /// Headings and names.
    pub fn bold<T: Display>(self, text: T) -> Painted<T> {
        self.with("1", text)
    }

    /// Less important.
    pub fn dim<T: Display>(self, text: T) -> Painted<T> {
        self.with("2", text)
    }

    /// Well.
    pub fn green<T: Display>(self, text: T) -> Painted<T> {
        self.with("32", text)
    }

    /// Look here.
    pub fn yellow<T: Display>(self, text: T) -> Painted<T> {
        self.with("33", text)
    }

    /// Wrong.
    pub fn red<T: Display>(self, text: T) -> Painted<T> {
        self.with("31", text)
    }

    /// Ours, as against foreign text.
    pub fn cyan<T: Display>(self, text: T) -> Painted<T> {
        self.with("36", text)
    }
}

/// "1 file", "3 files".
#[must_use]
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// "12m ago".
#[must_use]
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    format!("{} ago", short_span(now.since(then)))
}

/// Foreign text made harmless for a terminal: no escapes, no bidi controls, and at most `columns` characters.
#[must_use]
pub fn line(foreign: &str, columns: usize) -> String {
    let clean: String = text::one_line(foreign, columns.saturating_mul(4).max(4096))
        .chars()
        .filter(|c| !is_format(*c))
        .collect();
    if clean.chars().count() <= columns {
        return clean;
    }
    let kept: String = clean.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Foreign text of many lines, each made harmless and indented by `margin`; at most `lines_max` lines.
#[must_use]
pub fn block(foreign: &str, margin: &str, columns: usize, lines_max: usize) -> String {
    let clean = text::clean(foreign);
    let width = columns.saturating_sub(margin.chars().count()).max(20);
    let mut out = String::new();
    let mut shown = 0;
    let wrapped: Vec<String> = clean.trim_end().lines().flat_map(|text| wrap(text, width)).collect();
    for text in wrapped.iter().take(lines_max) {
        let visible: String = text.chars().filter(|c| !is_format(*c)).collect();
        out.push_str(format!("{margin}{visible}").trim_end());
        out.push('\n');
        shown += 1;
    }
    if wrapped.len() > shown {
        out.push_str(&format!("{margin}… {} more lines\n", wrapped.len() - shown));
    }
    out
}

/// Breaks a line at blanks into pieces of at most `width` characters.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for word in line.replace('\t', "    ").split_inclusive(' ') {
        let word_length = word.chars().count();
        if length > 0 && length + word.trim_end().chars().count() > width {
            pieces.push(std::mem::take(&mut piece));
            length = 0;
        }
        for c in word.chars() {
            if length == width && c != ' ' {
                pieces.push(std::mem::take(&mut piece));
                length = 0;
            }
            piece.push(c);
            length += 1;
        }
        debug_assert!(length <= width + word_length);
    }
    pieces.push(piece);
    pieces
}

/// Characters that change how others are shown, or show nothing: bidi controls, zero-width characters, tags.
pub(super) fn is_format(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
        || c.is_control()
}

/// JSON text in which the characters that a terminal would act on are escaped: outside of strings JSON has none.
#[must_use]
pub fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_format(c) && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The mark before a unit, and its colour.
#[must_use]
pub fn glyph(health: Health) -> (&'static str, &'static str) {
    match health {
        Health::Ok => ("●", "32"),
        Health::Starting => ("●", "2"),
        Health::Off | Health::Stopped => ("○", "2"),
        Health::Waiting | Health::Retrying | Health::Late => ("▲", "33"),
        Health::Failing | Health::Broken => ("×", "31"),
    }
}

/// "1 unit", "3 units".
#[must_use]
pub fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A path for people: the home directory is `~`.
#[must_use]
pub fn path(path: &Path, home: Option<&Path>) -> String {
    let shown = match home.filter(|home| home.components().count() > 1).map(|home| path.strip_prefix(home)) {
        Some(Ok(below)) => Path::new("~").join(below),
        _ => path.to_owned(),
    };
    line(&shown.display().to_string(), usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(line("a\x1b[31mb\u{202e}c\nd", 40), "a[31mbc d");
        assert_eq!(block("x\x1b]0;t\x07\ny", "| ", 40, 9), "| x]0;t\n| y\n");
        let json = serde_json::to_string_pretty(&["a\u{9b}31m\u{202e}\u{e0041}é"]).unwrap();
        let shown = harmless(&json);
        assert_eq!(shown, "[\n  \"a\\u009b31m\\u202e\\udb40\\udc41é\"\n]");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            serde_json::from_str::<serde_json::Value>(&json).unwrap()
        );
    }

    #[test]
    fn long_lines_are_cut_and_wrapped() {
        assert_eq!(line("abcdef", 4), "abc…");
        assert_eq!(
            block("aaa bbb ccc ddd eee fff", "> ", 22, 1),
            "> aaa bbb ccc ddd eee\n> … 1 more lines\n"
        );
    }

    #[test]
    fn the_home_directory_is_a_tilde() {
        let short = |home| path(Path::new("/home/me/.config/x.toml"), Some(Path::new(home)));
        assert_eq!(
            (short("/home/me"), short("/")),
            ("~/.config/x.toml".into(), "/home/me/.config/x.toml".into())
        );
    }
}
