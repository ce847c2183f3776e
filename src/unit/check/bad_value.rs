//! `bad-value`: a value that the key cannot take.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "bad-value",
    severity: Severity::Error,
    summary: "a value that the key cannot take",
    why: "It has the right type, but does not mean anything for this key.",
    example: Some(Example {
        file: "a.connector.toml",
        before: r#"[connector]
platform = "feed"
outbound = "maybe"

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

/// The finding; `problem` says what is the matter and never repeats a value that may be secret.
pub(crate) fn finding(path: &str, span: Span, problem: &str) -> Finding {
    let verbs = [
        "is ", "are ", "has ", "holds ", "needs ", "takes ", "names ", "must ", "cannot ", "does ", "leads ",
        "knows ",
    ];
    let joint = if verbs.iter().any(|verb| problem.starts_with(verb)) { "" } else { ":" };
    Finding::new(&CHECK, span, format!("`{path}`{joint} {problem}"))
}

/// The finding for a word that is none of the choices.
pub(crate) fn choice(path: &str, span: Span, word: &str, choices: &[&'static str]) -> Finding {
    let shown = words::shown(word);
    let finding = Finding::new(&CHECK, span, format!("`{path}` cannot be `{shown}`"))
        .label("not one of its words")
        .note(format!("it takes {}", words::any_of(choices.iter().copied())));
    match words::closest(word, choices.iter().copied()) {
        Some(near) => finding.fix(format!("did you mean `{near}`?"), span, format!("\"{near}\"")),
        None => finding,
    }
}
