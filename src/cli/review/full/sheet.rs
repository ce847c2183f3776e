//! The shown draft in lines: what it answers, who gets it, the text, what is odd about it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{ChangeTag, TextDiff};

use super::layout::Layout;
use super::model::Model;
use super::options::choices;
use crate::cli::screen::{Look, columns, fit, harmless_line, styled, wrapped};
use crate::control::wire::ReviewView;
use crate::model::draft::DraftState;
use crate::model::item::{Disposition, Item};
use crate::model::text::short_size;
use crate::model::time::{Timestamp, short_span};

/// Lines of foreign text that are shown however little room there is.
const BODY_MIN: usize = 4;

/// Lines of each hidden part, unless all is asked for.
const HIDDEN_MAX: usize = 2;

/// The lines of a draft.
#[derive(Debug)]
pub(super) struct Sheet {
    /// All of them.
    pub lines: Vec<Line<'static>>,
    /// Where the answer begins.
    pub answer: usize,
    /// What lies before this must have been on the screen before an approval.
    pub must: usize,
}

/// Collects lines of one width.
struct Pen {
    lines: Vec<Line<'static>>,
    width: usize,
    look: Look,
}

impl Pen {
    fn rule(&mut self, text: &str) {
        let text = fit(&format!("── {text} "), self.width);
        let rest = "─".repeat(self.width.saturating_sub(columns(&text)));
        self.lines.push(styled(text + &rest, self.look.bold()));
    }

    /// A name and a value, whole, wrapped under its beginning.
    fn field(&mut self, name: &str, value: &str, style: Style) {
        let lead = format!(" {name:<10}");
        let indent = columns(&lead);
        for (index, piece) in wrapped(value, self.width.saturating_sub(indent)).into_iter().enumerate() {
            let lead = if index == 0 { lead.clone() } else { " ".repeat(indent) };
            self.lines
                .push(Line::from(vec![Span::styled(lead, self.look.dim()), Span::styled(piece, style)]));
        }
    }

    /// Foreign text of many lines behind a mark, so many at most.
    fn text(&mut self, mark: &str, text: &str, lines_max: usize, style: Style) {
        let pieces = wrapped(text, self.width.saturating_sub(columns(mark)));
        let more = pieces.len().saturating_sub(lines_max);
        for piece in pieces.into_iter().take(lines_max) {
            let mark = Span::styled(mark.to_owned(), self.look.dim());
            self.lines.push(Line::from(vec![mark, Span::styled(piece, style)]));
        }
        if more > 0 {
            let lines = if more == 1 { "line" } else { "lines" };
            self.lines.push(styled(format!("{mark}… {more} more {lines}: v shows all"), self.look.dim()));
        }
    }
}

/// The sheet of the shown draft.
pub(super) fn sheet(view: &ReviewView, model: &Model, layout: Layout, look: Look, now: Timestamp) -> Sheet {
    let pen = || Pen { lines: Vec::new(), width: layout.sheet_width, look };
    let mut answer = pen();
    let must = answer_lines(&mut answer, view, model, now);
    let mut asked = pen();
    asked_lines(&mut asked, view, model.is_whole, usize::MAX, now);
    let room = layout.sheet_height.saturating_sub(answer.lines.len());
    if asked.lines.len() > room && !model.is_whole {
        let bodies = view.items.last().map_or(0, |item| wrapped(&item.body, layout.sheet_width - 3).len());
        let others = asked.lines.len() - bodies;
        asked = pen();
        // One line tells of those that are left out.
        asked_lines(&mut asked, view, false, room.saturating_sub(others + 1).max(BODY_MIN), now);
    }
    let begins = asked.lines.len();
    asked.lines.append(&mut answer.lines);
    Sheet { lines: asked.lines, answer: begins, must: begins + must }
}

fn asked_lines(pen: &mut Pen, view: &ReviewView, is_whole: bool, body_max: usize, now: Timestamp) {
    let draft = &view.draft;
    let age = short_span(now.since(draft.made_at));
    let by = fit(&harmless_line(&draft.made_by), 40);
    let connector = harmless_line(&draft.connector);
    pen.rule(&format!("{} · {} · {connector} · by {by} {age} ago", draft.id, draft.case));
    let earlier = view.items.len().saturating_sub(1);
    if earlier > 0 && !is_whole {
        let text =
            format!(" {earlier} earlier in the thread: v shows {}", if earlier == 1 { "it" } else { "them" });
        pen.lines.push(styled(text, pen.look.dim()));
    }
    let shown = if is_whole {
        view.items.as_slice()
    } else {
        view.items.last().map_or(&[][..], std::slice::from_ref)
    };
    for (index, item) in shown.iter().enumerate() {
        if index > 0 {
            pen.lines.push(Line::default());
        }
        item_lines(pen, item, is_whole, body_max, now);
    }
}

