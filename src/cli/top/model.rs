//! What the screen knows, and how it changes. Pure.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::ask::{Looked, Request};
use super::sections::{Section, draft_count};
use super::view;
use crate::cli::screen::{Input, Look, Machine, Order, Page};
use crate::control::wire::cost::CostView;
use crate::control::wire::{ReviewView, StatusView};
use crate::model::time::Timestamp;
use crate::store::JournalLine;

/// Lines of the journal that are kept: some screens of them.
pub(super) const LINES_MAX: usize = 200;

/// Drafts that are kept, the oldest; the rest is counted.
const DRAFTS_MAX: usize = 200;

/// How often the daemon is asked, at most; ages tick in between by themselves.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A look that takes long is made more rarely: it gets this part of the time at most.
const LOOK_SHARE: u32 = 10;

/// The state of the screen.
#[derive(Debug)]
pub(super) struct Model {
    /// Columns and lines.
    pub size: (u16, u16),
    /// How the daemon was at the last look.
    pub status: Option<StatusView>,
    /// Open drafts, oldest first.
    pub drafts: Vec<ReviewView>,
    /// How many of them there are.
    pub drafts_open: usize,
    /// What engines cost since midnight.
    pub cost: Option<CostView>,
    /// The newest lines, oldest first.
    pub journal: VecDeque<JournalLine>,
    /// It does not answer, and why.
    pub lost: Option<String>,
    /// The part that keys move in.
    pub chosen: Section,
    /// Its first line on the screen.
    pub scroll: usize,
    /// The keys are explained.
    pub is_help: bool,
    is_looking: bool,
    looked_at: Timestamp,
    look_at: Timestamp,
}

impl Model {
    /// Before the first look.
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            size: (80, 24),
            status: None,
            drafts: Vec::new(),
            drafts_open: 0,
            cost: None,
            journal: VecDeque::new(),
            lost: None,
            chosen: Section::Journal,
            scroll: 0,
            is_help: false,
            is_looking: false,
            looked_at: now,
            look_at: now,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Order<Request>> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if self.is_help {
            self.is_help = false;
            return Vec::new();
        }
        let page = usize::from(self.size.1 / 2).max(1);
        match key.code {
            KeyCode::Char('c') if control => return vec![Order::Quit],
            KeyCode::Char(_) if control => {}
            KeyCode::Char('q') => return vec![Order::Quit],
            KeyCode::Char('?') | KeyCode::F(1) => self.is_help = true,
            KeyCode::Tab => self.choose(self.chosen.step(1)),
            KeyCode::BackTab => self.choose(self.chosen.step(Section::ALL.len() - 1)),
            KeyCode::Char(digit @ '1'..='5') => {
                let index = digit.to_digit(10).map_or(0, |digit| digit as usize - 1);
                self.choose(Section::ALL.get(index).copied().unwrap_or(self.chosen));
            }
            KeyCode::Char('j') | KeyCode::Down => self.scroll += 1,
            KeyCode::Char('k') | KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll += page,
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(page),
            KeyCode::Char('g') | KeyCode::Home => self.scroll = 0,
            KeyCode::Char('G') | KeyCode::End => self.scroll = usize::MAX / 2,
            _ => {}
        }
        Vec::new()
    }

    fn choose(&mut self, section: Section) {
        (self.chosen, self.scroll) = (section, 0);
    }

    fn looked(&mut self, answer: Result<Box<Looked>, String>, now: Timestamp) {
        self.is_looking = false;
        let took = now.since(self.looked_at);
        self.look_at = now.plus(LOOK_EVERY.max(took.saturating_mul(LOOK_SHARE)));
        let looked = match answer {
            Ok(looked) => *looked,
            Err(why) => {
                self.lost = Some(why);
                return;
            }
        };
        self.lost = None;
        let before = self.status.as_ref().map(|status| status.started_at);
        let looked_started = looked.status.started_at;
        self.drafts_open = draft_count(&looked.status, looked.drafts.len());
        (self.status, self.cost) = (Some(looked.status), Some(looked.cost));
        self.drafts = looked.drafts;
        self.drafts.truncate(DRAFTS_MAX);
        // Another daemon may have another record, whose numbers are smaller.
        if before.is_some_and(|before| before != looked_started) {
            self.journal.clear();
        }
        let last = self.journal.back().map_or(0, |line| line.id);
        self.journal.extend(looked.journal.into_iter().filter(|line| line.id > last));
        let surplus = self.journal.len().saturating_sub(LINES_MAX);
        self.journal.drain(..surplus);
    }
}

impl Machine for Model {
    type Request = Request;
    type Answer = Result<Box<Looked>, String>;

    fn update(&mut self, input: Input<Self::Answer>, now: Timestamp) -> Vec<Order<Request>> {
        let orders = match input {
            Input::Key(key) => self.key(key),
            Input::Answer(answer) => {
                self.looked(answer, now);
                Vec::new()
            }
            Input::Size(columns, lines) => {
                self.size = (columns, lines);
                Vec::new()
            }
            Input::Tick if !self.is_looking && now >= self.look_at => {
                (self.is_looking, self.looked_at) = (true, now);
                let after = self.journal.back().map_or(0, |line| line.id);
                vec![Order::Ask(Request { after, now })]
            }
            Input::Tick | Input::Pasted(_) | Input::Edited(_) => Vec::new(),
        };
        self.scroll = self.scroll.min(view::scroll_max(self, now));
        orders
    }

    fn view(&self, look: Look, now: Timestamp) -> Page {
        view::view(self, look, now)
    }
}
