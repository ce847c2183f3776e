//! `names-differ-in-case`: two units whose names differ only in capital letters.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "names-differ-in-case",
    severity: Severity::Warning,
    summary: "two units whose names differ only in capital letters",
    why: "On a disk that does not tell them apart (macOS, a stick) only one of them is left; and people mix them up.",
    example: None,
};

/// The finding, at the file of one unit.
pub(crate) fn finding(name: &UnitName, file: Span, other: &UnitName, other_file: Span) -> Finding {
    Finding::new(&CHECK, file, format!("`{name}` and `{other}` differ only in capital letters"))
        .also(other_file, format!("`{other}` is here"))
        .help("rename one of them")
}
