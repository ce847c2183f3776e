//! `ignored-file`: names in a unit directory that are no unit files.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "ignored-file",
    severity: Severity::Info,
    summary: "names in a unit directory that are no unit files",
    why: "Editors leave copies; only names that end in a unit's suffix and begin with neither `.` nor `#` are read.",
    example: None,
};

/// Names told in the notes.
const SHOWN_MAX: usize = 10;

/// The finding for a directory.
pub(crate) fn finding(dir: Span, names: &[(String, &'static str)]) -> Finding {
    let title = format!("ignored {} that are no unit files", words::count(names.len(), "name", "names"));
    let title = if names.len() == 1 {
        title.replace("that are no unit files", "that is no unit file")
    } else {
        title
    };
    let mut finding = Finding::new(&CHECK, dir, title);
    for (name, why) in names.iter().take(SHOWN_MAX) {
        finding = finding.note(format!("`{}`: {why}", words::shown(name)));
    }
    if names.len() > SHOWN_MAX {
        finding = finding.note(format!("and {} more", names.len() - SHOWN_MAX));
    }
    finding
}
