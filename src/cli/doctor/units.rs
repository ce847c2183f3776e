//! Are the unit files well?

use super::facts::Facts;
use super::verdict::{Level, Verdict};
use crate::cli::look::count;

pub fn check(facts: &Facts) -> Verdict {
    let looked_at = count(facts.units, "unit");
    let mut wrong = Vec::new();
    if facts.findings.errors > 0 {
        wrong.push(format!("{} in unit files", count(facts.findings.errors, "error")));
    }
    let level = if wrong.is_empty() { Level::Warning } else { Level::Problem };
    if facts.findings.warnings > 0 {
        wrong.push(format!("{} in unit files", count(facts.findings.warnings, "warning")));
    }
    if let Ok(Some(daemon)) = &facts.daemon
        && let Some(status) = &daemon.status
        && status.findings > 0
        && facts.findings.errors == 0
    {
        wrong.push(
            "the daemon sees errors that are not there for this shell: its folders are others".to_owned(),
        );
    }
    Verdict::of(level, looked_at, wrong, "workagent validate")
}
