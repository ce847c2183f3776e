//! `unknown-runtime`: `runtime.runtime` names no runtime of this program.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unknown-runtime",
    severity: Severity::Error,
    summary: "`runtime.runtime` names no runtime of this program",
    why: "Nothing could be built from the unit.",
    example: Some(Example {
        file: "a.runtime.toml",
        before: r#"[runtime]
runtime = "workers"
"#,
        after: r#"[runtime]
runtime = "worker"
"#,
    }),
};

/// The finding; `known` are all words there are.
pub(crate) fn finding(name: &str, span: Span, known: &[&'static str]) -> Finding {
    let finding = Finding::new(&CHECK, span, format!("there is no runtime `{}`", words::shown(name)))
        .note(format!("this program has {}", words::all_of(known.iter().copied())));
    match words::closest(name, known.iter().copied()) {
        Some(near) => finding.fix(format!("did you mean `{near}`?"), span, format!("\"{near}\"")),
        None => finding,
    }
}
