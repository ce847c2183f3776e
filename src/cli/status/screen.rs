//! The screen as a pure function of the view. Understandable without colour.

use std::collections::BTreeMap;
use std::time::Duration;

use super::wrap::wrapped;
use crate::cli::look::{Paint, glyph};
use crate::control::health::Health;
use crate::control::wire::{ActiveState, CountsView, Mode, StatusView, UnitView};
use crate::model::pause::Pause;
use crate::model::text::clean;
use crate::model::time::{Timestamp, short_span};
use crate::unit::BUILT_IN;

/// Narrower screens get longer lines than they have room for.
const WIDTH_MIN: usize = 60;

/// Longer names push the columns of their line.
const NAME_WIDTH_MAX: usize = 32;

/// Of the word for health.
const WORD_WIDTH: usize = 8;

/// Where further lines about a unit begin.
const INDENT: usize = 4;

/// The files of a unit.
#[derive(Clone, Debug, Default)]
pub struct UnitFilesView {
    /// Its whole file; empty where none lies on the search path.
    pub path: String,
    /// `enabled`, `static`, …
    pub state: &'static str,
    /// The same before anybody changed it.
    pub preset: &'static str,
    /// What is laid over it, in order.
    pub drop_ins: Vec<String>,
}

/// How and how wide, and from when ages count.
pub struct Screen {
    now: Timestamp,
    paint: Paint,
    width: usize,
}

impl Screen {
    /// `width` in columns.
    #[must_use]
    pub fn new(now: Timestamp, colour: bool, width: usize) -> Self {
        Self { now, paint: Paint { colour }, width: width.max(WIDTH_MIN) }
    }

    /// Everything at a glance.
    #[must_use]
    pub fn overview(&self, view: &StatusView) -> String {
        let mut out = String::new();
        self.head(&mut out, view);
        // The commented samples in the binary are off by nature; `status UNIT` shows them all the same.
        let sample = |unit: &&UnitView| {
            unit.health(self.now) == Health::Off
                && unit.place.as_deref().is_some_and(|place| place.starts_with(BUILT_IN))
        };
        let own = view.units.iter().filter(|unit| !sample(unit));
        let (runtimes, others): (Vec<_>, Vec<_>) = own.partition(|unit| kind(unit) == "runtime");
        // Runtimes that do what they should are all alike; only their names are worth a look.
        let alike = |unit: &&UnitView| {
            matches!(unit.health(self.now), Health::Ok | Health::Off | Health::Starting | Health::Stopped)
                && unit.details.is_empty()
        };
        let (alike, odd): (Vec<_>, Vec<_>) = runtimes.into_iter().partition(alike);
        let listed: Vec<_> = others.into_iter().chain(odd).collect();
        let name_width = name_width(&listed).max("runtimes".len());
        let mut last = None;
        for unit in listed {
            if last != Some(kind(unit)) {
                out.push('\n');
                last = Some(kind(unit));
            }
            self.unit(&mut out, unit, name_width);
        }
        self.alike(&mut out, &alike, name_width, last == Some("runtime"));
        out.push('\n');
        self.counts(&mut out, &view.counts);
        out
    }

    /// The units of the view with all that is known of them; `files` goes along with the units.
    #[must_use]
    pub fn closely(&self, view: &StatusView, files: &[UnitFilesView]) -> String {
        let mut out = String::new();
        if !view.running {
            self.not_running(&mut out);
            out.push('\n');
        }
        let name_width = name_width(&view.units.iter().collect::<Vec<_>>());
        for (index, unit) in view.units.iter().enumerate() {
            self.unit(&mut out, unit, name_width);
            if !unit.description.is_empty() {
                self.line(&mut out, &unit.description);
            }
            if let Some(files) = files.get(index).filter(|files| !files.path.is_empty()) {
                self.line(
                    &mut out,
                    &format!("file {} ({}, preset {})", files.path, files.state, files.preset),
                );
                for drop_in in &files.drop_ins {
                    self.line(&mut out, &format!("drop-in {drop_in}"));
                }
            }
            if let Some(since) = unit.since {
                self.line(&mut out, &format!("so for {}", short_span(self.now.since(since))));
            }
            if let Some(every) = unit.every {
                self.line(&mut out, &format!("polled every {}", short_span(every)));
            }
            if let Some(replies) = &unit.replies {
                self.line(&mut out, &format!("replies: {replies}"));
            }
        }
        out
    }

