//! `never-matching-route`: a route asks for a connector that does not exist.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "never-matching-route",
    severity: Severity::Warning,
    summary: "a route asks for a connector that does not exist",
    why: "The route, or this part of it, never gets a case.",
    example: Some(Example {
        file: "a.route.toml",
        before: r#"[route]
engines = ["template"]

[match]
connector = ["nowhere"]
"#,
        after: r#"[route]
engines = ["template"]

[match]
connector = ["*"]
"#,
    }),
};

/// The finding; `known` are the names of all connector units.
pub(crate) fn finding<'a>(pattern: &str, span: Span, known: impl Iterator<Item = &'a str>) -> Finding {
    let finding =
        Finding::new(&CHECK, span, format!("no connector unit matches `{}`", words::shown(pattern)))
            .label("never matches");
    match words::closest(pattern, known) {
        Some(near) => finding.fix(format!("did you mean `{near}`?"), span, format!("\"{near}\"")),
        None => finding,
    }
}
