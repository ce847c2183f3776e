//! `auto-without-bounds`: whatever comes is answered without a person.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "auto-without-bounds",
    severity: Severity::Info,
    summary: "a connector sends by itself, whatever comes and whoever wrote it",
    why: "Texts of strangers decide what an engine says, and here nobody looks at it before it goes. An `[auto]` table bounds \
          what goes by itself to kinds of items and to recipients, shows one case in so many to you, and wants a record of \
          your approvals first.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[connector]
platform = "imap"
outbound = "auto"

[imap]
host = "imap.example.org"
user = "me@example.org"
password = { secret = "mail/me" }

[install]
enabled = true
"#,
        after: r#"[connector]
platform = "imap"
outbound = "auto"

[auto]
recipients = ["*@example.org"]
show_one_in = 5
after = 20

[imap]
host = "imap.example.org"
user = "me@example.org"
password = { secret = "mail/me" }

[install]
enabled = true
"#,
    }),
};

/// The finding, where `outbound` stands.
pub(crate) fn finding(span: Span) -> Finding {
    Finding::new(&CHECK, span, "everything of this connector is sent without a person")
        .label("no kinds and no recipients are named")
        .help("bound it with an `[auto]` table: kinds, recipients, show_one_in, after")
}