    fn head(&self, out: &mut String, view: &StatusView) {
        let mode = match view.mode {
            Mode::Live => "live",
            Mode::Rehearsal => "rehearsal: nothing is really sent",
        };
        match (view.running, view.started_at, view.pid) {
            (true, Some(started_at), Some(pid)) => {
                let up = short_span(self.now.since(started_at));
                let version = &view.version;
                let lead = format!("{} ", self.paint.bold("workagent"));
                let text =
                    format!("{version}, up {up}, {mode} (process {pid}, generation {})", view.generation);
                wrapped(out, &lead, 10, 2, self.width, &text);
            }
            _ => self.not_running(out),
        }
        let mut notes = Vec::new();
        let left = |pause: &Pause| {
            let left = pause.until.map(|until| format!(" for {} more", short_span(until.since(self.now))));
            left.unwrap_or_default()
        };
        if view.paused {
            let left = view.pauses.all.as_ref().map(left).unwrap_or_default();
            notes.push(format!("paused{left}, no engine runs and nothing is sent: workagent resume"));
        }
        for (unit, pause) in &view.pauses.units {
            let what = if unit.ends_with(".engine") { "gets no case" } else { "sends nothing" };
            notes.push(format!("{unit} is paused{}, it {what}: workagent resume {unit}", left(pause)));
        }
        if view.findings > 0 {
            let since = view.findings_since.map(|at| format!(" for {}", short_span(self.now.since(at))));
            let errors = if view.findings == 1 { "error" } else { "errors" };
            let since = since.unwrap_or_default();
            notes.push(format!("{} {errors} in unit files{since}: workagent validate", view.findings));
        }
        notes.extend(view.notes.iter().cloned());
        for note in notes {
            wrapped(out, &format!("{} ", self.paint.yellow("!")), 2, 2, self.width, &note);
        }
    }

    fn not_running(&self, out: &mut String) {
        let lead = format!("{} ", self.paint.bold(self.paint.red("the daemon is not running:")));
        wrapped(out, &lead, 27, 2, self.width, "start it with `workagent run`");
        self.dim(out, 0, "below is what unit files and record say by themselves");
    }

    fn unit(&self, out: &mut String, unit: &UnitView, name_width: usize) {
        let health = unit.health(self.now);
        self.summary(out, &clean(&unit.unit), name_width, health, &self.said(unit, health));
        let is_wrong = unit.failures_in_a_row > 0 && health != Health::Off;
        if let Some(error) = unit.last_error.as_ref().filter(|_| is_wrong) {
            self.line(out, &format!("{}: {}", error.class, error.message));
        }
        if let Some(place) = unit.place.as_ref().filter(|_| matches!(health, Health::Off | Health::Broken)) {
            self.dim(out, INDENT, place);
        }
        if let Some(kept) = &unit.kept {
            let lead = format!("{:INDENT$}{} ", "", self.paint.yellow("kept:"));
            let text = format!("its last good version runs; now: {kept}");
            wrapped(out, &lead, INDENT + 6, INDENT + 2, self.width, &text);
        }
        if let Some(probe) = unit.last_probe.as_ref().filter(|probe| !probe.ok) {
            self.line(out, &format!("connection test failed {}: {}", self.ago(probe.at), probe.text));
        }
        if unit.restarts > 0 {
            let times = times(unit.restarts);
            self.line(out, &format!("its loop was begun again {times} after a fault of workagent itself"));
        }
        for detail in &unit.details {
            self.dim(out, INDENT, detail);
        }
    }

