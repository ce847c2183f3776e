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
    /// A floating-point number, as written without underscores.
    Float(String),
    /// `true`, `false`.
    Bool(bool),
    /// A date or time: no key takes one.
    Datetime,
    /// An array.
    List(Vec<Node>),
    /// A table, inline or with a header.
    Table(Table),
    /// Taken back to the default by `unset` of a layer.
    Unset,
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
    /// What lower layers say of the key, the nearest first.
    pub below: Vec<Node>,
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

impl Entry {
    /// A key of one layer alone.
    pub fn new(key: Span, node: Node) -> Self {
        Self { key, node, below: Vec::new() }
    }

    /// Lays a higher layer's entry for the same key over this one.
    pub fn cover(&mut self, mut upper: Self) {
        std::mem::swap(self, &mut upper);
        let lower = upper;
        self.below.push(lower.node);
        self.below.extend(lower.below);
    }

    /// The highest layer that speaks of it takes it back to its default.
    pub fn is_unset(&self) -> bool {
        matches!(self.node.data, Data::Unset)
    }

    /// What all layers say, the one that counts first.
    pub fn layers(&self) -> impl Iterator<Item = &Node> {
        std::iter::once(&self.node).chain(&self.below)
    }
}

impl Data {
    /// For people: "a text", "a table".
    pub fn what(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Bool(_) => "a `true` or `false`",
            Self::Datetime => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Unset => "nothing",
        }
    }
}
