//! Taps: programs that speak Singer (a RECORD, SCHEMA or STATE a line) or the Airbyte protocol. Their lines are read as
//! lines of our own protocol. Pure.
//!
//! A STATE stands behind the records it covers, as ours does. The end is the exit status: taps say no `done`. What they
//! read again in full is the same item with the same content, and nothing new.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::wire::{self, Fault, Line};
use crate::model::limits;
use crate::model::text::one_line;
use crate::platform::record::{Fields, text};
use crate::secret::Scrubber;

/// Which protocol the program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Ours.
    Own,
    /// Singer taps.
    Singer,
    /// Airbyte sources.
    Airbyte,
}

impl Protocol {
    /// From the word of the unit.
    pub fn of(word: &str) -> Self {
        match word {
            "singer" => Self::Singer,
            "airbyte" => Self::Airbyte,
            _ => Self::Own,
        }
    }

    /// It is a tap's.
    pub fn is_tap(self) -> bool {
        self != Self::Own
    }
}

/// Reads the lines of one run.
pub struct Reader<'a> {
    protocol: Protocol,
    fields: &'a Fields,
    streams: &'a [String],
    scrubber: &'a Scrubber,
    /// The key of each stream, as far as it was told: paths into its records.
    keys: HashMap<String, Vec<String>>,
    /// What a state is told beside: Airbyte tells one stream's at a time.
    state: Value,
}

impl<'a> Reader<'a> {
    /// `catalog` as it is given to an Airbyte source; `state` is where the run begins.
    pub fn new(
        protocol: Protocol,
        fields: &'a Fields,
        streams: &'a [String],
        scrubber: &'a Scrubber,
        catalog: Option<&Value>,
        state: Value,
    ) -> Self {
        let keys = match protocol {
            Protocol::Airbyte => catalog.map(keys_of_catalog).unwrap_or_default(),
            Protocol::Own | Protocol::Singer => HashMap::new(),
        };
        Self { protocol, fields, streams, scrubber, keys, state }
    }

    /// What a line says, `None` if it is none of the protocol.
    pub fn read(&mut self, line: &str) -> Option<Line> {
        if self.protocol == Protocol::Own {
            return wire::read(line);
        }
        let value: Value = serde_json::from_str(line).ok()?;
        let kind = text(&value, "type")?.to_ascii_uppercase();
        Some(match (self.protocol, kind.as_str()) {
            (Protocol::Singer, "RECORD") => {
                let stream = text(&value, "stream").unwrap_or_default();
                self.record(&stream, value.get("record"))
            }
            (Protocol::Singer, "SCHEMA") => {
                self.schema(&value);
                Line::Other
            }
            (Protocol::Singer, "STATE") => Line::State(value.get("value").cloned().unwrap_or(Value::Null)),
            (Protocol::Airbyte, "RECORD") => {
                let record = value.get("record").unwrap_or(&Value::Null);
                let name = qualified(record, "stream");
                self.record(&name, record.get("data"))
            }
            (Protocol::Airbyte, "STATE") => self.airbyte_state(value.get("state").unwrap_or(&Value::Null)),
            (Protocol::Airbyte, "LOG") => log(value.get("log").unwrap_or(&Value::Null)),
            (Protocol::Airbyte, "TRACE") => trace(value.get("trace").unwrap_or(&Value::Null)),
            (Protocol::Airbyte, "CONTROL") => {
                Line::Log("it wants to change its own configuration, which is not kept".to_owned())
            }
            _ => Line::Other,
        })
    }

    fn record(&self, stream: &str, record: Option<&Value>) -> Line {
        let name = stream.rsplit_once('.').map_or(stream, |(_, name)| name);
        if !self.streams.is_empty() && !self.streams.iter().any(|wanted| wanted == stream || wanted == name) {
            return Line::Other;
        }
        let record = record.unwrap_or(&Value::Null);
        let keys = self.keys.get(stream).map(Vec::as_slice);
        if self.protocol == Protocol::Singer && keys.is_none() || !record.is_object() {
            // Without its schema a record has no key: it is kept for the user, as one without an id.
            return Line::Item(
                json!({ "type": "item", "kind": stream, "title": "a record that cannot be read",
                "body": record.to_string() }),
            );
        }
        Line::Item(self.fields.item(stream, record, keys, self.scrubber))
    }

