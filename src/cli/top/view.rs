//! The model as a page.

use ratatui::text::{Line, Span};

use super::model::Model;
use super::sections::{Section, Table, table};
use crate::cli::screen::{Look, Page, columns, fit, harmless_line, padded, spread, styled, wrapped};
use crate::control::wire::{Mode, StatusView};
use crate::model::case::CaseState;
use crate::model::outbound::ActionState;
use crate::model::time::{Timestamp, short_span};

/// The bar above, two lines of counts, the keys below.
const FRAME: usize = 4;

/// Rows that each part gets before the chosen one gets more.
const ROWS_FAIR: usize = 3;

const KEYS: [(&str, &str); 6] = [
    ("Tab", "the next part; 1-5 choose one: it gets the room there is"),
    ("j k, arrows", "through the chosen part; PgDn PgUp by pages, g G"),
    ("TRIED, WELL", "how long ago it was tried, and tried with success"),
    ("NEW", "how long ago something new came"),
    ("USD", "spent since midnight; +? has runs of unknown cost"),
    ("q", "quit"),
];

/// All of it.
pub(super) fn view(model: &Model, look: Look, now: Timestamp) -> Page {
    let (width, height) = (usize::from(model.size.0), usize::from(model.size.1));
    let mut page = Page::default();
    page.lines.push(styled(title(model, width, now), look.bar()));
    match &model.status {
        _ if model.is_help => page.lines.extend(KEYS.iter().map(|(key, does)| {
            Line::from(vec![
                Span::styled(format!(" {key:<12} "), look.ours()),
                Span::raw(fit(does, width.saturating_sub(14))),
            ])
        })),
        None => {
            let text = match &model.lost {
                Some(why) => {
                    format!("The daemon does not answer: {}. It is asked again.", harmless_line(why))
                }
                None => "Looking…".to_owned(),
            };
            page.lines.extend(wrapped(&text, width).into_iter().map(Line::from));
        }
        Some(status) => {
            let [cases, outbox] = counts(status, now);
            page.lines.push(Line::from(fit(&format!(" {cases}"), width)));
            page.lines.push(Line::from(fit(&format!(" {outbox}"), width)));
            for (section, table, rows) in shares(model, look, now) {
                let scroll = if section == model.chosen { model.scroll } else { 0 };
                page.lines.extend(drawn(&table, rows, scroll, section == model.chosen, width, look));
            }
        }
    }
    page.lines.resize(height.saturating_sub(1), Line::default());
    let keys = " Tab 1-5 part  j k move  ? help  q quit";
    page.lines.push(styled(padded(keys, width), look.bar()));
    page
}

/// How far the chosen part can be moved in.
pub(super) fn scroll_max(model: &Model, now: Timestamp) -> usize {
    let shares = shares(model, Look { colour: false }, now);
    let chosen = shares.iter().find(|(section, ..)| *section == model.chosen);
    chosen.map_or(0, |(_, table, rows)| table.rows.len().saturating_sub(*rows))
}

/// Each part that has rows, and how many of them are shown.
fn shares(model: &Model, look: Look, now: Timestamp) -> Vec<(Section, Table, usize)> {
    let mut parts: Vec<(Section, Table, usize)> = Section::ALL
        .into_iter()
        .map(|section| (section, table(model, section, look, now), 0))
        .filter(|(section, table, _)| !table.rows.is_empty() || *section == model.chosen)
        .collect();
    // Each has its heading.
    let room = usize::from(model.size.1).saturating_sub(FRAME);
    // On a small screen the chosen part stays.
    while parts.len() * 2 > room && parts.len() > 1 {
        let last = parts.iter().rposition(|(section, ..)| *section != model.chosen);
        let Some(last) = last else { break };
        parts.remove(last);
    }
    let mut left = room.saturating_sub(parts.len());
    let mut give = |rows: &mut usize, wanted: usize| {
        let more = wanted.saturating_sub(*rows).min(left);
        *rows += more;
        left -= more;
    };
    // What somebody looks at has rows also where there is hardly room.
    parts.sort_by_key(|(section, ..)| *section != model.chosen);
    for (_, table, rows) in &mut parts {
        give(rows, table.rows.len().min(ROWS_FAIR));
    }
    if let Some((_, table, rows)) =
        parts.iter_mut().find(|(section, ..)| *section == model.chosen && *section != Section::Journal)
    {
        give(rows, table.rows.len());
    }
    parts.sort_by_key(|(section, ..)| Section::ALL.iter().position(|other| other == section));
    for (_, table, rows) in &mut parts {
        give(rows, table.rows.len());
    }
    parts
}

