//! `type-change`: a drop-in turns a table into a value or the other way round.

use crate::diag::{Check, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "type-change",
    severity: Severity::Error,
    summary: "a drop-in turns a table into a value or the other way round",
    why: "The layers of a unit cannot be merged, so nobody can say what the unit means.",
    example: None,
};

/// `table` is where the table stands, `value` where the other layer gives something else.
pub(crate) fn finding(name: &str, table: Span, value: Span, what: &str) -> Finding {
    Finding::new(&CHECK, value, format!("`{name}` is a table in one layer and {what} in another"))
        .label(format!("{what} here"))
        .also(table, "a table here")
        .help(format!("write `[{name}]` and the keys below it"))
}
