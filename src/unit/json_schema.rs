//! JSON schemas of the kinds, for editors: draft-07, one whole document a kind, nothing referred to elsewhere. Made from
//! the same tables that the compiler reads, so an editor knows exactly the keys that the compiler knows.
//!
//! A schema also takes drop-ins, which hold some of a unit's keys; so no key is demanded by it. The compiler says what
//! is missing.

use serde_json::{Map, Value, json};

use super::kinds::{self, common};
use super::plan::Kind;
use super::registry::Registry;
use super::schema::{KeySpec, TableSpec, ValueType};

/// Where a unit file of a directory `units` finds the schema of its kind: in a directory `schema` beside it.
#[must_use]
pub fn line(kind: Kind) -> String {
    format!("#:schema ../schema/{}.json", kind.word())
}

/// The schema of a kind.
#[must_use]
pub fn schema(kind: Kind, registry: &Registry) -> Value {
    let mut tables = Map::new();
    for (spec, of) in tables_of(kind, registry) {
        tables.insert(spec.name.to_owned(), table(&spec, kind, registry, of.as_deref()));
    }
    let keys = json!({
        "type": "array", "uniqueItems": true,
        "items": {"type": "string", "pattern": "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)?$"},
        "title": "unset",
        "description": "Keys that return to their defaults, whatever lower layers say: `\"schedule.every\"`.",
    });
    // Env units have a table of that name.
    let unset = match tables.remove("unset") {
        Some(table) => json!({"anyOf": [keys, table]}),
        None => keys,
    };
    tables.insert("unset".to_owned(), unset);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": format!("workagent {} unit", kind.word()),
        "description": kinds::spec(kind).doc,
        "type": "object",
        "additionalProperties": false,
        "properties": tables,
    })
}

/// All tables that a unit of this kind can have, each with the choice it belongs to: `platform = "imap"`.
pub(super) fn tables_of(kind: Kind, registry: &Registry) -> Vec<(TableSpec, Option<String>)> {
    let mut all: Vec<(TableSpec, Option<String>)> =
        kinds::spec(kind).tables.iter().map(|spec| (*spec, None)).collect();
    match kind {
        Kind::Connector => all.extend(registry.platforms.iter().map(|view| {
            let of = format!("platform = \"{}\"", view.name);
            (TableSpec::new(view.name, view.keys, view.summary), Some(of))
        })),
        Kind::Engine => all.extend(registry.engines.iter().map(|view| {
            let of = format!("engine = \"{}\"", view.name);
            (TableSpec::new(view.name, view.keys, view.summary), Some(of))
        })),
        Kind::Channel => all.extend(registry.channels.iter().map(|view| {
            let of = format!("channel = \"{}\"", view.name);
            (TableSpec::new(view.name, view.keys, view.summary), Some(of))
        })),
        _ => {}
    }
    let everywhere = common::TABLES.iter().filter(|spec| common::has(kind, spec));
    all.extend(everywhere.map(|spec| (*spec, None)));
    all
}

fn table(spec: &TableSpec, kind: Kind, registry: &Registry, of: Option<&str>) -> Value {
    let doc = match of {
        Some(of) => format!("{}. With `{of}`.", spec.doc.trim_end_matches('.')),
        None => spec.doc.to_owned(),
    };
    if spec.free {
        return json!({"title": spec.name, "description": doc, "type": "object", "additionalProperties": false,
                      "patternProperties": {"^[A-Za-z_][A-Za-z0-9_]*$": setting()}});
    }
    let mut keys = Map::new();
    for key in spec.keys {
        keys.insert(
            key.name.to_owned(),
            whole_key(spec.name, key, choices(kind, spec.name, key.name, registry)),
        );
    }
    json!({"title": spec.name, "description": doc, "type": "object", "additionalProperties": false, "properties": keys})
}

/// The words of keys whose words are in the catalog.
fn choices(kind: Kind, table: &str, key: &str, registry: &Registry) -> Option<Vec<&'static str>> {
    match (kind, table, key) {
        (Kind::Connector, "connector", "platform") => {
            Some(registry.platforms.iter().map(|view| view.name).collect())
        }
        (Kind::Engine, "engine", "engine") => Some(registry.engines.iter().map(|view| view.name).collect()),
        (Kind::Channel, "channel", "channel") => {
            Some(registry.channels.iter().map(|view| view.name).collect())
        }
        (Kind::Runtime, "runtime", "runtime") => Some(kinds::runtime::RUNTIMES.to_vec()),
        _ => None,
    }
}

fn whole_key(table: &str, key: &KeySpec, words: Option<Vec<&'static str>>) -> Value {
    let mut value = match words {
        Some(words) => json!({"type": "string", "enum": words}),
        None => value(&key.value),
    };
    let needed = if key.required { " Required." } else { "" };
    if let Some(fields) = value.as_object_mut() {
        fields.insert("title".to_owned(), json!(format!("{table}.{}", key.name)));
        fields.insert("description".to_owned(), json!(format!("{}.{needed}", key.doc.trim_end_matches('.'))));
        if let Some(default) = key.default.and_then(default) {
            fields.insert("default".to_owned(), default);
        }
    }
    value
}

