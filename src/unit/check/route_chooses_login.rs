//! `route-chooses-login`: an env unit of a route names a variable that chooses who pays.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "route-chooses-login",
    severity: Severity::Error,
    summary: "an env unit of a route names a variable that chooses who pays",
    why: "Limits, budgets and the places of an account belong to an engine. A login that changes with the route would be \
          billed to another account than the one that is counted.",
    example: None,
};

/// The finding; `env` is where the route names the unit, `variable` where that names the variable.
pub(crate) fn finding(env: Span, variable: Span, name: &str, unit: &UnitName) -> Finding {
    Finding::new(&CHECK, env, format!("`{name}` of `{unit}` chooses the login of an engine"))
        .label("for the cases of this route")
        .also(variable, "named here")
        .help("make an engine unit of its own with this environment, and name that in the route")
}
