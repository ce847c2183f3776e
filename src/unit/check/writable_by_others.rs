//! `writable-by-others`: somebody else could change a unit.

use crate::diag::{Check, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "writable-by-others",
    severity: Severity::Warning,
    summary: "others than its owner can write a unit file or its directory",
    why: "Who can change a unit can run programs as you and send in your name.",
    example: None,
};

/// The finding for a file or a directory; `who`: "everybody", "its group".
pub(crate) fn finding(span: Span, who: &str, directory: bool) -> Finding {
    let (what, mode) = match (directory, who) {
        (true, "everybody") => ("put unit files into this directory", "o-w"),
        (true, _) => ("put unit files into this directory", "g-w"),
        (false, "everybody") => ("write this unit file", "go-w"),
        (false, _) => ("write this unit file", "g-w"),
    };
    Finding::new(&CHECK, span, format!("{who} can {what}")).help(format!("run `chmod {mode}` on it"))
}