fn item_lines(pen: &mut Pen, item: &Item, is_whole: bool, body_max: usize, now: Timestamp) {
    let look = pen.look;
    let age = item.at.map(|at| format!("  {} ago", short_span(now.since(at)))).unwrap_or_default();
    let author = item.author.as_ref().map(|author| match (author.name.as_str(), author.address.as_str()) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) => format!("{name} <{address}>"),
    });
    if let Some(author) = author {
        pen.field("from", &format!("{}{age}", harmless_line(&author)), Style::new());
    } else if !age.is_empty() {
        pen.field("date", age.trim(), Style::new());
    }
    pen.field("subject", &harmless_line(&item.title), look.bold());
    if let Some(url) = item.url.as_ref().filter(|_| is_whole) {
        pen.field("link", &harmless_line(url), look.dim());
    }
    pen.text(" │ ", &item.body, body_max, Style::new());
    if let Some(cut) = item.cut {
        let (kept, total) = (short_size(cut.kept_bytes), short_size(cut.total_bytes));
        pen.field("cut", &format!("first {kept} of {total}"), look.warn());
    }
    for attachment in &item.attachments {
        let size = short_size(attachment.size_bytes);
        pen.field("attached", &format!("{} ({size})", harmless_line(&attachment.name)), Style::new());
    }
    for hidden in &item.hidden {
        pen.field("HIDDEN", &harmless_line(&hidden.why), look.bad());
        pen.text(" ▒ ", &hidden.text, if is_whole { usize::MAX } else { HIDDEN_MAX }, Style::new());
    }
    for warning in &item.warnings {
        pen.field("note", &harmless_line(warning), look.warn());
    }
    if let Disposition::NoReply { reason } | Disposition::Quarantined { reason } = &item.disposition {
        pen.field("no reply", &harmless_line(reason), look.warn());
    }
}

/// The answer; gives how many of its lines must have been seen.
fn answer_lines(pen: &mut Pen, view: &ReviewView, model: &Model, now: Timestamp) -> usize {
    let look = pen.look;
    let (draft, envelope) = (&view.draft, &view.draft.envelope);
    let place = match envelope.place.as_str() {
        "" => String::new(),
        place => format!(" · {}", harmless_line(place)),
    };
    pen.rule(&format!("answer{place}"));
    // Why it should not be approved stands where it is seen first.
    if draft.stale {
        pen.field("STALE", "the thread moved on after this was written", look.bad());
    }
    if let Some(why) = &view.blocked {
        pen.field("BLOCKED", &format!("cannot be sent: {}", harmless_line(why)), look.bad());
    }
    if draft.state != DraftState::Open {
        pen.field("state", &format!("it is {} already", draft.state.word()), look.bad());
    }
    pen.field("to", &harmless_line(&envelope.recipients()), look.ours());
    if !envelope.cc.is_empty() {
        pen.field("copy to", &harmless_line(&envelope.cc.join(", ")), look.ours());
    }
    if !envelope.from.is_empty() {
        pen.field("from", &harmless_line(&envelope.from), Style::new());
    }
    if !envelope.subject.is_empty() {
        pen.field("subject", &harmless_line(&envelope.subject), Style::new());
    }
    for (index, choice) in choices(view).iter().enumerate() {
        let mark = if index == model.choice { '▸' } else { ' ' };
        let check = if choice.is_chosen() { "[x]" } else { "[ ]" };
        let number = if index < 9 { (index + 1).to_string() } else { " ".to_owned() };
        let style = if choice.is_chosen() { look.warn() } else { look.dim() };
        let lead = if choice.is_chosen() { "also" } else { "" };
        pen.field(lead, &format!("{mark}{number} {check} {}", harmless_line(&choice.name())), style);
    }
    if draft.body.is_empty() {
        pen.lines.push(styled("   no text", look.dim()));
    } else if draft.body == draft.engine_body {
        pen.text(" ┃ ", &draft.body, usize::MAX, Style::new());
    } else {
        difference(pen, &draft.engine_body, &draft.body);
    }
    for remark in &draft.remarks {
        pen.field("note", &harmless_line(remark), look.warn());
    }
    if model.kept.contains_key(&draft.id) {
        pen.field("kept", "a text of yours was not taken: e goes on with it", look.warn());
    }
    let must = pen.lines.len();
    if !draft.destination.is_empty() {
        pen.field("by way of", &harmless_line(&draft.destination), look.dim());
    }
    if let Some(until) = draft.deferred_until.filter(|until| *until > now) {
        pen.field("put away", &format!("for {}", short_span(until.since(now))), look.dim());
    }
    if let Some(route) = &view.route {
        pen.field("route", &harmless_line(route), look.dim());
    }
    let version: String = draft.hash.chars().take(12).collect();
    let undo = match view.hold {
        Some(hold) if !hold.is_zero() => format!("; {} to undo an approval", short_span(hold)),
        _ => String::new(),
    };
    pen.field("version", &format!("{version}{undo}"), look.dim());
    must
}

/// What an edit changed against the engine's text, whole, with `-` and `+` in front.
fn difference(pen: &mut Pen, before: &str, after: &str) {
    let look = pen.look;
    for change in TextDiff::from_lines(before, after).iter_all_changes() {
        let text = change.value().trim_end_matches('\n');
        let (mark, style) = match change.tag() {
            ChangeTag::Delete => (" - ", look.dim()),
            ChangeTag::Insert => (" + ", look.good()),
            ChangeTag::Equal => (" ┃ ", Style::new()),
        };
        if text.is_empty() {
            pen.lines.push(styled(mark, look.dim()));
        }
        pen.text(mark, text, usize::MAX, style);
    }
}
