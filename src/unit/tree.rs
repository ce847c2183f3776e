//! A parsed unit file: values with their places, nothing interpreted yet.

use std::collections::BTreeMap;

use crate::diag::Span;

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it stands; for a table written with a header, the header.
    pub span: Span,
    /// What it is.
    pub data: Data,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// A string.
    Text(String),
    /// A whole number; `None` when it does not fit into 64 bits.
    Integer(Option<i64>),
    /// A floating-point number: no key takes one.
    Float,
    /// `true`, `false`.
    Bool(bool),
    /// A date or time: no key takes one.
    Datetime,
    /// An array.
    List(Vec<Node>),
    /// A table, inline or with a header.
    Table(Table),
}

/// The keys of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(pub BTreeMap<String, Entry>);

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where the key stands.
    pub key: Span,
    /// Its value.
    pub node: Node,
}

impl Table {
    /// A key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.get(key)
    }

    /// The table under a key, if it is one.
    pub fn table(&self, key: &str) -> Option<&Self> {
        match &self.get(key)?.node.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }
}

impl Data {
    /// For people: "a text", "a table".
    pub fn what(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float => "a number with a fraction",
            Self::Bool(_) => "a `true` or `false`",
            Self::Datetime => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}
