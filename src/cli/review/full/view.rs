//! The model as a page.

use ratatui::text::{Line, Span};

use super::help;
use super::layout::Layout;
use super::model::{Mode, Model, Typed};
use super::options::choices;
use super::{queue, sends};
use crate::cli::screen::{Look, Page, columns, fit, harmless_line, padded, spread, styled, wrapped};
use crate::model::time::Timestamp;

/// All of it.
pub(super) fn view(model: &Model, look: Look, now: Timestamp) -> Page {
    let Some(layout) = model.layout(now) else { return too_small(model) };
    let mut page = Page::default();
    page.lines.push(styled(title(model, layout.width), look.bar()));
    match &model.mode {
        Mode::Help(from) => page.lines.extend(explained(*from, layout, look)),
        _ if model.cards.is_empty() => page.lines.extend(nothing(model, layout, look)),
        _ => page.lines.extend(middle(model, layout, look, now)),
    }
    page.lines.resize(layout.height - 2 - usize::from(model.has_sends(now)), Line::default());
    if model.has_sends(now) {
        page.lines.push(styled(sends::line(model, now, layout.width), look.ours()));
    }
    match &model.mode {
        Mode::Typing { what, field, .. } => {
            let (question, keys) = question(what);
            let lead = format!("{question} ");
            let room = layout.width.saturating_sub(columns(&lead) + 1).max(4);
            let (text, at) = field.shown(room);
            // What is wrong with what was typed stands where the keys stood.
            let below = match &model.said {
                Some(said) if said.is_bad => styled(fit(&said.text, layout.width), look.bad()),
                _ => styled(fit(keys, layout.width), look.dim()),
            };
            page.cursor = u16::try_from(columns(&lead) + at).ok().zip(u16::try_from(page.lines.len()).ok());
            page.lines.push(Line::from(vec![Span::styled(lead, look.bold()), Span::raw(text)]));
            page.lines.push(below);
        }
        _ => {
            page.lines.push(said(model, layout.width, look));
            page.lines.push(styled(padded(&keys(model, layout.width, now), layout.width), look.bar()));
        }
    }
    page
}

fn title(model: &Model, width: usize) -> String {
    let place = match model.cards.len() {
        0 => String::new(),
        many => format!("  draft {} of {many}", model.at + 1),
    };
    let situation = match model.situation {
        _ if model.lost.is_some() => "THE DAEMON DOES NOT ANSWER",
        Some(situation) if !situation.running => "no daemon runs: nothing leaves yet",
        Some(situation) if situation.paused => "PAUSED: nothing leaves",
        Some(situation) if situation.rehearsal => "REHEARSAL: nothing is really sent",
        Some(_) => "live",
        None => "",
    };
    spread(&format!(" workagent review{place}"), &format!("{situation} "), width)
}

fn middle(model: &Model, layout: Layout, look: Look, now: Timestamp) -> Vec<Line<'static>> {
    let sheet = model.sheet(look, now).map(|sheet| sheet.lines).unwrap_or_default();
    let mut shown: Vec<Line<'static>> =
        sheet.iter().skip(model.scroll).take(layout.sheet_height).cloned().collect();
    let below = sheet.len().saturating_sub(model.scroll + layout.sheet_height);
    if below > 0
        && let Some(last) = shown.last_mut()
    {
        let note = format!("▼ {} more, PgDn ", below + 1);
        *last = styled(spread("", &note, layout.sheet_width), look.warn());
    }
    shown.resize(layout.sheet_height, Line::default());
    let width = if layout.beside > 0 { layout.beside } else { layout.width };
    let queue = queue::lines(model, width, layout.queue_height(), look, now);
    if layout.beside == 0 {
        return queue.into_iter().chain(shown).collect();
    }
    let joined = queue.into_iter().zip(shown).map(|(mut left, right)| {
        left.spans.push(Span::styled(" │ ", look.dim()));
        left.spans.extend(right.spans.into_iter().map(|span| span.patch_style(right.style)));
        left
    });
    joined.collect()
}

