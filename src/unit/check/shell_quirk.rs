//! `shell-quirk`: a value written for a shell, which no shell will read.

use crate::diag::{Check, Example, Finding, Severity, Span};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "shell-quirk",
    severity: Severity::Warning,
    summary: "a value of an env unit that is written for a shell",
    why: "Values of env units are taken literally: quotes inside the text, `export`, a note behind `#`, `$NAME` and a carriage return become part of the value. The program then fails with a key that looks right on the screen.",
    example: Some(Example {
        file: "a.env.toml",
        before: r##"[set]
TEAM = "garden  # the small one"
"##,
        after: r#"[set]
TEAM = "garden" # the small one
"#,
    }),
};

/// What in a value was meant for a shell, if anything does.
pub(crate) fn quirk(value: &str) -> Option<&'static str> {
    let quoted = |mark: char| value.len() > 1 && value.starts_with(mark) && value.ends_with(mark);
    let variable = value.match_indices('$').any(|(at, _)| {
        let rest = value.get(at + 1..).unwrap_or_default();
        rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').count() >= 2
    });
    if value.contains('\r') {
        Some("holds a carriage return, as files from Windows do")
    } else if quoted('"') || quoted('\'') {
        Some("has quotes inside its quotes; they become part of the value")
    } else if value.trim_start().starts_with("export ") {
        Some("begins with `export`, which becomes part of the value")
    } else if value.contains(" #") || value.contains("\t#") {
        Some("has a note behind `#`, which becomes part of the value")
    } else if variable {
        Some("names a variable, and nothing fills it in")
    } else {
        None
    }
}

/// The finding; the value is not shown, it may be a key.
pub(crate) fn finding(path: &str, span: Span, quirk: &str) -> Finding {
    Finding::new(&CHECK, span, format!("`{path}` {quirk}"))
        .label("taken literally")
        .note("env units know no shell")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a careful reader reports of the lines that mean different things to a shell, to systemd and to programs.
    #[test]
    fn lines_of_env_files_that_became_values() {
        for (value, suspicious) in [
            ("alpha", false),
            ("bravo        # not a comment to systemd", true),
            ("charlie delta", false),
            ("\"charlie delta\"", true),
            ("\"echo\" # and a note", true),
            ("export EXPORTED=foxtrot", true),
            ("$HOME/golf", true),
            ("hotel india", false),
            ("", false),
            ("kilo=lima==", false),
            ("alpha\r", true),
            ("#ff8800", false),
            ("it's $5", false),
        ] {
            assert_eq!(quirk(value).is_some(), suspicious, "{value:?}");
        }
    }
}