fn drawn(
    table: &Table,
    rows: usize,
    scroll: usize,
    is_chosen: bool,
    width: usize,
    look: Look,
) -> Vec<Line<'static>> {
    let shown: Vec<_> = table.rows.iter().skip(scroll).take(rows).collect();
    let last = table.head.len().saturating_sub(1);
    // As wide as the widest of all rows: columns do not jump while one scrolls.
    let widths: Vec<usize> = table
        .head
        .iter()
        .enumerate()
        .map(|(column, title)| {
            let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| columns(text));
            let most = table.widths_max.get(column).copied().unwrap_or(usize::MAX);
            cells.max().unwrap_or(0).min(most).max(columns(title))
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = (String, ratatui::style::Style)>| {
        let mut spans = vec![Span::raw(" ")];
        let mut used = 1;
        for (column, (text, style)) in cells.enumerate() {
            let own = widths.get(column).copied().unwrap_or(0);
            let own =
                if column == last { width.saturating_sub(used) } else { own.min(width.saturating_sub(used)) };
            let text = if column == last { fit(&text, own) } else { padded(&text, own) };
            used += columns(&text) + 2;
            spans.push(Span::styled(text, style));
            spans.push(Span::raw("  "));
        }
        Line::from(spans)
    };
    let hidden = table.rows.len().saturating_sub(rows);
    let mut head = table.head.clone();
    if let Some(title) = head.last_mut()
        && hidden > 0
    {
        let sep = if title.is_empty() { "" } else { "  " };
        *title = format!("{title}{sep}({}-{} of {})", scroll + 1, scroll + shown.len(), table.rows.len());
    }
    let style =
        if is_chosen { look.bold().add_modifier(ratatui::style::Modifier::UNDERLINED) } else { look.bold() };
    let mut lines = vec![line(&mut head.into_iter().map(|title| (title, style)))];
    lines.extend(shown.into_iter().map(|row| line(&mut row.iter().cloned())));
    lines
}

fn title(model: &Model, width: usize, now: Timestamp) -> String {
    let Some(status) = &model.status else { return padded(" workagent top", width) };
    let up = status.started_at.map(|at| format!(", up {}", short_span(now.since(at)))).unwrap_or_default();
    let left = format!(" workagent {}{up}, generation {}", status.version, status.generation);
    let right = match &model.lost {
        Some(_) => format!("NO ANSWER for {} ", short_span(now.since(status.now))),
        None if status.paused => "PAUSED: nothing leaves ".to_owned(),
        None if status.mode == Mode::Rehearsal => "REHEARSAL: nothing is really sent ".to_owned(),
        None => "live ".to_owned(),
    };
    spread(&left, &right, width)
}

/// "cases 2 queued, 1 running; the oldest queued 3m" and the same for sends.
fn counts(status: &StatusView, now: Timestamp) -> [String; 2] {
    let told = |counts: &std::collections::BTreeMap<String, u64>, words: &[&str]| {
        let some = words
            .iter()
            .filter_map(|word| counts.get(*word).filter(|n| **n > 0).map(|n| format!("{n} {word}")));
        let some: Vec<String> = some.collect();
        if some.is_empty() { "none".to_owned() } else { some.join(", ") }
    };
    let oldest = |at: Option<Timestamp>, what: &str| {
        at.map(|at| format!("; oldest {what} {}", short_span(now.since(at)))).unwrap_or_default()
    };
    let counts = &status.counts;
    [
        format!(
            "cases   {}{}{}",
            told(&counts.cases, &CaseState::ALL.map(CaseState::word)),
            oldest(counts.oldest_queued_at, "queued"),
            oldest(counts.oldest_draft_at, "draft")
        ),
        format!("outbox  {}", told(&counts.actions, &ActionState::ALL.map(ActionState::word))),
    ]
}