    fn schema(&mut self, value: &Value) {
        let Some(stream) = text(value, "stream") else { return };
        let names = value.get("key_properties").and_then(Value::as_array).into_iter().flatten();
        let keys = names.filter_map(Value::as_str).map(pointer_part).collect();
        if self.keys.len() < limits::TAP_STREAMS_MAX || self.keys.contains_key(&stream) {
            self.keys.insert(stream, keys);
        }
    }

    /// The whole position after it: of one stream it takes the place of that stream's.
    fn airbyte_state(&mut self, state: &Value) -> Line {
        let kind = text(state, "type").unwrap_or_default().to_ascii_uppercase();
        if let Some(stream) = state.get("stream").filter(|stream| stream.is_object()) {
            let own = stream.get("stream_descriptor").cloned().unwrap_or(Value::Null);
            let mut states = match &mut self.state {
                Value::Array(states) => std::mem::take(states),
                _ => Vec::new(),
            };
            // Of another shape than states of streams are: a source that changed its ways begins anew.
            states.retain(|state| {
                let of = state.get("stream").and_then(|stream| stream.get("stream_descriptor"));
                of.is_some_and(|of| *of != own)
            });
            states.push(json!({ "type": "STREAM", "stream": stream }));
            self.state = Value::Array(states);
        } else if kind == "GLOBAL" || state.get("global").is_some() {
            let global = state.get("global").cloned().unwrap_or(Value::Null);
            self.state = json!([{ "type": "GLOBAL", "global": global }]);
        } else {
            self.state = state.get("data").cloned().unwrap_or(Value::Null);
        }
        Line::State(self.state.clone())
    }
}

/// `namespace.name`, or the name.
fn qualified(value: &Value, name: &str) -> String {
    let name = text(value, name).unwrap_or_default();
    match text(value, "namespace") {
        Some(namespace) => format!("{namespace}.{name}"),
        None => name,
    }
}

/// Warnings and worse; the rest is for whoever builds sources.
fn log(log: &Value) -> Line {
    let level = text(log, "level").unwrap_or_default().to_ascii_uppercase();
    if !matches!(level.as_str(), "FATAL" | "ERROR" | "WARN") {
        return Line::Other;
    }
    Line::Log(one_line(&text(log, "message").unwrap_or_default(), 400))
}

fn trace(trace: &Value) -> Line {
    match text(trace, "type").unwrap_or_default().to_ascii_uppercase().as_str() {
        "ERROR" => {
            let error = trace.get("error").unwrap_or(&Value::Null);
            let message = text(error, "message").unwrap_or_default();
            let stream = error.get("stream_descriptor").map(|of| qualified(of, "name")).unwrap_or_default();
            let message = if stream.is_empty() { message } else { format!("{stream}: {message}") };
            // A configuration waits for an edit. Everything else may pass: sources call all they did not foresee
            // `system_error`.
            let class = match text(error, "failure_type").unwrap_or_default().as_str() {
                "config_error" => "config",
                _ => "later",
            };
            Line::Error(Fault::new(class, &message))
        }
        "STREAM_STATUS" => {
            let status = trace.get("stream_status").unwrap_or(&Value::Null);
            let of = status.get("stream_descriptor").map(|of| qualified(of, "name")).unwrap_or_default();
            match text(status, "status").unwrap_or_default().to_ascii_uppercase().as_str() {
                "INCOMPLETE" => Line::Log(one_line(&format!("the stream {of} is not complete"), 200)),
                _ => Line::Other,
            }
        }
        _ => Line::Other,
    }
}

/// The keys of a configured catalog: the user's, else the source's own.
fn keys_of_catalog(catalog: &Value) -> HashMap<String, Vec<String>> {
    let streams = catalog.get("streams").and_then(Value::as_array).into_iter().flatten();
    let one = |configured: &Value| {
        let stream = configured.get("stream")?;
        let keys = [configured.get("primary_key"), stream.get("source_defined_primary_key")];
        let keys = keys.into_iter().flatten().filter_map(Value::as_array).find(|keys| !keys.is_empty())?;
        let path = |key: &Value| match key {
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str).map(pointer_part);
                names.collect::<Vec<_>>().join("/")
            }
            other => other.as_str().map(pointer_part).unwrap_or_default(),
        };
        Some((qualified(stream, "name"), keys.iter().map(path).collect()))
    };
    streams.take(limits::TAP_STREAMS_MAX).filter_map(one).collect()
}

