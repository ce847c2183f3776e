//! `conflicting-units`: two units that exclude each other are both on.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "conflicting-units",
    severity: Severity::Error,
    summary: "two units that exclude each other are both on",
    why: "The program would have to choose one of them, and nobody told it which.",
    example: None,
};

/// The finding for `conflicts`.
pub(crate) fn finding(span: Span, other: &UnitName) -> Finding {
    Finding::new(&CHECK, span, format!("`{other}` is enabled too"))
        .label("both cannot be on")
        .help("set `[install] enabled = false` in one of them")
}

/// The finding for a second unit of one runtime.
pub(crate) fn same_runtime(word: &str, span: Span, first: Span, other: &UnitName) -> Finding {
    Finding::new(&CHECK, span, format!("the runtime `{word}` already has the unit `{other}`"))
        .label("again here")
        .also(first, "first here")
        .help("keep one of them; a drop-in can change its keys")
}

/// The finding for a timer that is named like a connector.
pub(crate) fn same_name(span: Span, connector: Span, other: &UnitName) -> Finding {
    Finding::new(&CHECK, span, format!("the unit `{other}` has this name too"))
        .also(connector, "the connector")
        .note("cases are known by the name of the connector or timer they come from")
        .help("give the timer another name")
}
