//! One line that is typed in.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

use super::words::{columns, harmless_line};

/// A note is a sentence or two; more comes by the editor.
const BYTES_MAX: usize = 2000;

/// A line of input with its cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Field {
    before: String,
    after: String,
}

impl Field {
    /// With a text to begin with, the cursor behind it.
    pub(in crate::cli) fn new(text: &str) -> Self {
        Self { before: text.to_owned(), after: String::new() }
    }

    /// What was typed.
    pub(in crate::cli) fn text(&self) -> String {
        format!("{}{}", self.before, self.after).trim().to_owned()
    }

    /// The part that fits into so many columns, and the column of the cursor in it.
    pub(in crate::cli) fn shown(&self, width: usize) -> (String, usize) {
        let mut start = self.before.as_str();
        while columns(start) + 1 > width
            && let Some(first) = start.graphemes(true).next()
        {
            start = start.get(first.len()..).unwrap_or_default();
        }
        let mut text = format!("{start}{}", self.after);
        while columns(&text) > width
            && let Some((at, _)) = text.grapheme_indices(true).next_back()
        {
            text.truncate(at);
        }
        (text, columns(start))
    }

    /// Adds text, as one line.
    pub(in crate::cli) fn insert(&mut self, text: &str) {
        let text = harmless_line(text);
        if self.before.len() + self.after.len() + text.len() <= BYTES_MAX {
            self.before.push_str(&text);
        }
    }

    /// Takes a key, if it is one for a line of input.
    pub(in crate::cli) fn key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if control => self.before.clear(),
            KeyCode::Char('k') if control => self.after.clear(),
            KeyCode::Char('a') if control => self.home(),
            KeyCode::Char('e') if control => self.end(),
            KeyCode::Char('w') if control => {
                let kept = self.before.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.before.truncate(kept);
            }
            KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => {}
            // A blank or a mark alone would be taken away as part of a text.
            KeyCode::Char(c) if !c.is_control() && self.before.len() + self.after.len() < BYTES_MAX => {
                self.before.push(c);
            }
            KeyCode::Backspace => {
                let last = self.before.grapheme_indices(true).next_back().map(|(at, _)| at);
                self.before.truncate(last.unwrap_or(0));
            }
            KeyCode::Delete => {
                let first = self.after.graphemes(true).next().map_or(0, str::len);
                self.after.drain(..first);
            }
            KeyCode::Left => {
                if let Some((at, _)) = self.before.grapheme_indices(true).next_back() {
                    let moved = self.before.split_off(at);
                    self.after.insert_str(0, &moved);
                }
            }
            KeyCode::Right => {
                let first = self.after.graphemes(true).next().map_or(0, str::len);
                let moved: String = self.after.drain(..first).collect();
                self.before.push_str(&moved);
            }
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            _ => {}
        }
    }

    fn home(&mut self) {
        self.after.insert_str(0, &std::mem::take(&mut self.before));
    }

    fn end(&mut self) {
        self.before.push_str(&std::mem::take(&mut self.after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[KeyCode], text: &str, shown: (&str, usize)) {
        let mut field = Field::default();
        for code in keys {
            field.key(KeyEvent::new(*code, KeyModifiers::NONE));
        }
        let (visible, at) = field.shown(6);
        assert_eq!((field.text().as_str(), (visible.as_str(), at)), (text, shown));
    }

    #[test]
    fn a_line_is_typed_and_mended() {
        use KeyCode::{Backspace, Char, Delete, Home, Left, Right};
        check(&[Char('a'), Char('b')], "ab", ("ab", 2));
        check(&[Char('a'), Char('b'), Left, Char('c')], "acb", ("acb", 2));
        check(&[Char('日'), Char('本'), Backspace], "日", ("日", 2));
        check(&[Char('a'), Char('b'), Home, Delete, Right, Char('c')], "bc", ("bc", 2));
        check(&[Backspace, Delete, Left, Right], "", ("", 0));
    }

    #[test]
    fn a_long_line_shows_where_the_cursor_is() {
        let keys: Vec<KeyCode> = "abcdefgh".chars().map(KeyCode::Char).collect();
        check(&keys, "abcdefgh", ("defgh", 5));
    }

    #[test]
    fn pasted_text_becomes_one_line_of_bounded_length() {
        let mut field = Field::new("x ");
        field.insert("a\nb\x1b[31m");
        assert_eq!(field.text(), "x a b[31m");
        field.insert(&"y".repeat(BYTES_MAX));
        assert_eq!(field.text(), "x a b[31m");
    }
}
