//! `missing-key`: a required key is not set.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::decode::expected;
use crate::unit::schema::KeySpec;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "missing-key",
    severity: Severity::Error,
    summary: "a required key is not set",
    why: "The unit cannot work without it, and no default would be right.",
    example: Some(Example {
        file: "a.route.toml",
        before: r#"[route]
prompt = "Be short"
"#,
        after: r#"[route]
prompt = "Be short"
engines = ["template"]
"#,
    }),
};

/// The finding. `span` is the header of the table, or what made the table necessary.
pub(crate) fn finding(table: &str, spec: &KeySpec, span: Span, why: &str) -> Finding {
    Finding::new(&CHECK, span, format!("missing key `{table}.{}`", spec.name))
        .label(why)
        .note(format!("`{}`: {}", spec.name, spec.doc))
        .help(format!("add `{} = …` to `[{table}]`, {}", spec.name, expected(&spec.value)))
}
