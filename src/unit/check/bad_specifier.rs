//! `bad-specifier`: a `%` with a letter that stands for nothing here.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "bad-specifier",
    severity: Severity::Error,
    summary: "a `%` with a letter that stands for nothing here",
    why: "Left as it stands it would become part of a name or path that nobody meant.",
    example: Some(Example {
        file: "a.engine.toml",
        before: r#"[unit]
description = "Half of the work, 50 % of it"

[engine]
engine = "template"
"#,
        after: r#"[unit]
description = "Half of the work, 50 %% of it"

[engine]
engine = "template"
"#,
    }),
};

/// The finding for a value.
pub(crate) fn finding(path: &str, span: Span, why: &str) -> Finding {
    Finding::new(&CHECK, span, format!("`{path}`: {why}"))
}
