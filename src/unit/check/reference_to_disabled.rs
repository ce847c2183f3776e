//! `reference-to-disabled`: a unit cannot do without one that is switched off.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::{OffState, UnitName};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "reference-to-disabled",
    severity: Severity::Error,
    summary: "a unit cannot do without one that is switched off",
    why: "It would wait for something that never comes.",
    example: None,
};

/// Where the target is switched off.
pub(crate) struct OffTarget {
    /// The unit.
    pub name: UnitName,
    /// How.
    pub state: OffState,
    /// Where that is said.
    pub place: Option<Span>,
}

/// The finding. `alone`: nothing else could stand in, so the unit that names it is off too.
pub(crate) fn finding(path: &str, span: Span, target: &OffTarget, alone: bool) -> Finding {
    let name = &target.name;
    let state = target.state.word();
    let mut finding =
        Finding::new(&CHECK, span, format!("`{name}` is {state}")).label(format!("named by `{path}`"));
    if let Some(place) = target.place {
        finding = finding.also(place, format!("{state} here"));
    }
    if alone {
        return finding.help(format!("enable `{name}`, or take the name out"));
    }
    finding.severity = Severity::Warning;
    finding.note("it is passed over; the other names are used")
}
