//! `never-runs`: a schedule that has no moment.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "never-runs",
    severity: Severity::Error,
    summary: "a schedule that has no moment",
    why: "The unit would stand there as well and never do anything: a date that no year has, or windows that never open.",
    example: Some(Example {
        file: "report.timer.toml",
        before: r#"[timer]
title = "End of the month"

[schedule]
calendar = "*-02-30 09:00"
"#,
        after: r#"[timer]
title = "End of the month"

[schedule]
calendar = "*-*~01 09:00"
"#,
    }),
};

/// The finding for a calendar.
pub(crate) fn calendar(span: Span) -> Finding {
    Finding::new(&CHECK, span, "no year has this date")
        .label("never comes")
        .help("the last day of a month is `*-*~01`; `workagent analyze calendar` shows the next times")
}

/// The finding for windows; `key` is the one whose value is shown.
pub(crate) fn windows(key: &str, span: Span) -> Finding {
    let title = match key {
        "quiet" => "the quiet hours leave no time to run",
        _ => "the active hours never come",
    };
    Finding::new(&CHECK, span, title).label("never open")
}

/// The finding for a timer without a time, that no failure kicks either.
pub(crate) fn no_time(span: Span) -> Finding {
    Finding::new(&CHECK, span, "the timer has neither `schedule.every` nor `schedule.calendar`")
        .label("never runs")
        .help("write `[schedule] calendar = \"Mon 09:00\"`, or `every = \"1d\"`, or name it in a unit's `on_failure`")
}
