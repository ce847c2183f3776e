//! The canonical form of a plan: what the units mean, without how they are written.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use super::graph::Units;
use super::plan::{Off, UnitName};
use super::value::{Setting, Settings, Value};
use crate::model::secret_ref::SecretRef;
use crate::model::text::hex;

/// SHA-256 over all units in the order of their names: of those that are on, every value (defaults filled in); of
/// those that are off, the state and the reason. Places, comments, layout and file names are no part of it.
pub(crate) fn hash(units: &Units, off: &BTreeMap<UnitName, Off>) -> String {
    let mut form = Form(Sha256::new());
    for (name, unit) in units {
        form.text("unit", &name.to_string());
        if let Some(why) = off.get(name) {
            form.text(why.state.word(), &why.reason);
            continue;
        }
        // `[install]` only says that the unit is on.
        for (table, settings) in unit.tables().iter().filter(|(table, _)| **table != "install") {
            form.text("table", table);
            form.settings(settings);
        }
    }
    hex(&form.0.finalize())
}

struct Form(Sha256);

impl Form {
    /// A tag and a text, each with its length in front, so that nothing can run together.
    fn text(&mut self, tag: &str, text: &str) {
        self.bytes(tag.as_bytes());
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn settings(&mut self, settings: &Settings) {
        for (key, value) in &settings.0 {
            self.text("key", key);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Text(text) => self.text("text", text),
            Value::Bool(flag) => self.text("bool", if *flag { "true" } else { "false" }),
            Value::Integer(number) => self.text("integer", &number.to_string()),
            Value::Duration(span) => self.text("ms", &span.as_millis().to_string()),
            Value::Size(bytes) => self.text("bytes", &bytes.to_string()),
            Value::Path(path) => {
                self.bytes(b"path");
                self.bytes(path.as_os_str().as_encoded_bytes());
            }
            Value::List(items) => {
                self.text("list", &items.len().to_string());
                items.iter().for_each(|item| self.text("item", item));
            }
            Value::Secret(reference) => self.secret(reference),
            Value::Map(map) => {
                self.text("map", &map.len().to_string());
                for (name, setting) in map {
                    self.text("name", name);
                    match setting {
                        Setting::Text(text) => self.text("text", text),
                        Setting::Secret(reference) => self.secret(reference),
                    }
                }
            }
        }
    }

    fn secret(&mut self, reference: &SecretRef) {
        match reference {
            SecretRef::Stored(name) => self.text("secret", name),
            SecretRef::Env(name) => self.text("env", name),
        }
    }
}
