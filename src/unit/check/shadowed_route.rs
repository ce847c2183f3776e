//! `shadowed-route`: a route that never gets a case, because an earlier one takes them all.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "shadowed-route",
    severity: Severity::Warning,
    summary: "a route that never gets a case, because an earlier one takes them all",
    why: "The first match wins: higher `priority` first, then by name.",
    example: None,
};

/// The finding; `by` is the earlier route.
pub(crate) fn finding(span: Span, by: &UnitName, by_span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("this route never gets a case: `{by}` takes them all"))
        .label("comes later")
        .also(by_span, "matches all that this one matches, and comes first")
        .note("the first match wins: higher `priority` first, then by name")
        .help("give this route a higher `priority`, or narrow the other one")
}
