//! What the checks of one unit write into.

use crate::diag::{Finding, Severity, Span};

/// Findings of one unit, and the places in its files that must never be shown.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// In the order they were found.
    pub findings: Vec<Finding>,
    /// Literal secrets.
    pub secrets: Vec<Span>,
}

impl Report {
    /// Takes a finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Never show this place.
    pub fn hide(&mut self, span: Span) {
        self.secrets.push(span);
    }

    /// The first error, if there is one.
    pub fn first_error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.severity == Severity::Error)
    }
}
