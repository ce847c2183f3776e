//! `workagent status`: the command, and the text as a pure function from view to screen.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use crate::control::health::Health;
use crate::control::wire::{ActiveState, CountsView, LoadState, Mode, StatusView, UnitView};
use crate::model::exit;
use crate::model::text::{clean, one_line};
use crate::model::time::{Timestamp, short_span};

/// Narrower screens get longer lines than they have room for.
const WIDTH_MIN: usize = 60;

/// One thing said takes at most so many lines.
const LINES_MAX: usize = 4;

/// `workagent status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Only this unit, `inbox.connector`
    unit: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command. Without a daemon it says so and shows what the record knows.
pub async fn command(args: StatusArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let mut view: StatusView = backend.get("/v1/status").await?;
    backend.close().await;
    if let Some(wanted) = &args.unit {
        view.units.retain(|unit| &unit.unit == wanted);
        if view.units.is_empty() {
            return Err(
                CliError::usage(format!("there is no unit {wanted}")).hint("workagent status lists them")
            );
        }
    }
    let text = if args.json { pretty(&view) } else { render(&view, context.colour(), context.width()) };
    context.out.write_all(text.as_bytes())?;
    Ok(exit_code(&view))
}

/// The code `status` ends with: [`exit::NOT_WELL`] when something enabled is not well or a unit file has errors.
#[must_use]
pub fn exit_code(view: &StatusView) -> u8 {
    if view.is_well() { exit::OK } else { exit::NOT_WELL }
}

/// The whole screen. `width` in columns; understandable without colour.
#[must_use]
pub fn render(view: &StatusView, colour: bool, width: usize) -> String {
    let screen = Screen { now: view.now, colour, width: width.max(WIDTH_MIN) };
    let mut out = String::new();
    let mode = match view.mode {
        Mode::Live => "live",
        Mode::Rehearsal => "rehearsal: nothing is really sent",
    };
    let up = short_span(view.now.since(view.started_at));
    screen.line(
        &mut out,
        0,
        &format!(
            "workagent {}, process {}, up {up}, generation {}, {mode}",
            view.version, view.pid, view.generation
        ),
    );
    if view.paused {
        screen.line(&mut out, 0, "paused: no engine runs and nothing is sent; `workagent resume` goes on");
    }
    if view.findings > 0 {
        let since = view
            .findings_since
            .map(|at| format!(" for {}", short_span(view.now.since(at))))
            .unwrap_or_default();
        let (files, have) = if view.findings == 1 { ("file", "has") } else { ("files", "have") };
        let text =
            format!("{} unit {files} {have} errors{since}; `workagent validate` shows them", view.findings);
        screen.line(&mut out, 0, &text);
    }
    for note in &view.notes {
        screen.line(&mut out, 0, note);
    }
    out.push('\n');
    let name_width = view.units.iter().map(|unit| unit.unit.chars().count()).max().unwrap_or(0).min(40);
    for unit in &view.units {
        screen.unit(&mut out, unit, name_width);
    }
    if !view.units.is_empty() {
        out.push('\n');
    }
    screen.counts(&mut out, &view.counts);
    out
}

struct Screen {
    now: Timestamp,
    colour: bool,
    width: usize,
}

impl Screen {
    fn ago(&self, at: Timestamp) -> String {
        match self.now.since(at) {
            span if span < Duration::from_secs(1) => "just now".to_owned(),
            span => format!("{} ago", short_span(span)),
        }
    }

    /// "next in 12s", or how long it is overdue.
    fn due(&self, at: Timestamp) -> String {
        match at.since(self.now) {
            Duration::ZERO if self.now.since(at) < Duration::from_secs(1) => "due now".to_owned(),
            Duration::ZERO => format!("overdue by {}", short_span(self.now.since(at))),
            wait => format!("next in {}", short_span(wait)),
        }
    }

    /// Foreign text may be long and may hold anything: made one clean line, then wrapped at the width, further lines
    /// set in; what does not fit into [`LINES_MAX`] is cut.
    fn line(&self, out: &mut String, indent: usize, text: &str) {
        self.wrapped(out, &" ".repeat(indent), indent, indent + 2, text);
    }

