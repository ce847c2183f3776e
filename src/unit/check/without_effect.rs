//! `without-effect`: a layer takes away what is not there.

use crate::diag::{Check, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "without-effect",
    severity: Severity::Warning,
    summary: "a layer takes away what is not there",
    why: "The layers below have changed, or a name is misspelt: either way this says nothing.",
    example: None,
};

/// `unset` of a key that no lower layer sets.
pub(crate) fn unset(path: &str, span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("`{path}` is not set in any layer below"))
        .help("take it out of `unset`")
}

/// `remove` of something that is not in the list.
pub(crate) fn remove(path: &str, span: Span) -> Finding {
    Finding::new(&CHECK, span, format!("`{path}` does not have this element")).help("take it out of `remove`")
}
