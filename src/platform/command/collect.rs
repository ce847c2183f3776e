//! What one run of the program gave: items with the states behind them, and how it ended.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::tap::Reader;
use super::tap_run::Caps;
use super::wire::{Fault, Line};
use crate::model::item::Item;
use crate::model::limits;
use crate::model::text::{one_line, short_size};
use crate::platform::record::item::{self as map, Rules};
use crate::secret::Scrubber;

/// Items that are committed together with the state behind them.
#[derive(Debug, Default)]
pub struct Chunk {
    pub items: Vec<Item>,
    /// The state line behind them; without one the position stays.
    pub state: Option<Value>,
}

/// Takes the lines of a poll.
pub struct Collector<'a> {
    rules: &'a Rules,
    scrubber: &'a Scrubber,
    reader: Reader<'a>,
    caps: Caps,
    items_max: usize,
    open: Chunk,
    taken: usize,
    odd_lines: u64,
    odd_line: String,
    lossy: bool,
    logs: Vec<String>,
    logs_left: u64,
    /// Whole chunks, in order, none with more than `items_max` items.
    pub chunks: VecDeque<Chunk>,
    /// The program's own word on a failure.
    pub fault: Option<Fault>,
    /// The end was said: more right now, and the wait asked for.
    pub done: Option<(bool, Option<Duration>)>,
    /// Why the rest was not taken.
    pub broken: Option<String>,
    /// It gave as many items as one run may.
    pub full: bool,
}

impl<'a> Collector<'a> {
    #[must_use]
    pub fn new(
        rules: &'a Rules,
        scrubber: &'a Scrubber,
        reader: Reader<'a>,
        caps: Caps,
        items_max: usize,
    ) -> Self {
        Self {
            rules,
            scrubber,
            reader,
            caps,
            items_max: items_max.max(1),
            open: Chunk::default(),
            taken: 0,
            odd_lines: 0,
            odd_line: String::new(),
            lossy: false,
            logs: Vec::new(),
            logs_left: 0,
            chunks: VecDeque::new(),
            fault: None,
            done: None,
            broken: None,
            full: false,
        }
    }

    /// The last state it gave.
    #[must_use]
    pub fn last_state(&self) -> Option<&Value> {
        self.chunks.iter().rev().find_map(|chunk| chunk.state.as_ref())
    }

    /// One line; `false` once nothing further is taken and the program may be ended.
    pub fn take(&mut self, line: &[u8]) -> bool {
        if self.broken.is_some() {
            return false;
        }
        let line = match String::from_utf8_lossy(line) {
            std::borrow::Cow::Owned(lossy) => {
                self.lossy = true;
                lossy
            }
            std::borrow::Cow::Borrowed(text) => text.to_owned(),
        };
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return true;
        }
        match self.reader.read(line) {
            Some(Line::Item(value)) => self.item(&value),
            Some(Line::State(state)) => self.state(state),
            Some(Line::Log(message)) if message.is_empty() => {}
            Some(Line::Log(message)) if self.logs.len() < self.caps.logs => {
                self.logs.push(self.scrubber.scrub_owned(message));
            }
            Some(Line::Log(_)) => self.logs_left += 1,
            Some(Line::Error(fault)) => self.fault = self.fault.take().or(Some(fault)),
            Some(Line::Done { more, wait }) => self.done = Some((more, wait)),
            Some(_) => {}
            None => {
                if self.odd_lines == 0 {
                    self.odd_line = one_line(&self.scrubber.scrub_owned(line.to_owned()), 120);
                }
                self.odd_lines += 1;
            }
        }
        self.broken.is_none()
    }

    fn item(&mut self, value: &Value) {
        if self.taken == self.caps.items {
            self.full = true;
            self.broken = Some(format!("it gave more than {} items in one run", self.caps.items));
            return;
        }
        self.taken += 1;
        self.open.items.push(map::item(value, self.rules, self.scrubber));
        if self.open.items.len() == self.items_max {
            self.chunks.push_back(std::mem::take(&mut self.open));
        }
    }

    fn state(&mut self, state: Value) {
        let size = state.to_string().len();
        if size > limits::COMMAND_STATE_BYTES_MAX {
            self.broken = Some(format!(
                "its state has {}; a position is at most {}",
                short_size(size as u64),
                short_size(limits::COMMAND_STATE_BYTES_MAX as u64)
            ));
            return;
        }
        // A position is kept in the database, where no secret may be.
        let text = state.to_string();
        if self.scrubber.mask_whole(&text) != text {
            self.broken = Some("its state holds a secret, which is not kept".to_owned());
            return;
        }
        // States come by the hundred; those whose items fit one page are committed with the last of them.
        if let Some(last) = self
            .chunks
            .back_mut()
            .filter(|last| last.state.is_some() && last.items.len() + self.open.items.len() <= self.items_max)
        {
            last.items.append(&mut self.open.items);
            last.state = Some(state);
            return;
        }
        self.open.state = Some(state);
        self.chunks.push_back(std::mem::take(&mut self.open));
    }

    /// The rest: items behind the last state are kept, the position stays.
    pub fn close(&mut self) {
        if !self.open.items.is_empty() {
            self.chunks.push_back(std::mem::take(&mut self.open));
        }
    }

    /// Remarks for people.
    #[must_use]
    pub fn notes(&self, lines_skipped: u64) -> Vec<String> {
        let mut notes = self.logs.clone();
        if self.logs_left > 0 {
            notes.push(format!("{} more log lines", self.logs_left));
        }
        if self.odd_lines > 0 {
            let (count, what) = (self.odd_lines, if self.odd_lines == 1 { "line is" } else { "lines are" });
            notes.push(format!("{count} {what} not of the protocol, the first: {}", self.odd_line));
        }
        if lines_skipped > 0 {
            let most = short_size(limits::COMMAND_LINE_BYTES_MAX as u64);
            notes.push(format!("{lines_skipped} lines longer than {most} were skipped"));
        }
        if self.lossy {
            notes.push("its output is not all UTF-8; other bytes are shown as \u{fffd}".to_owned());
        }
        notes
    }
}
