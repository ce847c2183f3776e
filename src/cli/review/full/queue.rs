//! The queue: a line for each draft, around the shown one.

use ratatui::text::{Line, Span};

use super::model::Model;
use crate::cli::screen::{Look, fit, harmless_line, padded};
use crate::control::wire::ReviewView;
use crate::model::time::{Timestamp, short_span};

/// Exactly so many lines of exactly so many columns.
pub(super) fn lines(
    model: &Model,
    width: usize,
    height: usize,
    look: Look,
    now: Timestamp,
) -> Vec<Line<'static>> {
    let first = model.at.saturating_sub(height / 2).min(model.cards.len().saturating_sub(height));
    let shown = model.cards.iter().enumerate().skip(first).take(height);
    let mut lines: Vec<Line<'static>> = shown
        .map(|(index, card)| {
            let is_shown = index == model.at;
            let text = padded(&row(card, is_shown, width, now), width);
            let style = if is_shown { look.bold() } else { look.dim() };
            Line::from(Span::styled(text, style))
        })
        .collect();
    lines.resize(height, Line::from(" ".repeat(width)));
    lines
}

/// "▸ d12   3m  pat@example.org     Re: the plan".
fn row(card: &ReviewView, is_shown: bool, width: usize, now: Timestamp) -> String {
    let draft = &card.draft;
    let mark = if is_shown { '▸' } else { ' ' };
    let flag = if card.blocked.is_some() {
        "×"
    } else if draft.stale {
        "!"
    } else {
        " "
    };
    let age = short_span(now.since(draft.made_at));
    let to_width = if width >= 70 { 26 } else { 14 };
    let to = padded(&fit(&harmless_line(&draft.envelope.recipients()), to_width), to_width);
    let about = match draft.envelope.subject.as_str() {
        "" => card.items.last().map(|item| item.title.as_str()).unwrap_or_default(),
        subject => subject,
    };
    let id = draft.id.to_string();
    format!("{mark}{flag}{id:<5}{age:>4}  {to}  {}", harmless_line(about))
}
