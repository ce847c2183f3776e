//! `contradictory-enablement`: a unit is enabled above the layer that masks it.

use crate::diag::{Check, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "contradictory-enablement",
    severity: Severity::Warning,
    summary: "a unit is enabled above the layer that masks it",
    why: "Whoever enabled it believes that it runs, but masking wins over everything.",
    example: None,
};

/// The finding for a unit.
pub(crate) fn finding(enabled: Span, masked: Span) -> Finding {
    Finding::new(&CHECK, enabled, "enabled here, but masked in a lower layer: it stays off")
        .also(masked, "masked here")
        .help("take the mask away, or this line")
}
