//! `duplicate-key`: a key or table stands twice.

use crate::diag::{Check, Example, Finding, Severity, Span};
use crate::unit::tree::{Data, Table};
use crate::unit::words;

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "duplicate-key",
    severity: Severity::Error,
    summary: "a key or table stands twice",
    why: "TOML allows each key once; which of the two was meant cannot be known.",
    example: Some(Example {
        file: "a.env.toml",
        before: r#"[unset]
names = ["A"]
names = ["B"]
"#,
        after: r#"[unset]
names = ["A", "B"]
"#,
    }),
};

/// The finding for a second key at `span`.
pub(crate) fn finding(root: &Table, text: &str, span: Span) -> Finding {
    let key = words::shown(text.get(span.range()).unwrap_or_default().trim_matches(['"', '\'']));
    let finding = Finding::new(&CHECK, span, format!("`{key}` stands twice")).label("again here");
    match first(root, text, &key, span) {
        Some(first) => finding.also(first, "first here"),
        None => finding,
    }
}

/// The parser does not tell where the first one was: it is the one of that name in the table around `span`.
fn first(root: &Table, text: &str, key: &str, span: Span) -> Option<Span> {
    let before = text.get(..span.range().start)?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let around = if line.trim_start().starts_with('[') { root } else { last_table(root, span) };
    around.get(key).map(|entry| entry.key).filter(|first| first.start < span.start)
}

fn last_table(root: &Table, span: Span) -> &Table {
    let tables = root.0.values().filter_map(|entry| match &entry.node.data {
        Data::Table(table) if entry.node.span.start < span.start => Some((entry.node.span.start, table)),
        _ => None,
    });
    tables.max_by_key(|(start, _)| *start).map_or(root, |(_, table)| table)
}