/// A name as a part of a JSON pointer.
fn pointer_part(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A catalog as a source was asked to run it: with the wanted streams only, and for Airbyte in the configured form,
/// whichever form the file has (what `discover` prints, its message around it, or configured already).
pub fn catalog_for(protocol: Protocol, catalog: &Value, streams: &[String]) -> Result<Value, &'static str> {
    let catalog = catalog.get("catalog").filter(|inner| inner.is_object()).unwrap_or(catalog);
    let given = catalog.get("streams").and_then(Value::as_array).ok_or("it has no list `streams`")?;
    let name_of = |entry: &Value| {
        let stream = entry.get("stream").filter(|stream| stream.is_object()).unwrap_or(entry);
        ["name", "stream", "tap_stream_id"].iter().find_map(|name| text(stream, name))
    };
    let wanted = given
        .iter()
        .filter(|entry| streams.is_empty() || name_of(entry).is_some_and(|name| streams.contains(&name)));
    let entries: Vec<Value> = match protocol {
        Protocol::Airbyte => wanted.map(configured).collect(),
        Protocol::Own | Protocol::Singer => wanted.cloned().collect(),
    };
    if entries.is_empty() {
        return Err("it has none of the streams that `streams` names");
    }
    let mut whole = catalog.clone();
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("streams".to_owned(), Value::Array(entries));
    }
    Ok(whole)
}

