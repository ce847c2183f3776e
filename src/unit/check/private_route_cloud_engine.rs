//! `private-route-cloud-engine`: a private route names an engine that sends text away.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "private-route-cloud-engine",
    severity: Severity::Error,
    summary: "a private route names an engine that sends text away",
    why: "`private = true` promises that the text of a case stays on this machine.",
    example: None,
};

/// The finding; `private` is where the route says so, `engine` where the engine is chosen.
pub(crate) fn finding(span: Span, private: Option<Span>, target: &UnitName, engine: Option<Span>) -> Finding {
    let mut finding = Finding::new(&CHECK, span, format!("`{target}` sends text to another machine"))
        .label("but the route is private");
    if let Some(place) = private {
        finding = finding.also(place, "promised here");
    }
    if let Some(place) = engine {
        finding = finding.also(place, "this engine, with its settings, is not local");
    }
    finding.help("name a local engine, or take `private` out")
}
