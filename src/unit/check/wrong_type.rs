//! `wrong-type`: a value of another type than the key takes.

use crate::diag::{Check, Example, Finding, Severity};
use crate::unit::decode::expected;
use crate::unit::schema::ValueType;
use crate::unit::tree::{Data, Node};

/// The rule.
pub(crate) static CHECK: Check = Check {
    code: "wrong-type",
    severity: Severity::Error,
    summary: "a value of another type than the key takes",
    why: "The value cannot be understood; a silent default would hide it.",
    example: Some(Example {
        file: "a.route.toml",
        before: r#"[route]
engines = "template"
"#,
        after: r#"[route]
engines = ["template"]
"#,
    }),
};

/// The finding for a key.
pub(crate) fn finding(path: &str, value: &ValueType, node: &Node) -> Finding {
    let what = node.data.what();
    let finding = Finding::new(&CHECK, node.span, format!("`{path}` takes {}, not {what}", expected(value)))
        .label(format!("{what} here"));
    match (&node.data, value) {
        (Data::Text(text), ValueType::Integer { .. }) if text.parse::<i64>().is_ok() => {
            finding.fix("write it without quotes", node.span, text)
        }
        (Data::Text(text), ValueType::Bool) if matches!(text.as_str(), "true" | "false") => {
            finding.fix("write it without quotes", node.span, text)
        }
        (Data::Text(_), ValueType::List | ValueType::Units(_) | ValueType::Choices(_)) => {
            finding.help("put it in brackets: `[\"…\"]`")
        }
        (Data::Integer(Some(number)), ValueType::Duration { .. } | ValueType::Backlog) => {
            finding.fix("say the unit", node.span, format!("\"{number}s\""))
        }
        (Data::Bool(_) | Data::Integer(_), ValueType::Text | ValueType::Choice(_)) => {
            finding.help("put it in quotes")
        }
        (Data::Table(_), ValueType::Text | ValueType::Url | ValueType::Host | ValueType::Path) => {
            finding.note("only keys for secrets take `{ secret = … }` or `{ env = … }`")
        }
        _ => finding,
    }
}

/// The finding for a table.
pub(crate) fn table(name: &str, node: &Node) -> Finding {
    let what = node.data.what();
    let finding = Finding::new(&CHECK, node.span, format!("`{name}` is a table, not {what}"));
    match &node.data {
        Data::List(_) => {
            finding.label("a list here").help(format!("write `[{name}]` with single brackets, once"))
        }
        _ => finding.label(format!("{what} here")).help(format!("write `[{name}]` and the keys below it")),
    }
}

/// The finding for an element of a list.
pub(crate) fn element(path: &str, node: &Node) -> Finding {
    let what = node.data.what();
    Finding::new(&CHECK, node.span, format!("`{path}` is a list of texts, and one of them is {what}"))
        .label(format!("{what} here"))
}