    /// Behind a `lead` that takes `lead_width` columns.
    fn wrapped(&self, out: &mut String, lead: &str, lead_width: usize, indent: usize, text: &str) {
        let text = one_line(text, usize::MAX);
        out.push_str(lead);
        let (mut column, mut lines) = (lead_width, 1);
        for word in text.split(' ') {
            let length = word.chars().count();
            let blank = usize::from(column > lead_width && lines == 1 || column > indent && lines > 1);
            if column + blank + length > self.width && blank > 0 && lines < LINES_MAX {
                let _ = write!(out, "\n{:indent$}", "");
                (column, lines) = (indent, lines + 1);
            } else if blank > 0 {
                out.push(' ');
                column += 1;
            }
            if column + length > self.width {
                out.extend(word.chars().take(self.width.saturating_sub(column + 1)));
                out.push('…');
                break;
            }
            out.push_str(word);
            column += length;
        }
        out.push('\n');
    }

    fn unit(&self, out: &mut String, unit: &UnitView, name_width: usize) {
        let health = unit.health(self.now);
        let (glyph, paint) = match health {
            Health::Ok => ("●", "32"),
            Health::Off => ("○", "2"),
            Health::Starting => ("●", "2"),
            Health::Retrying | Health::Late => ("▲", "33"),
            Health::Failing | Health::Broken => ("×", "31"),
        };
        let name = clean(&unit.unit);
        let padded = format!("{:8}", health.word());
        let lead =
            format!("{} {name:name_width$}  {}  ", self.painted(glyph, paint), self.painted(&padded, paint));
        let lead_width = name_width.max(name.chars().count()) + 14;
        self.wrapped(out, &lead, lead_width, lead_width, &self.summary(unit, health));
        let indent = 4;
        if let Some(error) = unit.last_error.as_ref().filter(|_| unit.failures_in_a_row > 0) {
            let times = match unit.failures_in_a_row {
                1 => "failed once".to_owned(),
                times => format!("failed {times} times in a row"),
            };
            let text = format!("{times}, last {}, {}: {}", self.ago(error.at), error.class, error.message);
            self.line(out, indent, &text);
        }
        if let Some(place) = unit.place.as_ref().filter(|_| !matches!(health, Health::Ok)) {
            self.line(out, indent, &format!("at {place}"));
        }
        if let Some(probe) = unit.last_probe.as_ref().filter(|probe| !probe.ok) {
            self.line(out, indent, &format!("connection test {} failed: {}", self.ago(probe.at), probe.text));
        }
        if unit.restarts > 0 {
            self.line(out, indent, &format!("its loop was started again {} times", unit.restarts));
        }
        for detail in &unit.details {
            self.line(out, indent, detail);
        }
    }

    fn summary(&self, unit: &UnitView, health: Health) -> String {
        let state = match (unit.load, unit.active) {
            (LoadState::NotFound, _) => "not found",
            (LoadState::BadSetting, _) => "has errors",
            (LoadState::Masked, _) => "masked",
            (LoadState::Loaded, ActiveState::Inactive) if !unit.enabled => "disabled",
            (LoadState::Loaded, ActiveState::Inactive) => "inactive",
            (LoadState::Loaded, ActiveState::Activating) => "starting",
            (LoadState::Loaded, ActiveState::Active) => "active",
            (LoadState::Loaded, ActiveState::Reloading) => "reloading",
            (LoadState::Loaded, ActiveState::Deactivating) => "stopping",
            (LoadState::Loaded, ActiveState::Failed) => "failed",
        };
        let mut parts = vec![match unit.since {
            Some(since) => format!("{state} for {}", short_span(self.now.since(since))),
            None => state.to_owned(),
        }];
        parts.extend(unit.reason.clone());
        if let Some(due) = unit.next_due.filter(|_| health != Health::Off) {
            parts.push(self.due(due));
        }
        if unit.last_try.is_some() || unit.every.is_some() {
            if let Some(at) = unit.last_try.filter(|_| unit.last_try != unit.last_success) {
                parts.push(format!("tried {}", self.ago(at)));
            }
            parts.push(match unit.last_success {
                Some(at) => format!("succeeded {}", self.ago(at)),
                None => "never succeeded".to_owned(),
            });
            parts.push(match unit.last_new_item {
                Some(at) => format!("new item {}", self.ago(at)),
                None => "no new item yet".to_owned(),
            });
        }
        parts.join(", ")
    }

