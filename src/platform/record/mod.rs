//! Records of other people's making to items: which field is what. Pure.
//!
//! A record becomes an item in the words of the `command` connector's own protocol ([`Fields::item`]), and that an item
//! of ours ([`item::item`]).

pub mod item;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::limits;
use crate::model::text::digest;
use crate::model::time::Timestamp;
use crate::secret::Scrubber;
use crate::unit::value::Setting;

/// What can be named in `fields`, and where it is looked for otherwise, the best first.
pub const FIELDS: [(&str, &[&str]); 7] = [
    ("title", &["title", "subject", "summary", "headline", "name"]),
    ("body", &["body", "description", "content", "text", "message", "comment", "notes"]),
    ("author", &["author", "user", "creator", "sender", "from", "reporter", "created_by"]),
    ("url", &["html_url", "web_url", "permalink", "url", "link"]),
    (
        "at",
        &["updated_at", "modified_at", "updated", "modified", "created_at", "created", "date", "timestamp"],
    ),
    ("thread", &[]),
    ("labels", &["labels", "tags"]),
];

/// Names of a person inside an object, the best first.
const NAMES: [&str; 7] = ["name", "display_name", "displayName", "full_name", "username", "login", "email"];

/// What loaders add to records: the time of a run, not the record's own.
const LOADERS_OWN: [&str; 2] = ["_sdc_", "_airbyte_"];

/// A member as text; a number does, an empty text is none.
#[must_use]
pub fn text(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Which field of a record is what.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    named: BTreeMap<String, String>,
    ignore: Vec<String>,
    body_format: Option<String>,
}

impl Fields {
    /// `named` as in the unit: a path of names with `/` between them.
    pub fn new(
        named: Option<&BTreeMap<String, Setting>>,
        ignore: &[String],
        body_format: Option<&str>,
    ) -> Self {
        let texts = named.into_iter().flatten().filter_map(|(name, setting)| match setting {
            Setting::Text(path) => Some((name.clone(), path.clone())),
            Setting::Secret(_) => None,
        });
        Self { named: texts.collect(), ignore: ignore.to_vec(), body_format: body_format.map(str::to_owned) }
    }

    /// The path that the unit names for something.
    #[must_use]
    pub fn named(&self, what: &str) -> Option<&str> {
        self.named.get(what).map(String::as_str)
    }

    /// The text of one of [`FIELDS`].
    #[must_use]
    pub fn text(&self, record: &Value, what: &str) -> Option<String> {
        self.find(record, what).map(as_text)
    }

    fn find<'a>(&self, record: &'a Value, what: &str) -> Option<&'a Value> {
        let there = |value: &&Value| !value.is_null() && **value != json!("");
        if let Some(path) = self.named.get(what) {
            return at_path(record, path).filter(there);
        }
        let (_, usual) = FIELDS.iter().find(|(name, _)| *name == what)?;
        usual.iter().filter_map(|name| record.get(name)).find(there)
    }

    /// The item of a record. `keys` are the paths of its stream's key, `None` if none were told; `stream` goes in front
    /// of ids, and is their kind.
    #[must_use]
    pub fn item(&self, stream: &str, record: &Value, keys: Option<&[String]>, scrubber: &Scrubber) -> Value {
        let hash = self.hash(record);
        let id = match keys {
            // A stream without a key: each content is a thing of its own.
            None | Some([]) => Some(format!("row:{hash}")),
            Some(keys) => key(record, keys),
        };
        let mut item = Map::new();
        let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
        put("type", json!("item"));
        if let Some(id) = id {
            // A secret in a key would be stored; masked it may be no key any more, but it is not told.
            put("id", json!(within(stream, &scrubber.mask_whole(&id))));
        }
        put("kind", json!(stream));
        let updated =
            self.named.get("updated").and_then(|path| at_path(record, path)).filter(|value| !value.is_null());
        put("updated", json!(updated.map(as_text).unwrap_or(hash)));
        let text_of = |what: &str| self.find(record, what).map(as_text);
        if let Some(title) = text_of("title") {
            put("title", json!(title));
        }
        put("body", json!(text_of("body").unwrap_or_else(|| listed(record))));
        if let Some(format) = &self.body_format {
            put("body_format", json!(format));
        }
        if let Some(author) = self.find(record, "author").and_then(person) {
            put("author", author);
        }
        if let Some(url) = text_of("url") {
            put("url", json!(scrubber.scrub(&url)));
        }
        if let Some(at) = self.find(record, "at").and_then(moment) {
            put("at", json!(at.to_string()));
        }
        if let Some(thread) = self.find(record, "thread").map(as_text) {
            put("thread", json!(within(stream, &scrubber.mask_whole(&thread))));
        }
        put(
            "labels",
            json!(self.find(record, "labels").map(|given| labels(given, scrubber)).unwrap_or_default()),
        );
        Value::Object(item)
    }

    /// Of all that is the record's own.
    fn hash(&self, record: &Value) -> String {
        let kept = |name: &str| {
            !LOADERS_OWN.iter().any(|prefix| name.starts_with(prefix))
                && !self.ignore.iter().any(|own| own == name)
        };
        let text = match record {
            Value::Object(fields) => {
                let fields = fields.iter().filter(|(name, _)| kept(name));
                canonical(&Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect()))
            }
            other => canonical(other),
        };
        digest(&[text.as_bytes()]).get(..32).unwrap_or_default().to_owned()
    }
}

