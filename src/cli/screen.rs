//! Full screens of the terminal: `review` and `top`. A screen is a machine without I/O that is told what happened and
//! answers with what is to be done; this room holds the terminal, the keys and the clock for it.

mod field;
mod paint;
mod run;
mod terminal;
mod words;

use std::io::IsTerminal as _;

use ratatui::crossterm::event::KeyEvent;
use ratatui::text::Line;

use super::context::Context;
use crate::model::time::Timestamp;

pub(super) use field::Field;
pub(super) use paint::{Look, padded, spread, styled};
pub(super) use run::{Setting, run};
#[cfg(test)]
pub(super) use terminal::draw;
pub(super) use words::{columns, fit, harmless_line, wrapped};

/// A terminal on both sides, and one that can move its cursor.
pub(super) fn can_draw(context: &Context<'_>) -> bool {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    terminal && context.environment.get("TERM").is_none_or(|name| name != "dumb")
}

/// Something happened.
#[derive(Debug)]
pub(super) enum Input<A> {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted: never taken for keys.
    Pasted(String),
    /// An order was carried out.
    Answer(A),
    /// The editor ended, with what was saved or with why it was not.
    Edited(Result<String, String>),
    /// Time went by.
    Tick,
    /// The terminal has so many columns and lines.
    Size(u16, u16),
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order<R> {
    /// Ask the daemon; orders are carried out one after another.
    Ask(R),
    /// Open this text in the user's editor.
    Edit(String),
    /// Leave.
    Quit,
}

/// What is on the screen: a line for each line of the terminal, from the top.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The lines.
    pub lines: Vec<Line<'static>>,
    /// Where the cursor blinks, column and line; else it is hidden.
    pub cursor: Option<(u16, u16)>,
}

/// A screen as a state machine.
pub(super) trait Machine {
    /// What it asks of the daemon.
    type Request;
    /// What comes back.
    type Answer;

    /// Moves on.
    fn update(&mut self, input: Input<Self::Answer>, now: Timestamp) -> Vec<Order<Self::Request>>;

    /// How it looks now.
    fn view(&self, look: Look, now: Timestamp) -> Page;
}
