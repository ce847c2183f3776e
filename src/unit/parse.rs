//! Text → tree, by toml's recovering parser: one slip costs one finding, not the file. toml's own error text is
//! never shown: it repeats the source line, and a pasted token with it.

use toml::de::{DeTable, DeValue};

use super::check::{duplicate_key, syntax_error};
use super::tree::{Data, Entry, Node, Table};
use crate::diag::{Finding, SourceId, Span};

/// A file's tree (as far as it could be read) and what was wrong with its syntax.
pub(crate) fn parse(source: SourceId, text: &str) -> (Table, Vec<Finding>) {
    let (root, errors) = DeTable::parse_recoverable(text);
    let root = table(source, root.into_inner());
    let mut findings: Vec<Finding> = Vec::new();
    for error in errors {
        let at = error.span().unwrap_or(text.len()..text.len());
        let span = Span::new(source, &at);
        if error.message() == "duplicate key" {
            findings.push(duplicate_key::finding(&root, text, span));
        } else if findings.last().is_none_or(|last| !same_line(text, last.span, span)) {
            // The parser stumbles over the rest of a broken line again and again.
            findings.push(syntax_error::finding(error.message(), text, span));
        }
    }
    (root, findings)
}

/// A value of its own, as defaults are written.
pub(crate) fn parse_value(source: SourceId, text: &str) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    let span = Span::new(source, &value.span());
    Some(Node { span, data: data(source, value.into_inner()) })
}

/// Both places are on one line.
pub(crate) fn same_line(text: &str, a: Span, b: Span) -> bool {
    let (low, high) = (a.start.min(b.start) as usize, a.start.max(b.start) as usize);
    text.get(low..high).is_some_and(|between| !between.contains('\n'))
}

fn table(source: SourceId, table: DeTable<'_>) -> Table {
    let entries = table.into_iter().map(|(key, value)| {
        let at = Span::new(source, &key.span());
        let span = Span::new(source, &value.span());
        let node = Node { span, data: data(source, value.into_inner()) };
        (key.into_inner().into_owned(), Entry::new(at, node))
    });
    Table(entries.collect())
}

fn data(source: SourceId, value: DeValue<'_>) -> Data {
    match value {
        DeValue::String(text) => Data::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            Data::Integer(i64::from_str_radix(&digits, number.radix()).ok())
        }
        DeValue::Float(number) => Data::Float(number.as_str().replace('_', "")),
        DeValue::Boolean(flag) => Data::Bool(flag),
        DeValue::Datetime(_) => Data::Datetime,
        DeValue::Array(items) => {
            let node = |item: toml::Spanned<DeValue<'_>>| {
                let span = Span::new(source, &item.span());
                Node { span, data: data(source, item.into_inner()) }
            };
            Data::List(items.into_iter().map(node).collect())
        }
        DeValue::Table(inner) => Data::Table(table(source, inner)),
    }
}