fn configured(entry: &Value) -> Value {
    if entry.get("stream").is_some_and(Value::is_object) {
        return entry.clone();
    }
    let modes = entry.get("supported_sync_modes").and_then(Value::as_array).into_iter().flatten();
    let incremental = modes.filter_map(Value::as_str).any(|mode| mode == "incremental");
    json!({
        "stream": entry,
        "sync_mode": if incremental { "incremental" } else { "full_refresh" },
        "destination_sync_mode": "append",
        "cursor_field": entry.get("default_cursor_field").cloned().unwrap_or_else(|| json!([])),
        "primary_key": entry.get("source_defined_primary_key").cloned().unwrap_or_else(|| json!([])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::class::ErrorClass;
    use crate::model::time::Timestamp;

    fn read(protocol: Protocol, lines: &[&str]) -> Vec<Line> {
        let (fields, scrubber) = (Fields::default(), Scrubber::new());
        let catalog = json!({ "streams": [
            { "stream": { "name": "issues", "namespace": "garden", "source_defined_primary_key": [["id"]] } },
        ] });
        let streams = ["issues".to_owned()];
        let mut reader = Reader::new(protocol, &fields, &streams, &scrubber, Some(&catalog), Value::Null);
        lines.iter().map(|line| reader.read(line).unwrap_or(Line::Unsupported)).collect()
    }

    #[test]
    fn singer_lines() {
        let lines = read(
            Protocol::Singer,
            &[
                r#"{"type":"record","stream":"issues","record":{"id":1}}"#,
                r#"{"type":"Schema","stream":"issues","schema":{},"key_properties":["id"]}"#,
                r#"{"type":"RECORD","stream":"issues","record":{"id":1,"title":"One"},"time_extracted":"x"}"#,
                r#"{"type":"RECORD","stream":"others","record":{"id":1}}"#,
                r#"{"type":"State","value":{"bookmarks":{"issues":1}}}"#,
                r#"{"type":"ACTIVATE_VERSION","stream":"issues","version":1}"#,
                "loading",
            ],
        );
        // Before its schema: kept, without an id.
        assert!(matches!(&lines[0], Line::Item(item) if item.get("id").is_none()));
        assert!(matches!(&lines[2], Line::Item(item) if item["id"] == "issues:1" && item["title"] == "One"));
        assert_eq!(lines[4], Line::State(json!({ "bookmarks": { "issues": 1 } })));
        assert_eq!((&lines[1], &lines[3], &lines[5]), (&Line::Other, &Line::Other, &Line::Other));
        assert_eq!(lines[6], Line::Unsupported);
    }

    #[test]
    fn airbyte_lines() {
        let lines = read(
            Protocol::Airbyte,
            &[
                r#"{"type":"RECORD","record":{"stream":"issues","namespace":"garden","data":{"id":7,"title":"One"},"emitted_at":1}}"#,
                r#"{"type":"LOG","log":{"level":"INFO","message":"page 1"}}"#,
                r#"{"type":"LOG","log":{"level":"WARN","message":"slow"}}"#,
                r#"{"type":"TRACE","trace":{"type":"STREAM_STATUS","stream_status":{"stream_descriptor":{"name":"issues"},"status":"INCOMPLETE"}}}"#,
                r#"{"type":"SPEC","spec":{}}"#,
            ],
        );
        assert!(matches!(&lines[0], Line::Item(item) if item["id"] == "garden.issues:7"));
        assert_eq!(lines[2], Line::Log("slow".into()));
        assert_eq!(lines[3], Line::Log("the stream issues is not complete".into()));
        assert_eq!((&lines[1], &lines[4]), (&Line::Other, &Line::Other));
    }

    #[test]
    fn states_of_streams_are_one_position() {
        let state = |name: &str, at: u64| {
            format!(
                r#"{{"type":"STATE","state":{{"type":"STREAM","stream":{{"stream_descriptor":{{"name":"{name}"}},"stream_state":{{"at":{at}}}}},"sourceStats":{{"recordCount":9.0}}}}}}"#
            )
        };
        let lines = read(
            Protocol::Airbyte,
            &[
                &state("a", 1),
                &state("b", 1),
                &state("a", 2),
                r#"{"type":"STATE","state":{"type":"GLOBAL","global":{"shared_state":{"x":1},"stream_states":[]}}}"#,
                r#"{"type":"STATE","state":{"data":{"legacy":1}}}"#,
            ],
        );
        let of = |name: &str, at: u64| json!({ "type": "STREAM", "stream": { "stream_descriptor": { "name": name }, "stream_state": { "at": at } } });
        assert_eq!(lines[2], Line::State(json!([of("b", 1), of("a", 2)])));
        let global =
            json!([{ "type": "GLOBAL", "global": { "shared_state": { "x": 1 }, "stream_states": [] } }]);
        assert_eq!((&lines[3], &lines[4]), (&Line::State(global), &Line::State(json!({ "legacy": 1 }))));
    }

    #[test]
    fn failures_have_classes() {
        let of = |kind: &str| {
            let line = format!(
                r#"{{"type":"TRACE","trace":{{"type":"ERROR","error":{{"message":"no","failure_type":"{kind}"}}}}}}"#
            );
            match read(Protocol::Airbyte, &[&line]).remove(0) {
                Line::Error(fault) => fault.class(Timestamp(0)),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(of("config_error"), ErrorClass::Config);
        assert_eq!(of("transient_error"), ErrorClass::NETWORK);
        assert_eq!((of("system_error"), of("new_word")), (ErrorClass::NETWORK, ErrorClass::NETWORK));
    }

    #[test]
    fn catalogs_of_each_form_are_configured() {
        let found = json!({ "type": "CATALOG", "catalog": { "streams": [
            { "name": "issues", "supported_sync_modes": ["full_refresh", "incremental"], "default_cursor_field": ["at"],
              "source_defined_primary_key": [["id"]] },
            { "name": "users", "supported_sync_modes": ["full_refresh"] },
        ] } });
        let one = ["issues".to_owned()];
        let whole = catalog_for(Protocol::Airbyte, &found, &one).unwrap();
        let stream = &whole["streams"][0];
        assert_eq!(whole["streams"].as_array().unwrap().len(), 1);
        assert_eq!((&stream["sync_mode"], &stream["cursor_field"]), (&json!("incremental"), &json!(["at"])));
        assert_eq!(catalog_for(Protocol::Airbyte, &whole, &[]).unwrap(), whole);
        assert!(catalog_for(Protocol::Airbyte, &found, &["gone".to_owned()]).is_err());
        assert!(catalog_for(Protocol::Airbyte, &json!([]), &[]).is_err());
        let singer = json!({ "streams": [{ "tap_stream_id": "issues", "stream": "issues", "schema": {} }] });
        assert_eq!(catalog_for(Protocol::Singer, &singer, &one).unwrap(), singer);
    }
}
