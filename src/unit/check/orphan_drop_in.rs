//! `orphan-drop-in`: a drop-in for a unit that does not exist.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "orphan-drop-in",
    severity: Severity::Warning,
    summary: "a drop-in for a unit that does not exist",
    why: "It overrides nothing.",
    example: None,
};

/// The finding for a whole drop-in file.
pub(crate) fn finding<'a>(
    span: Span,
    target: &UnitName,
    known: impl Iterator<Item = &'a UnitName>,
) -> Finding {
    let names: Vec<String> = known.map(ToString::to_string).collect();
    let named = target.to_string();
    let finding = match target.template() {
        Some(template) => {
            let title = format!("there is neither a unit `{named}` nor a template `{template}`");
            Finding::new(&CHECK, span, title)
        }
        None => Finding::new(&CHECK, span, format!("there is no unit `{named}` to override")),
    };
    match words::closest(&named, names.iter().map(String::as_str)) {
        Some(near) => finding.help(format!("did you mean the directory `{near}.d`?")),
        None => finding,
    }
}
