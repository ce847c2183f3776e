//! `unknown-table`: a table that means nothing here.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::layout::Layout;
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "unknown-table",
    severity: Severity::Error,
    summary: "a table that means nothing here",
    why: "All of its keys would do nothing.",
    example: Some(Example {
        file: "a.route.toml",
        before: r#"[rout]
engines = ["template"]
"#,
        after: r#"[route]
engines = ["template"]
"#,
    }),
};

/// The table that was most likely meant.
pub(crate) fn guess(table: &str, layout: &Layout) -> Option<&'static str> {
    let names: Vec<&'static str> = layout.tables().map(|spec| spec.name).collect();
    words::closest(table, names)
}

/// The finding. `header` is the word itself.
pub(crate) fn finding(table: &str, header: Span, layout: &Layout) -> Finding {
    let shown = words::shown(table);
    let finding = Finding::new(&CHECK, header, format!("unknown table `[{shown}]`"))
        .label(format!("not a table of {} units", layout.kind.word()));
    if let Some(owner) = layout.foreign(table) {
        return finding
            .note(format!("`[{shown}]` belongs to `{}`, but this unit says `{}`", owner.of, owner.this));
    }
    match guess(table, layout) {
        Some(name) => finding.fix(format!("did you mean `[{name}]`?"), header, name),
        None => finding.note(format!(
            "{} units take {}",
            layout.kind.word(),
            words::all_of(layout.tables().map(|spec| spec.name).collect::<Vec<_>>())
        )),
    }
}
