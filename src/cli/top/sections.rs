//! The parts of the screen, each as rows of a table.

use ratatui::style::Style;

use super::model::Model;
use crate::cli::look::glyph;
use crate::cli::screen::{Look, harmless_line};
use crate::control::health::Health;
use crate::control::wire::{StatusView, UnitView};
use crate::model::money::shown_usd;
use crate::model::time::{Timestamp, short_span};
use crate::unit::BUILT_IN;

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// What needs the user, each with the command that mends it.
    Repairs,
    /// Connectors and timers, with ages and next due.
    Connectors,
    /// Engines, with quota and spend.
    Engines,
    /// Drafts that wait.
    Drafts,
    /// What happens.
    Journal,
}

impl Section {
    /// From the top.
    pub(super) const ALL: [Self; 5] =
        [Self::Repairs, Self::Connectors, Self::Engines, Self::Drafts, Self::Journal];

    /// So many further on.
    pub(super) fn step(self, steps: usize) -> Self {
        let index = Self::ALL.iter().position(|section| *section == self).unwrap_or(0);
        Self::ALL.get((index + steps) % Self::ALL.len()).copied().unwrap_or(self)
    }
}

/// A cell and how it looks.
pub(super) type Cell = (String, Style);

/// A part as a table.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Titles of the columns; the first names the part.
    pub head: Vec<String>,
    /// Widest that each column may be; the last takes what is left.
    pub widths_max: Vec<usize>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// The table of a part.
pub(super) fn table(model: &Model, section: Section, look: Look, now: Timestamp) -> Table {
    let Some(status) = &model.status else { return Table::default() };
    match section {
        Section::Repairs => repairs(status, look, now),
        Section::Connectors => connectors(status, look, now),
        Section::Engines => engines(model, status, look, now),
        Section::Drafts => drafts(model, look, now),
        Section::Journal => journal(model, look, now),
    }
}

fn head(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Open drafts: as counted, which is more than are listed where there are very many.
pub(super) fn draft_count(status: &StatusView, listed: usize) -> usize {
    usize::try_from(status.counts.drafts_open).unwrap_or(usize::MAX).max(listed)
}

fn repairs(status: &StatusView, look: Look, now: Timestamp) -> Table {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    if status.paused {
        rows.push(vec![("▲ paused, nothing is sent: workagent resume".to_owned(), look.warn())]);
    }
    if status.findings > 0 {
        let since = status.findings_since.map(|at| format!(" for {}", short_span(now.since(at))));
        let text = format!(
            "× {} errors in unit files{}: workagent validate",
            status.findings,
            since.unwrap_or_default()
        );
        rows.push(vec![(text, look.bad())]);
    }
    rows.extend(status.notes.iter().map(|note| vec![(format!("▲ {}", harmless_line(note)), look.warn())]));
    for unit in status.units.iter().filter(|unit| !unit.health(now).is_well()) {
        let why = match (&unit.last_error, &unit.reason) {
            (Some(error), _) => format!("{}: {}", error.class, error.message),
            (None, Some(reason)) => reason.clone(),
            (None, None) => unit.health(now).word().to_owned(),
        };
        let text = format!("× {}: {}", unit.unit, harmless_line(&why));
        rows.push(vec![(text, look.bad())]);
    }
    Table { head: head(&["NEEDS YOU"]), widths_max: vec![usize::MAX], rows }
}

/// Units of these kinds that are not among the commented samples of the program.
fn units<'a>(
    status: &'a StatusView,
    kinds: &'a [&str],
    now: Timestamp,
) -> impl Iterator<Item = &'a UnitView> {
    status.units.iter().filter(move |unit| {
        let is_sample = unit.health(now) == Health::Off
            && unit.place.as_deref().is_some_and(|place| place.starts_with(BUILT_IN));
        !is_sample && kinds.iter().any(|kind| unit.unit.ends_with(kind))
    })
}

/// "● inbox" in the colour of its health, and the word for it.
fn named(unit: &UnitView, look: Look, now: Timestamp) -> [Cell; 2] {
    let health = unit.health(now);
    let style = match health {
        Health::Ok => look.good(),
        Health::Starting | Health::Off | Health::Stopped => look.dim(),
        Health::Waiting | Health::Retrying | Health::Late => look.warn(),
        Health::Failing | Health::Broken => look.bad(),
    };
    let name = unit.unit.rsplit_once('.').map_or(unit.unit.as_str(), |(name, _)| name);
    let name = format!("{} {}", glyph(health).0, harmless_line(name));
    [(name, style), (health.word().to_owned(), style)]
}

fn age(at: Option<Timestamp>, now: Timestamp) -> Cell {
    (at.map_or_else(|| "-".to_owned(), |at| short_span(now.since(at))), Style::new())
}

