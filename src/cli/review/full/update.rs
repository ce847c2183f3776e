//! What follows on what happened. Pure.

use std::time::Duration;

use super::deeds::{Answer, Deed, Done, Looked, Request};
use super::keys;
use super::model::{Mode, Model};
use super::view;
use crate::cli::screen::{Input, Look, Machine, Order, Page, harmless_line};
use crate::control::wire::ReviewView;
use crate::model::draft::DraftState;
use crate::model::ids::DraftId;
use crate::model::time::{Timestamp, short_span};

/// How often the queue is looked at anew, at most.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A look that takes long is made more rarely: it gets this part of the time at most.
const LOOK_SHARE: u32 = 10;

/// What an order takes: "in 3h" shall not become "in 2h" by it.
const ROUNDING: Duration = Duration::from_secs(1);

/// Each so many looks ask how the daemon is, too.
const SITUATION_EVERY: u64 = 5;

pub(super) type Orders = Vec<Order<Request>>;

impl Machine for Model {
    type Request = Request;
    type Answer = Answer;

    fn update(&mut self, input: Input<Answer>, now: Timestamp) -> Orders {
        let orders = match input {
            Input::Key(key) => keys::key(self, key, now),
            Input::Pasted(text) => self.pasted(&text),
            Input::Answer(answer) => self.answered(answer, now),
            Input::Edited(edited) => self.edited(edited, now),
            Input::Tick => self.tick(now),
            Input::Size(columns, lines) => {
                self.size = (columns, lines);
                Vec::new()
            }
        };
        self.note_what_is_seen(now);
        orders
    }

    fn view(&self, look: Look, now: Timestamp) -> Page {
        view::view(self, look, now)
    }
}

impl Model {
    fn tick(&mut self, now: Timestamp) -> Orders {
        if self.is_looking || now < self.look_at {
            return Vec::new();
        }
        vec![self.look(now)]
    }

    /// Looks at everything.
    pub(super) fn look(&mut self, now: Timestamp) -> Order<Request> {
        (self.is_looking, self.looked_at) = (true, now);
        let situation = self.looks.is_multiple_of(SITUATION_EVERY);
        self.looks += 1;
        Order::Ask(Request::Look { situation })
    }

    fn pasted(&mut self, text: &str) -> Orders {
        match &mut self.mode {
            Mode::Typing { field, .. } => field.insert(text),
            _ => self.say_bad("pasted text decides nothing"),
        }
        Vec::new()
    }

    /// The lines on the screen count as read.
    fn note_what_is_seen(&mut self, now: Timestamp) {
        let Some(layout) = self.layout(now) else { return };
        let Some(sheet) = self.sheet(Look { colour: false }, now) else { return };
        self.scroll = self.scroll.min(sheet.lines.len().saturating_sub(layout.sheet_height));
        let end = self.scroll + layout.sheet_height;
        // Where there is more below, the last line says so instead of showing its own.
        let seen = if end < sheet.lines.len() { end - 1 } else { end };
        if self.mode == Mode::Deciding && seen >= sheet.must {
            self.is_read = true;
        }
    }

    fn answered(&mut self, answer: Answer, now: Timestamp) -> Orders {
        match answer {
            Answer::Looked(Ok(looked)) => self.looked(looked, now),
            Answer::Looked(Err(why)) => {
                (self.is_looking, self.look_at) = (false, now.plus(LOOK_EVERY));
                self.lost = Some(why);
                Vec::new()
            }
            Answer::Shown(draft, shown) => {
                match *shown {
                    Ok(view) => self.shown(view, now),
                    Err(why) => {
                        self.say_bad(why);
                        self.take_out(draft, now);
                    }
                }
                Vec::new()
            }
            Answer::Done(deed, Ok(done)) => self.done(&deed, done, now),
            Answer::Done(deed, Err(why)) => self.refused(deed, &why, now),
        }
    }

    fn looked(&mut self, looked: Looked, now: Timestamp) -> Orders {
        let took = now.since(self.looked_at);
        (self.is_looking, self.lost) = (false, None);
        self.look_at = now.plus(LOOK_EVERY.max(took.saturating_mul(LOOK_SHARE)));
        self.sends = looked.sends;
        if looked.situation.is_some() {
            self.situation = looked.situation;
        }
        // A decision that is on its way changes the queue: what was seen before it says nothing.
        if self.is_deciding {
            return Vec::new();
        }
        let before = self.card().map(|card| (card.draft.id, card.draft.hash.clone(), card.draft.stale));
        self.cards = looked.cards;
        let Some((draft, hash, stale)) = before else {
            self.turn_to(0, now);
            return Vec::new();
        };
        let Some(index) = self.cards.iter().position(|card| card.draft.id == draft) else {
            self.turn_to(self.at, now);
            self.leave_typing(draft);
            return vec![Order::Ask(Request::Show(draft))];
        };
        self.at = index;
        if let Some(card) = self.card() {
            let (changed, moved_on) = (card.draft.hash != hash, card.draft.stale && !stale);
            if changed {
                self.begin_anew(now);
                self.say_bad(format!("{draft} was changed elsewhere: look at it again"));
            } else if moved_on {
                self.begin_anew(now);
                self.say_bad(format!("something new came into the thread of {draft}"));
            }
        }
        Vec::new()
    }

