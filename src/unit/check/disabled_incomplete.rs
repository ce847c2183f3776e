//! `disabled-incomplete`: a disabled unit that could not run as it is.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "disabled-incomplete",
    severity: Severity::Info,
    summary: "a disabled unit that could not run as it is",
    why: "It is no error, because nothing of it runs; but enabling it would not be enough.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[connector]
platform = "feed"

[install]
enabled = false
"#,
        after: r#"[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"

[install]
enabled = false
"#,
    }),
};

/// Problems told in the notes.
const SHOWN_MAX: usize = 5;

/// The finding that stands for all problems of a disabled unit.
pub(crate) fn finding(span: Span, problems: &[String]) -> Finding {
    let title = format!(
        "this unit is disabled; enabled, it would have {}",
        words::count(problems.len(), "problem", "problems")
    );
    let mut finding = Finding::new(&CHECK, span, title);
    for problem in problems.iter().take(SHOWN_MAX) {
        finding = finding.note(problem);
    }
    if problems.len() > SHOWN_MAX {
        finding = finding.note(format!("and {} more", problems.len() - SHOWN_MAX));
    }
    finding
}
