//! `plain-http`: an engine is asked over an unencrypted connection.

use crate::diag::{Check, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "plain-http",
    severity: Severity::Warning,
    summary: "an engine on another machine is asked over plain http",
    why: "Whoever is on the way can read every case that is given to it, and write the replies.",
    example: None,
};

/// The finding, where the URL stands.
pub(crate) fn finding(path: &str, span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("`{path}` is plain http to another machine"))
        .label("can be read on the way")
        .help("use https, or reach it through a tunnel that ends on this machine")
}