fn nothing(model: &Model, layout: Layout, look: Look) -> Vec<Line<'static>> {
    let text = match (&model.lost, model.looks) {
        (Some(why), _) => format!("The daemon does not answer: {}. It is asked again.", harmless_line(why)),
        (None, 0 | 1) if model.is_looking => "Looking…".to_owned(),
        _ => "No drafts wait for you. New ones appear here by themselves.".to_owned(),
    };
    let mut lines = vec![Line::default()];
    lines.extend(
        wrapped(&text, layout.width.saturating_sub(4))
            .into_iter()
            .map(|line| styled(format!("  {line}"), look.bold())),
    );
    lines
}

fn explained(from: usize, layout: Layout, look: Look) -> Vec<Line<'static>> {
    let room = layout.height.saturating_sub(4);
    let lines = help::lines();
    let from = from.min(lines.len().saturating_sub(room));
    let shown = lines.into_iter().skip(from).take(room).map(|(key, does)| match does {
        None => styled(format!(" {key}"), look.bold()),
        Some(does) => Line::from(vec![
            Span::styled(format!("   {key:<12} "), look.ours()),
            Span::raw(fit(&does, layout.width.saturating_sub(17))),
        ]),
    });
    shown.collect()
}

fn question(what: &Typed) -> (String, &'static str) {
    match what {
        Typed::Rejection { retry: false } => (
            "reject, its case is dismissed; why?".to_owned(),
            "Enter rejects · Tab: have the engine try again instead · Esc goes back",
        ),
        Typed::Rejection { retry: true } => (
            "reject, the engine tries again; what should be different?".to_owned(),
            "Enter rejects · Tab: dismiss the case instead · Esc goes back",
        ),
        Typed::Dismissal { case } => {
            (format!("dismiss {case}; why (may be empty)?"), "Enter dismisses · Esc goes back")
        }
        Typed::Deferral => ("put it away for how long?".to_owned(), "Enter puts it away · Esc goes back"),
        Typed::Value { verb, what } => {
            (format!("{verb}: {}?", harmless_line(what)), "Enter takes it · Esc goes back")
        }
    }
}

fn said(model: &Model, width: usize, look: Look) -> Line<'static> {
    match (&model.said, &model.lost) {
        _ if model.is_deciding => styled("…", look.dim()),
        (None, Some(why)) => {
            styled(fit(&format!("the daemon does not answer: {}", harmless_line(why)), width), look.bad())
        }
        (Some(said), _) if said.is_bad => styled(fit(&format!("! {}", said.text), width), look.bad()),
        (Some(said), _) => styled(fit(&said.text, width), look.good()),
        (None, None) => Line::default(),
    }
}

/// The keys that do something now, as many as there is room for; help and the way out always.
fn keys(model: &Model, width: usize, now: Timestamp) -> String {
    const ALWAYS: &str = "? help  q quit";
    let mut keys: Vec<&str> = Vec::new();
    match (&model.mode, model.card()) {
        (Mode::Help(_), _) => return " j k move · any other key goes back".to_owned(),
        (_, Some(card)) if !model.is_deciding && !model.settles(now) => {
            match (card.draft.stale, card.blocked.is_some()) {
                (_, true) => {}
                (true, false) => keys.push("A approve anyway"),
                (false, false) => keys.push("a approve"),
            }
            keys.push("e edit");
            keys.extend((!choices(card).is_empty()).then_some("1-9 effects"));
            keys.extend(model.undoable(now).map(|_| "u undo"));
            keys.extend(["r reject", "d defer", "x dismiss"]);
        }
        _ => keys.extend(model.undoable(now).map(|_| "u undo")),
    }
    let mut line = " ".to_owned();
    for key in keys {
        if columns(&line) + columns(key) + columns(ALWAYS) + 2 > width {
            break;
        }
        line = format!("{line}{key}  ");
    }
    line + ALWAYS
}

fn too_small(model: &Model) -> Page {
    let width = usize::from(model.size.0);
    let mut page = Page::default();
    page.lines.extend(wrapped("this terminal is too small to decide in", width).into_iter().map(Line::from));
    page
}
