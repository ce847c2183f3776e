//! `unknown-channel`: `channel.channel` names no channel of this program.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unknown-channel",
    severity: Severity::Error,
    summary: "`channel.channel` names no channel of this program",
    why: "Nothing could be built from the unit.",
    example: Some(Example {
        file: "a.channel.toml",
        before: r#"[channel]
channel = "comand"
[install]
enabled = true
"#,
        after: r#"[channel]
channel = "command"
[install]
enabled = true
"#,
    }),
};

/// The finding; `known` are all words there are.
pub(crate) fn finding(name: &str, span: Span, known: &[&'static str]) -> Finding {
    let finding = Finding::new(&CHECK, span, format!("there is no channel `{}`", words::shown(name)))
        .note(format!("this program has {}", words::all_of(known.iter().copied())));
    match words::closest(name, known.iter().copied()) {
        Some(near) => finding.fix(format!("did you mean `{near}`?"), span, format!("\"{near}\"")),
        None => finding,
    }
}
