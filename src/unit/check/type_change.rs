//! `type-change`: layers of a unit give one key values of different types.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::tree::Node;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "type-change",
    severity: Severity::Error,
    summary: "layers of a unit give one key values of different types",
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

/// The finding for a key: `wrong` has a type that the key does not take, `right` in another layer one that it takes.
pub(crate) fn key(path: &str, wrong: &Node, right: &Node) -> Finding {
    let (wrong_type, right_type) = (wrong.data.what(), right.data.what());
    Finding::new(
        &CHECK,
        wrong.span,
        format!("`{path}` is {right_type} in one layer and {wrong_type} in another"),
    )
    .label(format!("{wrong_type} here"))
    .also(right.span, format!("{right_type} here"))
    .help(format!("write {right_type}"))
}
