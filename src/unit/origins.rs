//! Where each key of a unit comes from.

use std::sync::Arc;

use super::canon;
use super::compile::KeyOrigin;
use super::layout::Layout;
use super::registry::Registry;
use super::schema::{KeySpec, ValueType};
use super::typed::{KeySpans, Typed};
use super::value::{Setting, Value};
use crate::diag::Span;

/// Every key of a unit that has a value, in the order of tables and keys. Keys whose value has errors are not among
/// them: it does not count, and it may be a secret.
pub(crate) fn of(unit: &Typed, registry: &Registry) -> Arc<[KeyOrigin]> {
    let chosen = Layout::selector(unit.name.kind).and_then(|(table, key)| unit.settings(table).text(key));
    let layout = Layout::new(unit.name.kind, chosen, registry);
    let mut origins = Vec::new();
    for table in layout.tables() {
        let settings = unit.settings(table.name);
        for (name, setting) in settings.map(table.name).into_iter().flatten().filter(|_| table.free) {
            origins.push(origin(table.name, name, variable(setting), unit.free_spans(name), None));
        }
        for key in table.keys {
            if let Some(value) = settings.get(key.name) {
                let spans = unit.spans(table.name, key.name);
                let unset = unit.unset(table.name, key.name);
                origins.push(origin(table.name, key.name, one_line(key, value), spans, unset));
            }
        }
    }
    origins.into()
}

fn origin(
    table: &str,
    key: &str,
    value: String,
    spans: Option<&KeySpans>,
    unset: Option<&KeySpans>,
) -> KeyOrigin {
    let place = spans.or(unset);
    let span: Option<Span> = place.map(|spans| spans.value);
    let shadows = place.map(|spans| spans.shadows.clone()).unwrap_or_default();
    KeyOrigin { table: table.to_owned(), key: key.to_owned(), value, span, shadows }
}

fn variable(setting: &Setting) -> String {
    let spec = KeySpec::new("", ValueType::Secret, "");
    match setting {
        Setting::Text(text) => quoted(text),
        Setting::Secret(reference) => canon::toml(&spec, &Value::Secret(reference.clone())).to_string(),
    }
}

/// A value as TOML without line breaks.
fn one_line(spec: &KeySpec, value: &Value) -> String {
    let text = canon::toml(spec, value).to_string();
    match value {
        Value::Text(text_value) if text.contains('\n') => quoted(text_value),
        Value::List(items) if text.contains('\n') => {
            format!("[{}]", items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", "))
        }
        _ => text.replace('\n', " ").trim().to_owned(),
    }
}

/// A basic string: JSON's escapes are TOML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
