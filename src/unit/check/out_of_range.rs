//! `out-of-range`: a number, size or duration outside its bounds.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "out-of-range",
    severity: Severity::Error,
    summary: "a number, size or duration outside its bounds",
    why: "The bounds guard the daemon and the far side; a value outside them is nearly always a slip of the unit.",
    example: Some(Example {
        file: "a.engine.toml",
        before: r#"[engine]
engine = "template"
concurrency = 0
"#,
        after: r#"[engine]
engine = "template"
concurrency = 2
"#,
    }),
};

/// The finding; `least` and `most` as a person writes them.
pub(crate) fn finding(path: &str, span: Span, least: &str, most: &str, too_small: bool) -> Finding {
    let (word, bound) = if too_small { ("small", least) } else { ("large", most) };
    Finding::new(&CHECK, span, format!("`{path}` is too {word}"))
        .label(if too_small { format!("at least {bound}") } else { format!("at most {bound}") })
        .note(format!("it may be from {least} to {most}"))
}
