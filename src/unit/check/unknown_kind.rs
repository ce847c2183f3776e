//! `unknown-kind`: a TOML file whose name does not say which kind of unit it is.

use crate::diag::{Check, Finding, Severity, Span};
use crate::unit::plan::Kind;
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unknown-kind",
    severity: Severity::Warning,
    summary: "a TOML file whose name does not say which kind of unit it is",
    why: "The kind comes from the file name; this file is not read at all.",
    example: None,
};

/// The finding for a whole file; `word` stands before `.toml`.
pub(crate) fn finding(span: Span, word: &str) -> Finding {
    let kinds = Kind::ALL.map(Kind::word);
    let title = if word.is_empty() {
        "the file name does not say which kind of unit this is".to_owned()
    } else {
        format!("there is no kind of unit `{}`", words::shown(word))
    };
    let finding = Finding::new(&CHECK, span, title).note("the file is not read");
    match words::closest(word, kinds) {
        Some(near) => finding.help(format!("name it `NAME.{near}.toml`")),
        None => finding.help(format!("name it `NAME.KIND.toml`; kinds are {}", words::all_of(kinds))),
    }
}
