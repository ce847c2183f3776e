//! `literal-secret`: a secret stands in the file itself.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::plan::UnitName;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "literal-secret",
    severity: Severity::Error,
    summary: "a secret stands in the file itself",
    why: "Unit files are copied, shared, kept in version control and printed; a secret in one is a secret no more. Units name secrets, the secret store holds them.",
    example: Some(Example {
        file: "a.env.toml",
        before: r#"[set]
GITHUB_TOKEN = "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
"#,
        after: r#"[set]
GITHUB_TOKEN = { secret = "github/work" }
"#,
    }),
};

/// The finding for a key that takes only references.
pub(crate) fn in_secret_key(path: &str, span: Span, unit: &UnitName) -> Finding {
    let name = &unit.name;
    Finding::new(&CHECK, span, format!("`{path}` holds a secret itself"))
        .label("not shown")
        .note(format!(
            "store it with `workagent secret set {name}`, and change it at its source if this file was shared"
        ))
        .fix("name the secret instead", span, format!("{{ secret = \"{name}\" }}"))
}

/// The finding for something that looks like a secret in any other value.
pub(crate) fn looks_like(path: &str, span: Span, what: &str, takes_reference: bool) -> Finding {
    let finding = Finding::new(&CHECK, span, format!("`{path}` holds what looks like {what}"))
        .label("not shown")
        .note("change it at its source if this file was shared");
    if takes_reference {
        finding.help("store it with `workagent secret set NAME`, and write `{ secret = \"NAME\" }` here")
    } else {
        finding.help("take it out of the file; keys that take secrets accept `{ secret = \"NAME\" }`")
    }
}
