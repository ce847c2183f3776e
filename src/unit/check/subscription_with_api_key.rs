//! `subscription-with-api-key`: an engine that runs on a subscription is given an API key.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "subscription-with-api-key",
    severity: Severity::Warning,
    summary: "an engine that runs on a subscription is given an API key",
    why: "Programs prefer a key that they find, and the API account pays. So the key never reaches the program: what the \
          env unit says has no effect there.",
    example: None,
};

/// The finding; `auth` is where the engine says what it runs on, `variable` where the env unit names the key.
pub(crate) fn finding(auth: Span, variable: Span, name: &str, env: &UnitName) -> Finding {
    Finding::new(&CHECK, auth, format!("`{name}` of `{env}` is taken away from this engine"))
        .label("runs on a subscription")
        .also(variable, "named here")
        .help("take the env unit out of the engine, or write `auth = \"api-key\"`")
}
