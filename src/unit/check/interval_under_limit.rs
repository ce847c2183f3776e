//! `interval-under-limit`: a connector asks more often than its platform allows.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "interval-under-limit",
    severity: Severity::Warning,
    summary: "a connector asks more often than its platform allows",
    why: "The far side would slow us down or lock us out; the platform's own limit is used instead.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"

[schedule]
every = "1s"

[install]
enabled = true
"#,
        after: r#"[connector]
platform = "feed"

[feed]
url = "https://example.org/feed.xml"

[schedule]
every = "10m"

[install]
enabled = true
"#,
    }),
};

/// The finding; `least` as a person writes it.
pub(crate) fn finding(platform: &str, span: Span, least: &str) -> Finding {
    Finding::new(&CHECK, span, format!("`{platform}` is not asked more often than every {least}"))
        .label(format!("{least} is used"))
        .fix("say what happens", span, format!("\"{least}\""))
}