fn connectors(status: &StatusView, look: Look, now: Timestamp) -> Table {
    let rows = units(status, &[".connector", ".timer"], now).map(|unit| {
        let [name, state] = named(unit, look, now);
        let is_off = unit.health(now) == Health::Off;
        let due = match (unit.running_since, unit.next_due) {
            (Some(since), _) => format!("at it {}", short_span(now.since(since))),
            (None, Some(due)) if !is_off => format!("in {}", short_span(due.since(now))),
            _ => "-".to_owned(),
        };
        let said = match (&unit.last_error, &unit.reason) {
            (Some(error), _) if unit.failures_in_a_row > 0 => {
                format!("{} times {}: {}", unit.failures_in_a_row, error.class, error.message)
            }
            (_, Some(reason)) => reason.clone(),
            _ => unit.details.first().cloned().unwrap_or_default(),
        };
        vec![
            name,
            state,
            age(unit.last_try, now),
            age(unit.last_success, now),
            age(unit.last_new_item, now),
            (due, Style::new()),
            (harmless_line(&said), look.dim()),
        ]
    });
    let rows = rows.collect();
    let head = head(&["CONNECTORS", "STATE", "TRIED", "WELL", "NEW", "NEXT", ""]);
    Table { head, widths_max: vec![24, 8, 5, 5, 5, 9, usize::MAX], rows }
}

fn engines(model: &Model, status: &StatusView, look: Look, now: Timestamp) -> Table {
    let rows = units(status, &[".engine"], now).map(|unit| {
        let [name, state] = named(unit, look, now);
        let plain = unit.unit.trim_end_matches(".engine");
        let row = model.cost.as_ref().and_then(|cost| cost.rows.iter().find(|row| row.key == plain));
        let (runs, spent) = match row {
            Some(row) => {
                let more = if row.unknown_runs > 0 { "+?" } else { "" };
                (row.runs.to_string(), format!("{}{more}", shown_usd(row.cost_micro_usd)))
            }
            None => ("0".to_owned(), "-".to_owned()),
        };
        let caps = status.budgets.iter().filter(|budget| budget.unit == unit.unit);
        let caps: Vec<String> = caps
            .map(|budget| {
                let (spent, most) = (shown_usd(budget.spent_micro_usd), shown_usd(budget.micro_usd_max));
                format!("{spent} of {most} {}{}", budget.span, if budget.near { " !" } else { "" })
            })
            .collect();
        let quota = match &unit.rest {
            Some(rest) => {
                format!("rests {}: {}", short_span(rest.until.since(now)), harmless_line(&rest.reason))
            }
            None => match &unit.last_error {
                Some(error) if unit.failures_in_a_row > 0 => harmless_line(&error.message),
                _ => caps.join(", "),
            },
        };
        let style = if unit.rest.is_some() { look.warn() } else { look.dim() };
        vec![
            name,
            state,
            age(unit.last_success.or(unit.last_try), now),
            (runs, Style::new()),
            (spent, Style::new()),
            (quota, style),
        ]
    });
    let rows = rows.collect();
    let head = head(&["ENGINES", "STATE", "RAN", "RUNS", "USD", "TODAY; QUOTA"]);
    Table { head, widths_max: vec![24, 8, 5, 6, 12, usize::MAX], rows }
}

fn drafts(model: &Model, look: Look, now: Timestamp) -> Table {
    let rows = model.drafts.iter().map(|view| {
        let draft = &view.draft;
        let (mark, style) = match (view.blocked.is_some(), draft.stale) {
            (true, _) => ("× ", look.bad()),
            (false, true) => ("! ", look.warn()),
            _ => ("  ", Style::new()),
        };
        let subject = match draft.envelope.subject.as_str() {
            "" => view.items.last().map_or("", |item| item.title.as_str()),
            subject => subject,
        };
        vec![
            (format!("{mark}{}", draft.id), style),
            (draft.case.to_string(), Style::new()),
            age(Some(draft.made_at), now),
            (harmless_line(&draft.made_by), look.dim()),
            (harmless_line(&draft.envelope.recipients()), look.ours()),
            (harmless_line(subject), Style::new()),
        ]
    });
    let rows = rows.collect();
    let first = format!("DRAFTS {}", model.drafts_open);
    let head = head(&[&first, "CASE", "AGE", "BY", "TO", "SUBJECT"]);
    Table { head, widths_max: vec![12, 8, 5, 14, 24, usize::MAX], rows }
}

/// Newest first: what just happened stands where the part begins.
fn journal(model: &Model, look: Look, now: Timestamp) -> Table {
    let rows = model.journal.iter().rev().map(|line| {
        vec![
            (short_span(now.since(line.at)), look.dim()),
            (line.case.to_string(), Style::new()),
            (harmless_line(&line.event), look.ours()),
            (harmless_line(&line.detail), Style::new()),
        ]
    });
    let rows = rows.collect();
    Table { head: head(&["JOURNAL", "CASE", "EVENT", ""]), widths_max: vec![7, 8, 12, usize::MAX], rows }
}
