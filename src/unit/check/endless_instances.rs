//! `endless-instances`: naming one instance of a template leads to ever more of them.

use crate::diag::{Check, Finding, Severity, Span};
use crate::model::limits;
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "endless-instances",
    severity: Severity::Error,
    summary: "instances of templates that name ever more instances",
    why: "A template that names longer instances of itself, or of another one that names it back, would fill the memory. \
          So many instances at most come to be by being named; write a file for each one that is meant.",
    example: None,
};

/// The finding, at the file of the template.
pub(crate) fn finding(template: &UnitName, file: Span) -> Finding {
    let most = limits::INSTANCES_NAMED_MAX;
    let title = format!("`{template}` and others name ever more instances: no more than {most} are made");
    Finding::new(&CHECK, file, title).help("name instances without `%i` in their names, or give each a file")
}
