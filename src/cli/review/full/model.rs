//! What the screen knows. It changes in `update` alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::deeds::Situation;
use super::layout::Layout;
use super::sheet::{Sheet, sheet};
use crate::cli::review::Walked;
use crate::cli::screen::{Field, Look};
use crate::control::wire::ReviewView;
use crate::model::ids::{CaseId, DraftId};
use crate::model::outbound::{ActionState, OutboundAction};
use crate::model::time::Timestamp;

/// A draft that came before one's eyes by itself is not decided on by a key that was meant for the one before.
pub(super) const SETTLES_AFTER: Duration = Duration::from_millis(400);

/// A text that is given back is not broken into lines.
const FAREWELL_WIDTH: usize = 100_000;

/// Texts that were not taken and are still kept.
pub(super) const KEPT_MAX: usize = 32;

/// What is typed at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Keys are decisions.
    Deciding,
    /// The keys are explained, from this line on.
    Help(usize),
    /// A line is typed for a decision on this draft.
    Typing { draft: DraftId, what: Typed, field: Field },
}

/// What a typed line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A word on a rejection, and whether the engine tries again.
    Rejection { retry: bool },
    /// Why the case needs no answer.
    Dismissal { case: CaseId },
    /// For how long it is put away.
    Deferral,
    /// The value of an effect: its verb, what it is.
    Value { verb: String, what: String },
}

/// A line for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// What.
    pub text: String,
    /// Something did not go as wished.
    pub is_bad: bool,
}

/// The state of the screen.
#[derive(Debug)]
pub(super) struct Model {
    /// Open drafts, oldest first.
    pub cards: Vec<ReviewView>,
    /// The one that is shown.
    pub at: usize,
    /// Its first line on the screen.
    pub scroll: usize,
    /// All of its answer was on the screen.
    pub is_read: bool,
    /// Since when it is shown.
    pub since: Timestamp,
    /// The effect that the next blank turns around.
    pub choice: usize,
    /// The whole thread is shown, and all of each text.
    pub is_whole: bool,
    /// What is typed.
    pub mode: Mode,
    /// Columns and lines.
    pub size: (u16, u16),
    /// The newest sends, newest first.
    pub sends: Vec<OutboundAction>,
    /// A line for the person.
    pub said: Option<Said>,
    /// A decision is on its way.
    pub is_deciding: bool,
    /// The screen is left as soon as that decision has arrived.
    pub is_leaving: bool,
    /// A look is on its way.
    pub is_looking: bool,
    /// When the last one began.
    pub looked_at: Timestamp,
    /// When the next one is due.
    pub look_at: Timestamp,
    /// Looks so far.
    pub looks: u64,
    /// How the daemon is.
    pub situation: Option<Situation>,
    /// It does not answer, and why.
    pub lost: Option<String>,
    /// The version that is in the editor.
    pub editing: Option<(DraftId, String)>,
    /// Texts that were written and not taken, by draft.
    pub kept: BTreeMap<DraftId, String>,
    /// What was decided here.
    pub walked: Walked,
}

impl Model {
    /// Before the first look.
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            cards: Vec::new(),
            at: 0,
            scroll: 0,
            is_read: false,
            since: now,
            choice: 0,
            is_whole: false,
            mode: Mode::Deciding,
            size: (80, 24),
            sends: Vec::new(),
            said: None,
            is_deciding: false,
            is_leaving: false,
            is_looking: false,
            looked_at: now,
            look_at: now,
            looks: 0,
            situation: None,
            lost: None,
            editing: None,
            kept: BTreeMap::new(),
            walked: Walked::default(),
        }
    }

    /// The draft that is shown.
    pub(super) fn card(&self) -> Option<&ReviewView> {
        self.cards.get(self.at)
    }

    /// The parts of the screen.
    pub(super) fn layout(&self, now: Timestamp) -> Option<Layout> {
        Layout::new(self.size, self.cards.len(), self.has_sends(now))
    }

    /// The shown draft in lines.
    pub(super) fn sheet(&self, look: Look, now: Timestamp) -> Option<Sheet> {
        let layout = self.layout(now)?;
        Some(sheet(self.card()?, self, layout, look, now))
    }

    /// Too early for a decision.
    pub(super) fn settles(&self, now: Timestamp) -> bool {
        now < self.since.plus(SETTLES_AFTER)
    }

    /// The send that `u` takes back: the newest that has not left.
    pub(super) fn undoable(&self, now: Timestamp) -> Option<&OutboundAction> {
        let waits = |action: &&OutboundAction| {
            action.state == ActionState::Approved && (action.not_before > now || self.is_paused())
        };
        self.sends.iter().find(waits)
    }

    /// Nothing leaves now.
    pub(super) fn is_paused(&self) -> bool {
        self.situation.is_some_and(|situation| situation.paused || !situation.running)
    }

    /// Shows another draft, from its top.
    pub(super) fn turn_to(&mut self, at: usize, now: Timestamp) {
        self.at = at.min(self.cards.len().saturating_sub(1));
        self.begin_anew(now);
    }

    /// The shown draft is another one, or another version.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        (self.scroll, self.choice, self.is_read, self.is_whole) = (0, 0, false, false);
        self.since = now;
    }

    /// Takes a draft out of the queue; the next one comes up.
    pub(super) fn take_out(&mut self, draft: DraftId, now: Timestamp) {
        let Some(index) = self.cards.iter().position(|card| card.draft.id == draft) else { return };
        self.cards.remove(index);
        match index.cmp(&self.at) {
            std::cmp::Ordering::Less => self.at -= 1,
            std::cmp::Ordering::Equal => self.turn_to(index, now),
            std::cmp::Ordering::Greater => {}
        }
    }

    /// Says something.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.said = Some(Said { text: text.into(), is_bad: false });
    }

    /// Says what did not go as wished.
    pub(super) fn say_bad(&mut self, text: impl Into<String>) {
        self.said = Some(Said { text: text.into(), is_bad: true });
    }

    /// Keeps a text that was not taken.
    pub(super) fn keep(&mut self, draft: DraftId, text: String) {
        if self.kept.len() < KEPT_MAX || self.kept.contains_key(&draft) {
            self.kept.insert(draft, text);
        }
    }

    /// What is said when the screen is left: what was decided, and every text that would be lost.
    pub(super) fn farewell(&self) -> String {
        let mut walked = self.walked;
        walked.left = self.cards.len();
        let mut out = walked.to_string();
        for (draft, text) in &self.kept {
            let text = crate::cli::look::block(text, "", FAREWELL_WIDTH, usize::MAX);
            let _ = write!(out, "\nyour text for {draft} was not taken:\n\n{text}");
        }
        out
    }
}
