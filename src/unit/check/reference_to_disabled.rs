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

/// What becomes of the unit that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is off too: nothing else could stand in.
    Off,
    /// A route that takes its next engine, because its `on` names `config`.
    NextEngine,
    /// A route whose cases wait: another engine is never taken unasked.
    CasesWait,
}

/// The finding.
pub(crate) fn finding(path: &str, span: Span, target: &OffTarget, outcome: Outcome) -> Finding {
    let name = &target.name;
    let state = target.state.word();
    let mut finding =
        Finding::new(&CHECK, span, format!("`{name}` is {state}")).label(format!("named by `{path}`"));
    if let Some(place) = target.place {
        finding = finding.also(place, format!("{state} here"));
    }
    let help = format!("enable `{name}`, or take the name out");
    match outcome {
        Outcome::Off => return finding.help(help),
        Outcome::NextEngine => {
            finding = finding.note("the next engine is used, because `route.on` names `config`");
        }
        Outcome::CasesWait => {
            finding = finding
                .note("cases that come to it wait: another engine is taken only where `route.on` names `config`")
                .help(help);
        }
    }
    finding.severity = Severity::Warning;
    finding
}
