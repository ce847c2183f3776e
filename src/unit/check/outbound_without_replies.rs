//! `outbound-without-replies`: a connector is to send, but its platform cannot.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "outbound-without-replies",
    severity: Severity::Warning,
    summary: "a connector is to send, but its platform cannot",
    why: "Approved replies would have nowhere to go.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[connector]
platform = "feed"
outbound = "reviewed"

[feed]
url = "https://example.org/feed.xml"

[install]
enabled = true
"#,
        after: r#"[connector]
platform = "feed"
outbound = "never"

[feed]
url = "https://example.org/feed.xml"

[install]
enabled = true
"#,
    }),
};

/// The finding.
pub(crate) fn finding(platform: &str, span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("`{platform}` cannot send replies")).label("`never` is used").fix(
        "say what happens",
        span,
        "\"never\"",
    )
}
