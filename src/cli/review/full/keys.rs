//! What each key means.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::deeds::Deed;
use super::help;
use super::model::{Mode, Model, Typed};
use super::options::{Choice, choices, toggled};
use super::update::Orders;
use crate::cli::screen::{Field, Look, Order};
use crate::model::effect::Effect;
use crate::model::ids::DraftId;
use crate::model::time::Timestamp;
use crate::unit::parse_duration;

/// For how long a draft is put away where nothing else is typed.
const DEFERRED_FOR: &str = "1d";

pub(super) fn key(model: &mut Model, key: KeyEvent, now: Timestamp) -> Orders {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && key.code == KeyCode::Char('c') {
        return match model.mode {
            Mode::Deciding => vec![Order::Quit],
            _ => {
                model.mode = Mode::Deciding;
                Vec::new()
            }
        };
    }
    match model.mode.clone() {
        Mode::Deciding => deciding(model, key.code, control, now),
        Mode::Help(from) => {
            let most = help::lines().len().saturating_sub(1);
            model.mode = match key.code {
                KeyCode::Down | KeyCode::Char('j') => Mode::Help((from + 1).min(most)),
                KeyCode::Up | KeyCode::Char('k') => Mode::Help(from.saturating_sub(1)),
                _ => Mode::Deciding,
            };
            Vec::new()
        }
        Mode::Typing { draft, what, field } => typing(model, key, draft, what, field, now),
    }
}

fn deciding(model: &mut Model, code: KeyCode, control: bool, now: Timestamp) -> Orders {
    let page = model.layout(now).map_or(1, |layout| layout.sheet_height.saturating_sub(1).max(1));
    let last = model.cards.len().saturating_sub(1);
    match code {
        // What was decided must arrive; asked once more, it is left all the same.
        KeyCode::Char('q') if model.is_deciding && !model.is_leaving => model.is_leaving = true,
        KeyCode::Char('q') => return vec![Order::Quit],
        KeyCode::Char('?') | KeyCode::F(1) => model.mode = Mode::Help(0),
        KeyCode::Char('f') if control => model.scroll += page,
        KeyCode::Char('b') if control => model.scroll = model.scroll.saturating_sub(page),
        KeyCode::Char('d') if control => model.scroll += page.div_ceil(2),
        KeyCode::Char('u') if control => model.scroll = model.scroll.saturating_sub(page.div_ceil(2)),
        KeyCode::Char(_) if control => {}
        KeyCode::Char('j') | KeyCode::Down => turn(model, (model.at + 1).min(last), now),
        KeyCode::Char('k') | KeyCode::Up => turn(model, model.at.saturating_sub(1), now),
        KeyCode::Char('g') => turn(model, 0, now),
        KeyCode::Char('G') => turn(model, last, now),
        KeyCode::PageDown => model.scroll += page,
        KeyCode::PageUp => model.scroll = model.scroll.saturating_sub(page),
        KeyCode::Char('J') => model.scroll += 1,
        KeyCode::Char('K') => model.scroll = model.scroll.saturating_sub(1),
        KeyCode::Home => model.scroll = 0,
        KeyCode::End => model.scroll = usize::MAX / 2,
        KeyCode::Char('v') => {
            model.is_whole = !model.is_whole;
            model.scroll = 0;
        }
        KeyCode::Tab | KeyCode::BackTab => {
            let count = model.card().map_or(0, |card| choices(card).len());
            let step = if code == KeyCode::Tab { 1 } else { count.saturating_sub(1) };
            model.choice = (model.choice + step).checked_rem(count).unwrap_or(0);
        }
        KeyCode::Char('u') => return take_back(model, now),
        KeyCode::Char(' ') if model.card().is_some_and(|card| choices(card).is_empty()) => {
            model.scroll += page;
        }
        KeyCode::Char(key @ ('a' | 'A' | 'e' | 'r' | 't' | 'd' | 'x' | ' ' | '1'..='9')) => {
            return decision(model, key, now);
        }
        _ => {}
    }
    Vec::new()
}

fn turn(model: &mut Model, at: usize, now: Timestamp) {
    if at != model.at {
        model.turn_to(at, now);
        // A person who turns the page looks at it.
        model.said = None;
        model.since = now.minus(super::model::SETTLES_AFTER);
    }
}

