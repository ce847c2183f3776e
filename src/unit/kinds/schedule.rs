//! `[schedule]`: when a connector is asked for news, when a timer makes its case.

use std::time::Duration;

use crate::diag::{Finding, Span};
use crate::model::schedule::{OnResume, Schedule};
use crate::model::time::Timestamp;
use crate::unit::check::never_runs;
use crate::unit::schema::{KeySpec, TableSpec, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Settings;

/// The table's name.
pub(crate) const NAME: &str = "schedule";

/// The table of connectors.
pub(crate) const CONNECTOR: TableSpec = TableSpec::new(
    NAME,
    &[
        KeySpec::new(
            "every",
            ValueType::Duration { min_s: 1, max_s: 7 * 86_400 },
            "Time between two polls; each platform has its own default and limit",
        ),
        CALENDAR,
        KeySpec::new("at_start", ValueType::Bool, "Also when the daemon starts").default("true"),
        JITTER,
        ACTIVE,
        QUIET,
        KeySpec::new(
            "on_resume",
            ValueType::Choice(&["once", "skip"]),
            "What becomes of times that were missed because the machine slept: one poll soon, or none",
        )
        .default("\"once\""),
    ],
    "When it is asked for news.",
);

/// The table of timers.
pub(crate) const TIMER: TableSpec = TableSpec::new(
    NAME,
    &[
        KeySpec::new(
            "every",
            ValueType::Duration { min_s: 60, max_s: 366 * 86_400 },
            "Time between two cases",
        ),
        CALENDAR,
        KeySpec::new("at_start", ValueType::Bool, "Also when the daemon starts").default("false"),
        JITTER,
        ACTIVE,
        QUIET,
        KeySpec::new(
            "on_resume",
            ValueType::Choice(&OnResume::WORDS),
            "What becomes of times that were missed: one case soon, none, or one for each",
        )
        .default("\"once\""),
        KeySpec::new(
            "persistent",
            ValueType::Bool,
            "Times that were missed while the daemon was off count as missed too",
        )
        .default("true"),
    ],
    "When it makes its case.",
);

/// The table of channels.
pub(crate) const CHANNEL: TableSpec = TableSpec::new(
    NAME,
    &[
        KeySpec::new(
            "active",
            ValueType::Windows,
            "Tells only in these hours; what comes outside them waits for the next opening",
        ),
        KeySpec::new(
            "quiet",
            ValueType::Windows,
            "Tells nothing in these hours; what is said to it is heard all the same",
        ),
    ],
    "When it tells.",
);

const CALENDAR: KeySpec = KeySpec::new(
    "calendar",
    ValueType::Calendars,
    "Moments by the calendar, in systemd's grammar, with a time zone if it is not the machine's; a time that a change of \
     the clock leaves out is the moment after it, one that comes twice counts once",
);

const JITTER: KeySpec = KeySpec::new(
    "jitter",
    ValueType::Duration { min_s: 0, max_s: 86_400 },
    "Runs later by its own part of this, always the same",
)
.default("\"0s\"");

const ACTIVE: KeySpec = KeySpec::new(
    "active",
    ValueType::Windows,
    "Only in these hours; a time outside them moves to the next opening",
);

const QUIET: KeySpec = KeySpec::new("quiet", ValueType::Windows, "Not in these hours");

/// The schedule, from checked values.
pub(crate) fn build(settings: &Settings) -> Schedule {
    Schedule {
        every: settings.duration("every"),
        // Checked when they were decoded.
        calendar: settings.list("calendar").iter().filter_map(|text| text.parse().ok()).collect(),
        at_start: settings.flag("at_start"),
        jitter: settings.duration("jitter").unwrap_or_default(),
        active: settings.list("active").iter().filter_map(|text| text.parse().ok()).collect(),
        quiet: settings.list("quiet").iter().filter_map(|text| text.parse().ok()).collect(),
        on_resume: OnResume::from_word(settings.text("on_resume").unwrap_or_default()),
        persistent: settings.flag("persistent"),
        gap_min: Duration::ZERO,
    }
}

/// What can be said of the table by itself.
pub(crate) fn check(typed: &Typed) -> Vec<Finding> {
    let schedule = build(typed.settings(NAME));
    let mut findings = Vec::new();
    let spans = typed.spans(NAME, "calendar");
    let items =
        spans.map(|spans| if spans.items.is_empty() { vec![spans.value] } else { spans.items.clone() });
    let items = items.unwrap_or_default();
    // With a finding about one of them they do not stand side by side any more.
    if items.len() == schedule.calendar.len() {
        for (calendar, span) in schedule.calendar.iter().zip(items) {
            if calendar.next(Timestamp(0)).is_none() {
                findings.push(never_runs::calendar(span));
            }
        }
    }
    let windows = Schedule { every: Some(Duration::from_secs(60)), calendar: Vec::new(), ..schedule };
    // In winter and in summer: zones of two windows may drift apart.
    if !WEEKS.iter().any(|week| windows.ever_runs(*week))
        && let Some((key, span)) =
            ["quiet", "active"].into_iter().find_map(|key| Some((key, value(typed, key)?)))
    {
        findings.push(never_runs::windows(key, span));
    }
    findings
}

/// A Monday in January and one in July.
const WEEKS: [Timestamp; 2] = [Timestamp(1_767_571_200_000), Timestamp(1_783_296_000_000)];

fn value(typed: &Typed, key: &str) -> Option<Span> {
    typed.spans(NAME, key).map(|spans| spans.value)
}
