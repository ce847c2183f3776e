//! `placeholder`: a `${NAME}` that nobody fills in.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "placeholder",
    severity: Severity::Error,
    summary: "a `${NAME}` that nobody fills in",
    why: "Units have no text interpolation. The literal text would go out as the key, the far side would answer 401, and the owner would hunt a network fault.",
    example: Some(Example {
        file: "a.env.toml",
        before: r#"[set]
LANG_KEY = "${MY_LANG}"
"#,
        after: r#"[set]
LANG_KEY = { env = "MY_LANG" }
"#,
    }),
};

/// The name in the first `${NAME}` of a text.
pub(crate) fn name(text: &str) -> Option<&str> {
    text.match_indices("${").find_map(|(at, _)| {
        let rest = text.get(at + 2..)?;
        let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = rest.get(..len)?;
        let closed = matches!(rest.get(len..).and_then(|tail| tail.chars().next()), Some('}' | ':' | '-'));
        (closed && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).then_some(name)
    })
}

/// The finding. `whole`: the value is nothing but the placeholder.
pub(crate) fn finding(path: &str, span: Span, name: &str, whole: bool, takes_reference: bool) -> Finding {
    let finding = Finding::new(&CHECK, span, format!("`{path}` names `${{{name}}}`, which nobody fills in"))
        .label("taken as it stands")
        .note("units have no text interpolation");
    match (takes_reference, whole) {
        (true, true) => {
            finding.fix("take it from the daemon's environment", span, format!("{{ env = \"{name}\" }}"))
        }
        (true, false) => finding.help(format!("put the whole value into the variable and write `{{ env = \"{name}\" }}`")),
        (false, _) => finding.help(format!(
            "write the value out; `{{ env = \"{name}\" }}` works in keys for secrets and in `[set]` of env units"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name() {
        assert_eq!(name("${A_B}"), Some("A_B"));
        assert_eq!(name("Bearer ${KEY:-x}"), Some("KEY"));
        assert_eq!(name("$HOME, {{ x }}, ${}, ${1}, ${a b}"), None);
    }
}