fn within(stream: &str, name: &str) -> String {
    if stream.is_empty() { name.to_owned() } else { format!("{stream}:{name}") }
}

/// A value as one text, names in order: a tap that writes them in another order has not changed its record.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            out.push('{');
            for name in names {
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write_canonical(fields.get(name).unwrap_or(&Value::Null), out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

/// The values of the key, `None` if one is missing. Several are written as a list, which no single one looks like by
/// chance and without being the same list.
fn key(record: &Value, keys: &[String]) -> Option<String> {
    let one = |path: &String| match at_path(record, path)? {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        other => Some(other.clone()),
    };
    let values = keys.iter().map(one).collect::<Option<Vec<_>>>()?;
    Some(match values.as_slice() {
        [one] => as_text(one),
        _ => Value::Array(values).to_string(),
    })
}

/// What lies at a path of names with `/` between them, or a JSON pointer.
#[must_use]
pub fn at_path<'a>(record: &'a Value, path: &str) -> Option<&'a Value> {
    let path = path.strip_prefix('/').unwrap_or(path);
    record.pointer(&format!("/{path}"))
}

/// A text as it is, anything else as JSON.
#[must_use]
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A record without a text of its own: its simple fields, one a line.
fn listed(record: &Value) -> String {
    let fields = record.as_object().into_iter().flatten();
    let simple = fields.filter(|(name, value)| {
        !LOADERS_OWN.iter().any(|prefix| name.starts_with(prefix))
            && !matches!(value, Value::Null | Value::Object(_) | Value::Array(_))
    });
    let lines =
        simple.take(limits::ITEM_LIST_LEN_MAX).map(|(name, value)| format!("{name}: {}", as_text(value)));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text, or an object with a name and perhaps an address.
fn person(value: &Value) -> Option<Value> {
    if !value.is_object() {
        return Some(json!(as_text(value)));
    }
    let name = NAMES.iter().find_map(|name| text(value, name))?;
    let address = ["email", "login", "username", "id"].iter().find_map(|name| text(value, name));
    Some(json!({ "name": name, "address": address.unwrap_or_default() }))
}

/// RFC 3339, also with a blank in the middle, without a zone (taken for UTC) or with one without a colon; a day; or
/// seconds or milliseconds since 1970.
#[must_use]
pub fn moment(value: &Value) -> Option<Timestamp> {
    let given = match value {
        Value::Number(number) => {
            // Beyond the year 5000 in seconds: milliseconds.
            let number = number.as_i64()?;
            return Some(if number.abs() > 100_000_000_000 {
                Timestamp(number)
            } else {
                Timestamp::from_seconds(number)
            });
        }
        Value::String(text) => text.trim(),
        _ => return None,
    };
    let whole =
        if given.len() == "2026-11-30".len() { format!("{given}T00:00:00") } else { given.to_owned() };
    Timestamp::from_rfc3339(&whole).or_else(|| Timestamp::from_rfc3339(&format!("{whole}Z")))
}

fn labels(value: &Value, scrubber: &Scrubber) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => ["name", "title"].iter().find_map(|name| text(value, name)),
        _ => None,
    };
    let given = value.as_array().into_iter().flatten();
    given.take(limits::ITEM_LIST_LEN_MAX).filter_map(one).map(|label| scrubber.scrub_owned(label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(named: &[(&str, &str)], ignore: &[&str]) -> Fields {
        let named = named.iter().map(|(name, path)| ((*name).to_owned(), Setting::Text((*path).to_owned())));
        let ignore: Vec<String> = ignore.iter().map(|name| (*name).to_owned()).collect();
        Fields::new(Some(&named.collect()), &ignore, None)
    }

    fn item(fields: &Fields, record: &Value) -> Value {
        fields.item("issues", record, Some(&["id".to_owned()]), &Scrubber::new())
    }

    #[test]
    fn usual_fields_are_known() {
        let record = json!({
            "id": 7, "title": "Roof", "body": null, "description": "It leaks.", "user": { "login": "kim", "id": 3 },
            "html_url": "https://x.example/7", "created_at": "2026-11-01", "updated_at": "2026-11-30 08:00:00",
            "labels": [{ "name": "wet" }, "old", 5],
        });
        let item = item(&fields(&[], &[]), &record);
        assert_eq!((&item["id"], &item["kind"]), (&json!("issues:7"), &json!("issues")));
        assert_eq!((&item["title"], &item["body"]), (&json!("Roof"), &json!("It leaks.")));
        assert_eq!(item["author"], json!({ "name": "kim", "address": "kim" }));
        assert_eq!(
            (&item["url"], &item["at"]),
            (&json!("https://x.example/7"), &json!("2026-11-30T08:00:00Z"))
        );
        assert_eq!(item["labels"], json!(["wet", "old"]));
    }

    #[test]
    fn declared_fields_take_the_place_of_the_usual_ones() {
        let record = json!({ "id": 1, "title": "no", "fields": { "summary": "yes", "by": "Kim" }, "when": 1_796_025_600 });
        let named = [("title", "fields/summary"), ("author", "/fields/by"), ("at", "when"), ("body", "gone")];
        let item = item(&fields(&named, &[]), &record);
        assert_eq!((&item["title"], &item["author"]), (&json!("yes"), &json!("Kim")));
        assert_eq!(item["at"], json!("2026-11-30T08:00:00Z"));
        assert_eq!(item["body"], json!("id: 1\ntitle: no\nwhen: 1796025600"));
    }

    #[test]
    fn the_revision_is_the_content_and_nothing_else() {
        let fields = fields(&[], &["views"]);
        let hash = |record: &Value| item(&fields, record)["updated"].clone();
        let one = hash(&json!({ "id": 1, "a": { "x": 1, "y": 2 }, "views": 3, "_sdc_extracted_at": "now" }));
        assert_eq!(
            one,
            hash(&json!({ "views": 9, "a": { "y": 2, "x": 1 }, "id": 1, "_sdc_extracted_at": "later" }))
        );
        assert_ne!(one, hash(&json!({ "id": 1, "a": { "x": 1, "y": 3 } })));
    }

    #[test]
    fn keys_of_several_parts_and_of_none() {
        let fields = fields(&[], &[]);
        let with = |keys: Option<&[String]>, record: Value| {
            fields.item("s", &record, keys, &Scrubber::new())["id"].clone()
        };
        let two = ["a".to_owned(), "b/c".to_owned()];
        assert_eq!(with(Some(&two), json!({ "a": "x", "b": { "c": 1 } })), json!("s:[\"x\",1]"));
        assert_eq!(with(Some(&two), json!({ "a": "x", "b": {} })), Value::Null);
        assert_eq!(with(None, json!({ "a": 1 })), with(Some(&[]), json!({ "a": 1 })));
        assert!(with(None, json!({ "a": 1 })).as_str().unwrap().starts_with("s:row:"));
    }

    #[test]
    fn moments_in_their_many_spellings() {
        for text in [
            "2026-11-30T08:00:00Z",
            "2026-11-30T09:00:00+0100",
            "2026-11-30 08:00:00",
            "2026-11-30T08:00:00.000",
        ] {
            assert_eq!(moment(&json!(text)), Some(Timestamp(1_796_025_600_000)), "{text}");
        }
        assert_eq!(moment(&json!(1_796_025_600_000_i64)), Some(Timestamp(1_796_025_600_000)));
        assert_eq!(moment(&json!("2026-11-30")), Timestamp::from_rfc3339("2026-11-30T00:00:00Z"));
        for odd in [json!("soon"), json!(""), json!(null), json!([1]), json!(1.5)] {
            assert_eq!(moment(&odd), None, "{odd}");
        }
    }
}
