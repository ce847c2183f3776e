//! Errors in unit files, in the log: each is said once, and so is that all are mended.

use std::collections::BTreeSet;

use crate::diag::Severity;
use crate::unit::compile::Compiled;

/// What was said and still stands.
#[derive(Debug, Default)]
pub struct FindingLog(BTreeSet<String>);

impl FindingLog {
    /// Says what is new, one line for each error; `workagent validate` shows them in full.
    pub fn say(&mut self, compiled: &Compiled) {
        let now = errors(compiled);
        for line in now.difference(&self.0) {
            tracing::error!("{line}");
        }
        if now.is_empty() && !self.0.is_empty() {
            tracing::info!("unit files have no errors any more");
        }
        self.0 = now;
    }
}

fn errors(compiled: &Compiled) -> BTreeSet<String> {
    let errors = compiled.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let line = |finding: &crate::diag::Finding| {
        let (line, column) = compiled.sources.position(finding.span);
        let path = compiled.sources.path(finding.span.source).display();
        format!("{path}:{line}:{column}: {}: {}", finding.check.code, finding.title)
    };
    errors.map(line).collect()
}