    fn summary(&self, out: &mut String, name: &str, name_width: usize, health: Health, said: &str) {
        let (glyph, code) = glyph(health);
        let word = format!("{:WORD_WIDTH$}", health.word());
        let (glyph, word) = (self.paint.with(code, glyph), self.paint.with(code, word));
        let lead = format!("{glyph} {name:name_width$}  {word}  ");
        let lead_width = name_width.max(name.chars().count()) + WORD_WIDTH + 6;
        wrapped(out, &lead, lead_width, lead_width, self.width, said);
    }

    /// One line for those of a kind that need no words, apart by health.
    fn alike(&self, out: &mut String, units: &[&UnitView], name_width: usize, goes_on: bool) {
        let mut by_health: BTreeMap<&str, (Health, Vec<&str>)> = BTreeMap::new();
        for unit in units {
            let health = unit.health(self.now);
            let name = unit.unit.rsplit_once('.').map_or(unit.unit.as_str(), |(name, _)| name);
            by_health.entry(health.word()).or_insert((health, Vec::new())).1.push(name);
        }
        if !by_health.is_empty() && !goes_on {
            out.push('\n');
        }
        let mut groups: Vec<_> = by_health.into_values().collect();
        groups.sort_by_key(|(health, _)| *health == Health::Off);
        for (health, names) in groups {
            self.summary(out, "runtimes", name_width, health, &names.join(", "));
        }
    }

    /// What the summary line says behind the word for health.
    fn said(&self, unit: &UnitView, health: Health) -> String {
        let mut parts = Vec::new();
        match health {
            Health::Off | Health::Broken => {
                if unit.active == ActiveState::Failed {
                    parts
                        .push(format!("left alone after failing {} in a row", times(unit.failures_in_a_row)));
                    parts.push(format!("`workagent kick {}` tries again", unit.unit));
                }
                parts.extend(unit.reason.clone());
                parts.extend(unit.since.map(|since| format!("for {}", self.span(since))));
            }
            Health::Starting => parts.push(match unit.running_since {
                Some(since) => format!("the first try has been going on for {}", self.span(since)),
                None => "not tried yet".to_owned(),
            }),
            Health::Late => parts.push(match (unit.running_since, unit.next_due) {
                (Some(since), _) => format!("a try has been going on for {}", self.span(since)),
                (None, Some(due)) => format!("overdue by {}", self.span(due)),
                (None, None) => "overdue".to_owned(),
            }),
            // The word for health says what: "failing   3 times in a row for 12m".
            Health::Retrying | Health::Failing => parts.extend(self.failures(unit)),
            Health::Waiting => parts.push("the far side asked to wait".to_owned()),
            Health::Ok => parts.extend(unit.last_try.map(|at| format!("{} {}", verb(unit), self.ago(at)))),
            Health::Stopped => {}
        }
        let is_polled = kind(unit) == "connector" && matches!(health, Health::Ok | Health::Stopped);
        if let Some(due) =
            unit.next_due.filter(|_| !matches!(health, Health::Off | Health::Broken | Health::Late))
        {
            parts.push(match (kind(unit), unit.failures_in_a_row) {
                ("engine", _) => format!("takes no case for {}", short_span(due.since(self.now))),
                (_, 0) => self.due(due, "next"),
                _ => self.due(due, "next try"),
            });
        }
        if matches!(health, Health::Retrying | Health::Failing | Health::Waiting | Health::Late) {
            parts.extend(unit.reason.clone());
            parts.push(match unit.last_success {
                Some(at) => format!("last success {}", self.ago(at)),
                None => "no success since start".to_owned(),
            });
        }
        if is_polled && let Some(at) = unit.last_new_item {
            parts.push(format!("new item {}", self.ago(at)));
        } else if is_polled && health == Health::Ok {
            parts.push("no new item yet".to_owned());
        }
        if parts.is_empty() && kind(unit) == "engine" && health == Health::Ok {
            parts.push("no run yet".to_owned());
        }
        if parts.is_empty() {
            parts.push(unit.description.clone());
        }
        parts.join(", ")
    }

