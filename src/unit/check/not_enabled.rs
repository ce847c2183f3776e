//! `not-enabled`: a connector that does not say whether it is on.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "not-enabled",
    severity: Severity::Info,
    summary: "a connector that does not say whether it is on",
    why: "Connectors are off until their file says otherwise, so that nothing is read by accident.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"
"#,
        after: r#"[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"

[install]
enabled = true
"#,
    }),
};

/// The finding for a whole file.
pub(crate) fn finding(span: Span) -> Finding {
    Finding::new(&CHECK, span, "this connector is off: it does not say `enabled`")
        .help("add `[install]` with `enabled = true`, or `false` to be clear")
}
