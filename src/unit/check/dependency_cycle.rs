//! `dependency-cycle`: units that wait for each other.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::plan::{EdgeKind, UnitName};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "dependency-cycle",
    severity: Severity::Error,
    summary: "units that wait for each other",
    why: "None of them could ever start. A cycle is never broken in silence: all of its units are set aside.",
    example: Some(Example {
        file: "a.env.toml",
        before: r#"[unit]
after = ["a.env"]
"#,
        after: r#"[unit]
description = "On its own"
"#,
    }),
};

/// One step of a cycle: `from` waits for `to`.
pub(crate) struct Step {
    /// Who waits.
    pub from: UnitName,
    /// For whom.
    pub to: UnitName,
    /// By which kind of edge.
    pub kind: EdgeKind,
    /// Where it is said.
    pub span: Span,
}

/// Steps shown; a longer cycle is told in words.
const STEPS_SHOWN_MAX: usize = 12;

/// The path for people: "a.connector -> b.connector -> a.connector".
pub(crate) fn path(steps: &[Step]) -> String {
    let mut names: Vec<String> = steps.iter().map(|step| step.from.to_string()).collect();
    names.extend(steps.first().map(|step| step.from.to_string()));
    if names.len() > STEPS_SHOWN_MAX {
        let left = names.len() - STEPS_SHOWN_MAX;
        names.splice(STEPS_SHOWN_MAX - 1..names.len() - 1, [format!("… {left} more …")]);
    }
    names.join(" -> ")
}

/// The finding; the first step is its place.
pub(crate) fn finding(steps: &[Step]) -> Option<Finding> {
    let (first, rest) = steps.split_first()?;
    let mut finding = Finding::new(&CHECK, first.span, format!("units wait for each other: {}", path(steps)))
        .label(words(first));
    for step in rest.iter().take(STEPS_SHOWN_MAX) {
        finding = finding.also(step.span, words(step));
    }
    Some(finding.help("take one of these out"))
}

fn words(step: &Step) -> String {
    let Step { from, to, .. } = step;
    match step.kind {
        EdgeKind::Wants => format!("`{from}` wants `{to}`"),
        EdgeKind::Requires => format!("`{from}` requires `{to}`"),
        EdgeKind::Uses => format!("`{from}` uses `{to}`"),
        EdgeKind::Before => format!("`{from}` starts after `{to}`: `before` is said there"),
        EdgeKind::After
        | EdgeKind::PartOf
        | EdgeKind::Conflicts
        | EdgeKind::OnFailure
        | EdgeKind::WantedBy => format!("`{from}` starts after `{to}`"),
    }
}
