//! Typed values of unit files, after parsing and checking.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::secret_ref::SecretRef;

/// A checked value. Which variant a key has is fixed by its [`super::schema::KeySpec`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, a choice, a URL, a host: already checked against its type.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// A whole number within the key's bounds.
    Integer(i64),
    /// `"30s"`, `"5m"`, `"2h"`, `"7d"`.
    Duration(Duration),
    /// `"64K"`, `"8M"`, or a number of bytes.
    Size(u64),
    /// Millionths of a US dollar.
    Usd(u64),
    /// Absolute, `~` and specifiers expanded.
    Path(PathBuf),
    /// A list of texts.
    List(Vec<String>),
    /// A reference to a secret.
    Secret(SecretRef),
    /// A free table of texts and secret references (`[set]` of env units).
    Map(BTreeMap<String, Setting>),
}

/// A value of an environment variable in an `env` unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// As written.
    Text(String),
    /// Read from the store or the daemon's environment when a child is started.
    Secret(SecretRef),
}

/// The checked keys of one table with defaults filled in. Types were checked against the schema, so a getter that
/// finds another type (a fault of ours) answers as if the key were absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(pub BTreeMap<String, Value>);

impl Settings {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// A text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A flag; absent is `false`.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Value::Bool(true)))
    }

    /// A whole number.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.get(key) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// A duration.
    #[must_use]
    pub fn duration(&self, key: &str) -> Option<Duration> {
        match self.get(key) {
            Some(Value::Duration(span)) => Some(*span),
            _ => None,
        }
    }

    /// A size in bytes.
    #[must_use]
    pub fn size(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(Value::Size(bytes)) => Some(*bytes),
            _ => None,
        }
    }

    /// An amount of money, in millionths of a US dollar.
    #[must_use]
    pub fn usd(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(Value::Usd(micro)) => Some(*micro),
            _ => None,
        }
    }

    /// A path.
    #[must_use]
    pub fn path(&self, key: &str) -> Option<&PathBuf> {
        match self.get(key) {
            Some(Value::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// A list; absent is empty.
    #[must_use]
    pub fn list(&self, key: &str) -> &[String] {
        match self.get(key) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }

    /// A secret reference.
    #[must_use]
    pub fn secret(&self, key: &str) -> Option<&SecretRef> {
        match self.get(key) {
            Some(Value::Secret(reference)) => Some(reference),
            _ => None,
        }
    }

    /// A free table.
    #[must_use]
    pub fn map(&self, key: &str) -> Option<&BTreeMap<String, Setting>> {
        match self.get(key) {
            Some(Value::Map(map)) => Some(map),
            _ => None,
        }
    }

    /// All secrets that the table names.
    #[must_use]
    pub fn secrets(&self) -> Vec<SecretRef> {
        let mut found = Vec::new();
        for value in self.0.values() {
            match value {
                Value::Secret(reference) => found.push(reference.clone()),
                Value::Map(map) => found.extend(map.values().filter_map(|setting| match setting {
                    Setting::Secret(reference) => Some(reference.clone()),
                    Setting::Text(_) => None,
                })),
                _ => {}
            }
        }
        found
    }
}