    fn failures(&self, unit: &UnitView) -> Option<String> {
        let at = unit.last_error.as_ref()?.at;
        match (unit.failures_in_a_row, at, unit.since) {
            (0, ..) => None,
            (1, Some(at), _) => Some(format!("once, {}", self.ago(at))),
            (1, None, _) => None,
            (more, _, since) => {
                let since = since.map(|since| format!(" for {}", self.span(since))).unwrap_or_default();
                Some(format!("{} in a row{since}", times(more)))
            }
        }
    }

    fn counts(&self, out: &mut String, counts: &CountsView) {
        let cases: Vec<_> = crate::model::case::CaseState::ALL.iter().map(|state| state.word()).collect();
        let actions: Vec<_> =
            crate::model::outbound::ActionState::ALL.iter().map(|state| state.word()).collect();
        let oldest = |at: Option<Timestamp>, what: &str| {
            at.map(|at| format!(", the oldest {what} for {}", self.span(at))).unwrap_or_default()
        };
        let review = match counts.drafts_open {
            0 => "nothing waits".to_owned(),
            1 => format!("1 draft waits{}", oldest(counts.oldest_draft_at, "waits")),
            open => format!("{open} drafts wait{}", oldest(counts.oldest_draft_at, "waits")),
        };
        for (name, text) in [
            ("cases", listed(&counts.cases, &cases) + &oldest(counts.oldest_queued_at, "is queued")),
            ("outbox", listed(&counts.actions, &actions)),
            ("review", review),
        ] {
            let lead = format!("{}  ", self.paint.dim(format!("{name:6}")));
            wrapped(out, &lead, 8, 8, self.width, &text);
        }
    }

    fn line(&self, out: &mut String, text: &str) {
        wrapped(out, &" ".repeat(INDENT), INDENT, INDENT + 2, self.width, text);
    }

    fn dim(&self, out: &mut String, indent: usize, text: &str) {
        let mut plain = String::new();
        wrapped(&mut plain, "", indent, indent + 2, self.width, text);
        let text = self.paint.dim(plain.trim_end());
        out.push_str(&format!("{:indent$}{text}\n", ""));
    }

    fn span(&self, since: Timestamp) -> String {
        short_span(self.now.since(since))
    }

    fn ago(&self, at: Timestamp) -> String {
        match self.now.since(at) {
            span if span < Duration::from_secs(1) => "just now".to_owned(),
            span => format!("{} ago", short_span(span)),
        }
    }

    fn due(&self, at: Timestamp, what: &str) -> String {
        match at.since(self.now) {
            wait if wait < Duration::from_secs(1) => format!("{what} now"),
            wait => format!("{what} in {}", short_span(wait)),
        }
    }
}

fn name_width(units: &[&UnitView]) -> usize {
    units.iter().map(|unit| unit.unit.chars().count()).max().unwrap_or(0).min(NAME_WIDTH_MAX)
}

fn kind(unit: &UnitView) -> &str {
    unit.unit.rsplit_once('.').map_or("", |(_, kind)| kind)
}

fn verb(unit: &UnitView) -> &'static str {
    if kind(unit) == "connector" { "polled" } else { "ran" }
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// "2 queued, 12 closed" in the order of the states' own table.
fn listed(counts: &BTreeMap<String, u64>, order: &[&str]) -> String {
    let place = |word: &str| order.iter().position(|known| *known == word).unwrap_or(usize::MAX);
    let mut some: Vec<_> = counts.iter().filter(|(_, count)| **count > 0).collect();
    some.sort_by_key(|(word, _)| place(word));
    let listed: Vec<_> = some.iter().map(|(word, count)| format!("{count} {word}")).collect();
    if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
}