    fn counts(&self, out: &mut String, counts: &CountsView) {
        let listed = |counts: &std::collections::BTreeMap<String, u64>, order: &[&str]| {
            let place = |word: &str| order.iter().position(|known| *known == word).unwrap_or(usize::MAX);
            let mut some: Vec<_> = counts.iter().filter(|(_, count)| **count > 0).collect();
            some.sort_by_key(|(word, _)| place(word));
            some.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
        };
        let cases: Vec<_> = crate::model::case::CaseState::ALL.iter().map(|state| state.word()).collect();
        let actions: Vec<_> =
            crate::model::outbound::ActionState::ALL.iter().map(|state| state.word()).collect();
        let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
        let waits = |at: Option<Timestamp>| match at {
            Some(at) => format!(", the oldest for {}", short_span(self.now.since(at))),
            None => String::new(),
        };
        let queued = counts
            .oldest_queued_at
            .map(|at| format!("; the oldest queued for {}", short_span(self.now.since(at))));
        let cases = or_none(listed(&counts.cases, &cases)) + &queued.unwrap_or_default();
        self.wrapped(out, "cases   ", 8, 8, &cases);
        self.wrapped(out, "outbox  ", 8, 8, &or_none(listed(&counts.actions, &actions)));
        let review = match counts.drafts_open {
            0 => "nothing waits".to_owned(),
            1 => format!("1 draft waits{}; `workagent review`", waits(counts.oldest_draft_at)),
            open => format!("{open} drafts wait{}; `workagent review`", waits(counts.oldest_draft_at)),
        };
        self.wrapped(out, "review  ", 8, 8, &review);
    }