    /// A line that is typed for a draft that is gone is not for the one that came up instead.
    fn leave_typing(&mut self, gone: DraftId) {
        if let Mode::Typing { draft, field, .. } = &self.mode
            && *draft == gone
        {
            let (draft, text) = (*draft, field.text());
            self.mode = Mode::Deciding;
            if !text.is_empty() {
                self.keep(draft, text);
            }
        }
    }

    /// A draft as it is now.
    fn shown(&mut self, view: ReviewView, now: Timestamp) {
        let draft = view.draft.id;
        if view.draft.state != DraftState::Open {
            let state = view.draft.state.word();
            let kept = if self.kept.contains_key(&draft) { "; what you wrote is kept" } else { "" };
            self.say_bad(format!("{draft} is {state} already, decided elsewhere{kept}"));
            self.leave_typing(draft);
            self.take_out(draft, now);
            return;
        }
        let at = self.at;
        if let Some(index) = self.cards.iter().position(|card| card.draft.id == draft)
            && let Some(card) = self.cards.get_mut(index)
        {
            let changed = card.draft.hash != view.draft.hash;
            *card = view;
            if changed && index == at {
                self.begin_anew(now);
            }
        } else {
            self.say(format!("{draft} is put away, elsewhere"));
        }
    }

    fn done(&mut self, deed: &Deed, done: Done, now: Timestamp) -> Orders {
        self.is_deciding = false;
        match (deed, done) {
            (Deed::Approve { draft, .. }, Done::Approved(approved)) => {
                self.walked.approved += 1;
                let when = match self.cards.iter().find(|card| card.draft.id == *draft).and_then(|c| c.hold) {
                    _ if approved.paused => ", leaves after `workagent resume`".to_owned(),
                    Some(hold) if !hold.is_zero() => format!(", leaves in {}", short_span(hold)),
                    _ => String::new(),
                };
                self.say(format!("{draft} is approved: {}{when}", approved.action));
                self.kept.remove(draft);
                self.take_out(*draft, now);
            }
            (Deed::Edit { draft, .. }, Done::Edited(edited)) => {
                self.kept.remove(draft);
                let at = self.at;
                if let Some(index) = self.cards.iter().position(|card| card.draft.id == *draft)
                    && let Some(card) = self.cards.get_mut(index)
                {
                    let text_changed = card.draft.body != edited.body;
                    card.draft = *edited;
                    if text_changed {
                        self.say(format!("{draft} has your text now"));
                    } else {
                        self.say(format!("{draft} will do what is checked"));
                    }
                    if index == at && text_changed {
                        self.begin_anew(now);
                    }
                }
            }
            (Deed::Reject { draft, retry, .. }, _) => {
                self.walked.rejected += 1;
                let then = if *retry { "the engine tries again" } else { "its case is dismissed" };
                self.say(format!("{draft} is rejected, {then}"));
                self.take_out(*draft, now);
            }
            (Deed::Defer { draft, until }, _) => {
                self.walked.deferred += 1;
                self.say(format!(
                    "{draft} comes back in {}",
                    short_span(until.since(now).saturating_add(ROUNDING))
                ));
                self.take_out(*draft, now);
            }
            (Deed::Dismiss { draft, case, .. }, _) => {
                self.walked.rejected += 1;
                self.say(format!("{case} is dismissed"));
                self.take_out(*draft, now);
            }
            (Deed::TakeBack(action), _) => {
                self.walked.approved = self.walked.approved.saturating_sub(1);
                self.say(format!("{action} is taken back: nothing leaves"));
            }
            (Deed::Approve { .. } | Deed::Edit { .. }, _) => {}
        }
        if self.is_leaving {
            return vec![Order::Quit];
        }
        if self.is_looking { Vec::new() } else { vec![self.look(now)] }
    }

    fn refused(&mut self, deed: Deed, why: &str, now: Timestamp) -> Orders {
        (self.is_deciding, self.is_leaving) = (false, false);
        let draft = deed.draft();
        let kept = match deed {
            Deed::Edit { draft, body, effects: None, .. } => Some((draft, body)),
            Deed::Reject { draft, note, .. } => Some((draft, note)),
            Deed::Dismiss { draft, reason, .. } => Some((draft, reason)),
            _ => None,
        };
        if let Some((draft, text)) = kept.filter(|(_, text)| !text.is_empty()) {
            self.keep(draft, text);
        }
        self.say_bad(harmless_line(why));
        match draft {
            Some(draft) => vec![Order::Ask(Request::Show(draft))],
            None if self.is_looking => Vec::new(),
            None => vec![self.look(now)],
        }
    }

    fn edited(&mut self, edited: Result<String, String>, now: Timestamp) -> Orders {
        let Some((draft, hash)) = self.editing.take() else { return Vec::new() };
        // Whoever comes back from an editor looks anew.
        self.since = now;
        let body = match edited {
            // Editors end their files with a newline; the reply has none.
            Ok(body) => body.trim_end().to_owned(),
            Err(why) => {
                self.say_bad(harmless_line(&why));
                return Vec::new();
            }
        };
        let card = self.cards.iter().find(|card| card.draft.id == draft);
        if card.is_some_and(|card| card.draft.body.trim_end() == body.trim_end()) {
            self.kept.remove(&draft);
            self.say(format!("{draft} is as it was"));
            return Vec::new();
        }
        self.decide(Deed::Edit { draft, hash, body, effects: None })
    }

    /// Sends a decision off. One at a time.
    pub(super) fn decide(&mut self, deed: Deed) -> Orders {
        self.is_deciding = true;
        self.said = None;
        vec![Order::Ask(Request::Do(deed))]
    }
}