/// A key that decides something about the shown draft.
fn decision(model: &mut Model, key: char, now: Timestamp) -> Orders {
    let Some(card) = model.card().cloned() else { return Vec::new() };
    if model.is_deciding {
        model.say("the decision before is on its way");
        return Vec::new();
    }
    if model.settles(now) {
        model.say("this is another draft: look at it first");
        return Vec::new();
    }
    let draft = card.draft.id;
    let mut typing = |what: Typed, text: &str| {
        model.said = None;
        model.mode = Mode::Typing { draft, what, field: Field::new(text) };
    };
    match key {
        'a' | 'A' => return approve(model, key == 'A', now),
        'e' => {
            // What was written before and not taken is gone on with.
            let text = model.kept.get(&draft).cloned().unwrap_or(card.draft.body);
            let text = text.trim_end().to_owned() + "\n";
            model.editing = Some((draft, card.draft.hash));
            return vec![Order::Edit(text)];
        }
        'r' | 't' => typing(Typed::Rejection { retry: key == 't' }, ""),
        'x' => typing(Typed::Dismissal { case: card.draft.case }, ""),
        'd' => typing(Typed::Deferral, DEFERRED_FOR),
        _ => {
            let index = key.to_digit(10).map_or(model.choice, |digit| digit as usize - 1);
            match choices(&card).get(index) {
                Some(Choice::Effect { effect, .. }) => {
                    let effects = Some(toggled(&card, effect));
                    model.choice = index;
                    let (hash, body) = (card.draft.hash, card.draft.body);
                    return model.decide(Deed::Edit { draft, hash, body, effects });
                }
                Some(Choice::Typed { verb, what }) => {
                    typing(Typed::Value { verb: verb.clone(), what: what.clone() }, "");
                }
                None => {}
            }
        }
    }
    Vec::new()
}

/// Approves the version on the screen, once all of it was there.
fn approve(model: &mut Model, anyway: bool, now: Timestamp) -> Orders {
    let Some(card) = model.card().cloned() else { return Vec::new() };
    let draft = card.draft.id;
    if model.layout(now).is_none() {
        return Vec::new();
    }
    if let Some(why) = &card.blocked {
        model.say_bad(format!("{draft} cannot be sent: {}", crate::cli::screen::harmless_line(why)));
        return Vec::new();
    }
    if card.draft.stale && !anyway {
        model.say_bad("the thread moved on after this was written: A approves it all the same");
        return Vec::new();
    }
    if !model.is_read {
        // To where the answer begins, then on by whole screens.
        if let (Some(sheet), Some(layout)) = (model.sheet(Look { colour: false }, now), model.layout(now)) {
            let page = layout.sheet_height.saturating_sub(1).max(1);
            model.scroll = if model.scroll < sheet.answer && sheet.answer < model.scroll + page {
                sheet.answer
            } else {
                model.scroll + page
            };
        }
        model.say("there is more of it: once you have read it, a approves");
        return Vec::new();
    }
    model.decide(Deed::Approve { draft, hash: card.draft.hash, stale_ok: anyway && card.draft.stale })
}

fn take_back(model: &mut Model, now: Timestamp) -> Orders {
    if model.is_deciding {
        return Vec::new();
    }
    match model.undoable(now).map(|action| action.id) {
        Some(action) => model.decide(Deed::TakeBack(action)),
        None => {
            model.say("nothing waits that could be taken back");
            Vec::new()
        }
    }
}

fn typing(
    model: &mut Model,
    key: KeyEvent,
    draft: DraftId,
    what: Typed,
    mut field: Field,
    now: Timestamp,
) -> Orders {
    match key.code {
        KeyCode::Esc => {
            model.mode = Mode::Deciding;
            return Vec::new();
        }
        KeyCode::Enter => return typed(model, draft, what, &field, now),
        KeyCode::Tab | KeyCode::BackTab if matches!(what, Typed::Rejection { .. }) => {
            let Typed::Rejection { retry } = what else { return Vec::new() };
            model.mode = Mode::Typing { draft, what: Typed::Rejection { retry: !retry }, field };
        }
        _ => {
            field.key(key);
            model.mode = Mode::Typing { draft, what, field };
        }
    }
    Vec::new()
}

fn typed(model: &mut Model, draft: DraftId, what: Typed, field: &Field, now: Timestamp) -> Orders {
    let text = field.text();
    let card = model.cards.iter().find(|card| card.draft.id == draft).cloned();
    let deed = match what {
        Typed::Rejection { retry: true } if text.is_empty() => {
            model.say_bad("say what should be different, or the engine will write the same again");
            return Vec::new();
        }
        Typed::Rejection { retry } => Deed::Reject { draft, note: text, retry },
        Typed::Dismissal { case } => Deed::Dismiss { draft, case, reason: text },
        Typed::Deferral => {
            let Some(span) = parse_duration(&text).filter(|span| !span.is_zero()) else {
                model.say_bad("a span looks like 90s, 2h, 3d");
                return Vec::new();
            };
            Deed::Defer { draft, until: now.plus(span) }
        }
        Typed::Value { verb, .. } => {
            let (Some(card), false) = (card, text.is_empty()) else {
                model.mode = Mode::Deciding;
                return Vec::new();
            };
            let effects = Some(toggled(&card, &Effect { verb, value: text }));
            Deed::Edit { draft, hash: card.draft.hash, body: card.draft.body, effects }
        }
    };
    model.mode = Mode::Deciding;
    model.decide(deed)
}
