//! `bad-name`: a unit whose name cannot be one.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "bad-name",
    severity: Severity::Error,
    summary: "a unit whose name cannot be one",
    why: "Names stand in commands, in other units and in paths.",
    example: None,
};

/// The finding for a whole file.
pub(crate) fn finding(span: Span, file: &str) -> Finding {
    Finding::new(&CHECK, span, format!("`{}` is not a name for a unit", words::shown(file)))
        .note("a name has letters, digits, `-`, `_` and `.`, begins with a letter or digit, and has at most 128 of them")
        .note("`NAME@` is a template, and `NAME@INSTANCE` one of its instances")
}

/// The finding for a daemon unit under another name than the one there is.
pub(crate) fn daemon(span: Span) -> Finding {
    Finding::new(&CHECK, span, "there is one daemon unit, and it is named `workagent.daemon.toml`")
        .help("rename the file")
}