    fn painted(&self, text: &str, code: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::{API_VERSION, ErrorView, ProbeView};

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn ago(seconds: u64) -> Option<Timestamp> {
        Some(NOW.minus(Duration::from_secs(seconds)))
    }

    fn ahead(seconds: u64) -> Option<Timestamp> {
        Some(NOW.plus(Duration::from_secs(seconds)))
    }

    fn view(units: Vec<UnitView>) -> StatusView {
        StatusView {
            api: API_VERSION,
            version: "0.1.0".to_owned(),
            pid: 4711,
            generation: 7,
            mode: Mode::Live,
            paused: false,
            started_at: NOW.minus(Duration::from_secs(3 * 3600)),
            now: NOW,
            units,
            counts: CountsView::default(),
            findings: 0,
            findings_since: None,
            notes: Vec::new(),
        }
    }

    fn polled(name: &str) -> UnitView {
        UnitView {
            since: ago(3 * 3600),
            last_try: ago(48),
            last_success: ago(48),
            last_new_item: ago(5 * 3600),
            next_due: ahead(12),
            every: Some(Duration::from_secs(60)),
            ..UnitView::active(name)
        }
    }

    fn failed(name: &str, times: u32, class: &str, message: &str) -> UnitView {
        UnitView {
            last_success: ago(720),
            failures_in_a_row: times,
            last_error: Some(ErrorView { at: NOW, class: class.to_owned(), message: message.to_owned() }),
            ..polled(name)
        }
    }

    #[test]
    fn a_house_in_order() {
        let mut view = view(vec![
            polled("inbox.connector"),
            UnitView {
                enabled: false,
                active: ActiveState::Inactive,
                reason: Some("[install] enabled = false".to_owned()),
                place: Some("/home/me/.config/workagent/units/news.connector.toml:8:1".to_owned()),
                ..UnitView::active("news.connector")
            },
            UnitView { details: vec!["3 runs today of 20".to_owned()], ..UnitView::active("local.engine") },
        ]);
        view.counts.cases =
            [("queued".to_owned(), 2), ("closed".to_owned(), 12), ("review".to_owned(), 3)].into();
        view.counts.actions =
            [("sent".to_owned(), 12), ("held".to_owned(), 1), ("dead".to_owned(), 0)].into();
        (view.counts.drafts_open, view.counts.oldest_draft_at) = (3, ago(7200));
        view.counts.oldest_queued_at = ago(60);
        assert_eq!(exit_code(&view), exit::OK);
        insta::assert_snapshot!(render(&view, false, 120), @r"
        workagent 0.1.0, process 4711, up 3h, generation 7, live

        ● inbox.connector  ok        active for 3h, next in 12s, succeeded 48s ago, new item 5h ago
        ○ news.connector   off       disabled, [install] enabled = false
            at /home/me/.config/workagent/units/news.connector.toml:8:1
        ● local.engine     ok        active
            3 runs today of 20

        cases   2 queued, 3 review, 12 closed; the oldest queued for 1m
        outbox  12 sent, 1 held
        review  3 drafts wait, the oldest for 2h; `workagent review`
        ");
    }

    #[test]
    fn a_house_in_trouble() {
        let mut view = view(vec![
            failed(
                "down.connector",
                2,
                "network",
                "fetch the feed: connect to 127.0.0.1:9: connection refused",
            ),
            failed(
                "mail.connector",
                1,
                "auth",
                "log in to imap.example.org as me: NO [AUTHENTICATIONFAILED]",
            ),
            UnitView {
                next_due: ago(35 * 3600),
                last_try: ago(35 * 3600),
                last_success: ago(35 * 3600),
                ..polled("stuck.connector")
            },
            UnitView {
                load: LoadState::BadSetting,
                active: ActiveState::Inactive,
                reason: Some("unknown key `poll_intervall`".to_owned()),
                place: Some("units/typo.connector.toml:3:1".to_owned()),
                ..UnitView::active("typo.connector")
            },
            UnitView {
                last_success: None,
                last_try: None,
                last_new_item: None,
                restarts: 918,
                last_probe: Some(ProbeView { at: NOW, ok: false, text: "no route".to_owned() }),
                ..failed("looping.connector", 4, "bug", "a fault of workagent")
            },
        ]);
        (view.findings, view.findings_since, view.paused, view.mode) = (2, ago(720), true, Mode::Rehearsal);
        assert_eq!(exit_code(&view), exit::NOT_WELL);
        insta::assert_snapshot!(render(&view, false, 100), @r"
        workagent 0.1.0, process 4711, up 3h, generation 7, rehearsal: nothing is really sent
        paused: no engine runs and nothing is sent; `workagent resume` goes on
        2 unit files have errors for 12m; `workagent validate` shows them

        ▲ down.connector     retrying  active for 3h, next in 12s, tried 48s ago, succeeded 12m ago, new
                                       item 5h ago
            failed 2 times in a row, last just now, network: fetch the feed: connect to 127.0.0.1:9:
              connection refused
        × mail.connector     failing   active for 3h, next in 12s, tried 48s ago, succeeded 12m ago, new
                                       item 5h ago
            failed once, last just now, auth: log in to imap.example.org as me: NO [AUTHENTICATIONFAILED]
        ▲ stuck.connector    late      active for 3h, overdue by 35h, succeeded 35h ago, new item 5h ago
        × typo.connector     broken    has errors, unknown key `poll_intervall`
            at units/typo.connector.toml:3:1
        × looping.connector  failing   active for 3h, next in 12s, never succeeded, no new item yet
            failed 4 times in a row, last just now, bug: a fault of workagent
            connection test just now failed: no route
            its loop was started again 918 times

        cases   none
        outbox  none
        review  nothing waits
        ");
    }

    #[test]
    fn foreign_text_moves_no_cursor_and_breaks_no_line() {
        let shown =
            render(&view(vec![failed("a.connector", 3, "network", "x\u{1b}[2J\r\ny\u{7}z")]), false, 200);
        assert!(shown.contains("network: x[2J yz\n"), "{shown}");
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let view = view(vec![polled("a.connector"), failed("b.connector", 3, "network", "no")]);
        let coloured = render(&view, true, 100);
        assert!(coloured.contains("\u{1b}[32m●"));
        let mut plain = coloured;
        for code in ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[0m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, render(&view, false, 100));
    }

    #[test]
    fn lines_keep_to_the_width() {
        let shown = render(&view(vec![failed("a.connector", 3, "network", &"ü".repeat(500))]), false, 80);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
}