/// A default as JSON; defaults are written as TOML.
fn default(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

const DURATION: &str =
    "^\\s*([0-9]+w\\s*)?([0-9]+d\\s*)?([0-9]+h\\s*)?([0-9]+m\\s*)?([0-9]+s\\s*)?([0-9]+ms\\s*)?$";
const SECRET_NAME: &str = "^[A-Za-z0-9._+@][A-Za-z0-9._+@/-]*$";
const ENV_NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
const UNIT_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._@-]*$";

fn value(value: &ValueType) -> Value {
    match value {
        ValueType::Text => json!({"type": "string"}),
        ValueType::Path | ValueType::Host | ValueType::LogFilter => json!({"type": "string", "minLength": 1}),
        ValueType::Bool => json!({"type": "boolean"}),
        ValueType::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        ValueType::Duration { .. } => json!({"type": "string", "minLength": 2, "pattern": DURATION}),
        ValueType::Size => json!({"anyOf": [
            {"type": "string", "pattern": "^[0-9]+(B|K|KiB|M|MiB|G|GiB)?$"},
            {"type": "integer", "minimum": 0},
        ]}),
        ValueType::Usd => json!({"anyOf": [
            {"type": "string", "pattern": "^[0-9]*(\\.[0-9]{1,6})?$", "minLength": 1},
            {"type": "number", "minimum": 0},
        ]}),
        ValueType::Url => json!({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:"}),
        ValueType::Choice(words) => json!({"type": "string", "enum": words}),
        ValueType::List => list(&json!({"type": "string"})),
        ValueType::Units(_) => list(&json!({"type": "string", "pattern": UNIT_NAME})),
        ValueType::Unit(_) => json!({"type": "string", "pattern": UNIT_NAME}),
        ValueType::Choices(words) => list(&json!({"type": "string", "enum": words})),
        ValueType::Secret => reference(),
        ValueType::EnvMap => json!({"type": "object", "additionalProperties": false,
                                    "patternProperties": {ENV_NAME: setting()}}),
        ValueType::Calendars | ValueType::Windows | ValueType::Tests(_) => json!({"anyOf": [
            {"type": "string", "minLength": 1}, list(&json!({"type": "string", "minLength": 1})),
        ]}),
        ValueType::Backlog => json!({"anyOf": [
            {"type": "string", "enum": ["new", "all"]},
            {"type": "string", "minLength": 2, "pattern": DURATION},
        ]}),
    }
}

/// A list, or what a drop-in does to one.
fn list(item: &Value) -> Value {
    let items = json!({"type": "array", "items": item});
    json!({"anyOf": [items, {
        "type": "object", "additionalProperties": false, "minProperties": 1,
        "properties": {"append": items, "prepend": items, "remove": items},
    }]})
}

fn reference() -> Value {
    json!({"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
           "properties": {"secret": {"type": "string", "pattern": SECRET_NAME},
                          "env": {"type": "string", "pattern": ENV_NAME}}})
}

fn setting() -> Value {
    json!({"anyOf": [{"type": "string"}, reference()]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    /// Each object of a schema that describes a table closes it, and nothing is taken from elsewhere.
    fn closed(place: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                assert!(!fields.contains_key("$ref") && !fields.contains_key("$id"), "{place}");
                if fields.get("type") == Some(&json!("object")) {
                    assert_eq!(fields.get("additionalProperties"), Some(&json!(false)), "{place}");
                }
                fields.iter().for_each(|(name, inner)| closed(&format!("{place}/{name}"), inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| closed(place, inner)),
            _ => {}
        }
    }

    #[test]
    fn every_kind_has_a_closed_schema_of_its_own() {
        let registry = CATALOG.registry();
        for kind in Kind::ALL {
            let schema = schema(kind, &registry);
            closed(kind.word(), &schema);
            assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
            assert!(schema["properties"]["unit"]["properties"]["description"].is_object());
        }
    }

    #[test]
    fn every_key_of_every_platform_is_in_it_with_its_words() {
        let registry = CATALOG.registry();
        let schema = schema(Kind::Connector, &registry);
        for view in &registry.platforms {
            for key in view.keys {
                let found = &schema["properties"][view.name]["properties"][key.name];
                assert!(found["description"].as_str().is_some_and(|text| text.len() > 5), "{}", key.name);
                assert_eq!(found.get("default").is_some(), key.default.is_some(), "{}", key.name);
            }
        }
        let platforms = &schema["properties"]["connector"]["properties"]["platform"]["enum"];
        assert!(platforms.as_array().unwrap().contains(&json!("imap")));
    }

    #[test]
    fn a_key_looks_like_this() {
        let schema = schema(Kind::Connector, &CATALOG.registry());
        insta::assert_snapshot!(schema["properties"]["connector"]["properties"]["hold"], @r#"
        {"type":"string","minLength":2,"pattern":"^\\s*([0-9]+w\\s*)?([0-9]+d\\s*)?([0-9]+h\\s*)?([0-9]+m\\s*)?([0-9]+s\\s*)?([0-9]+ms\\s*)?$","title":"connector.hold","description":"Undo window between approval and sending.","default":"30s"}
        "#);
        let after = &schema["properties"]["unit"]["properties"]["after"];
        assert_eq!(after["anyOf"][0]["items"], json!({"type": "string", "pattern": UNIT_NAME}));
        assert_eq!(after["anyOf"][1]["properties"]["remove"]["type"], "array");
    }
}
