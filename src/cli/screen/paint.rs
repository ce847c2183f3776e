//! How things look on a full screen. Every state has its word or mark; a colour only repeats it.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::words::{columns, fit};

/// With or without colours.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Look {
    /// Use colours.
    pub colour: bool,
}

impl Look {
    fn with(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Headings and names.
    pub(in crate::cli) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Less important.
    pub(in crate::cli) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Well.
    pub(in crate::cli) fn good(self) -> Style {
        self.with(Color::Green)
    }

    /// Look here.
    pub(in crate::cli) fn warn(self) -> Style {
        self.with(Color::Yellow)
    }

    /// Wrong.
    pub(in crate::cli) fn bad(self) -> Style {
        self.with(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Ours, as against foreign text.
    pub(in crate::cli) fn ours(self) -> Style {
        self.with(Color::Cyan)
    }

    /// The bars at the top and at the bottom, and what is chosen in a list.
    pub(in crate::cli) fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// One piece of text in one style.
pub(in crate::cli) fn styled(text: impl Into<String>, style: Style) -> Line<'static> {
    Line::from(Span::styled(text.into(), style))
}

/// Cut or filled up to exactly so many columns.
pub(in crate::cli) fn padded(text: &str, width: usize) -> String {
    let mut text = fit(text, width);
    let missing = width.saturating_sub(columns(&text));
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// One text at the left, one at the right, in exactly so many columns; the left one gives way.
pub(in crate::cli) fn spread(left: &str, right: &str, width: usize) -> String {
    let right = fit(right, width);
    let room = width.saturating_sub(columns(&right));
    let left = if room > 1 { padded(left, room - 1) + " " } else { " ".repeat(room) };
    left + &right
}
