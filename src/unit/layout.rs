//! Which tables a unit may have: those of all kinds, those of its kind, and its platform's or engine's own.

use super::kinds::{self, common};
use super::plan::Kind;
use super::registry::Registry;
use super::schema::TableSpec;

/// The tables of one unit.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Its kind.
    pub kind: Kind,
    own: Option<TableSpec>,
    chosen: Option<String>,
    others: Vec<&'static str>,
}

/// Whose table it is.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// "platform = \"feed\"".
    pub of: String,
    /// "platform = \"imap\"".
    pub this: String,
}

impl Layout {
    /// The tables for a kind, with the platform or engine that the unit chose.
    pub fn new(kind: Kind, chosen: Option<&str>, registry: &Registry) -> Self {
        let (own, others): (_, Vec<&'static str>) = match kind {
            Kind::Connector => (
                chosen
                    .and_then(|name| registry.platform(name))
                    .map(|view| (view.name, view.keys, view.summary)),
                registry.platforms.iter().map(|view| view.name).collect(),
            ),
            Kind::Engine => (
                chosen
                    .and_then(|name| registry.engine(name))
                    .map(|view| (view.name, view.keys, view.summary)),
                registry.engines.iter().map(|view| view.name).collect(),
            ),
            Kind::Channel => (
                chosen
                    .and_then(|name| registry.channel(name))
                    .map(|view| (view.name, view.keys, view.summary)),
                registry.channels.iter().map(|view| view.name).collect(),
            ),
            _ => (None, Vec::new()),
        };
        let own = own.map(|(name, keys, doc)| TableSpec::new(name, keys, doc));
        Self { kind, own, chosen: chosen.map(str::to_owned), others }
    }

    /// The key that chooses the own table.
    pub fn selector(kind: Kind) -> Option<(&'static str, &'static str)> {
        match kind {
            Kind::Connector => Some(("connector", "platform")),
            Kind::Engine => Some(("engine", "engine")),
            Kind::Channel => Some(("channel", "channel")),
            _ => None,
        }
    }

    /// All tables; the one with the selector comes before the one it selects.
    pub fn tables(&self) -> impl Iterator<Item = &TableSpec> + Clone {
        let kind = self.kind;
        let common = common::TABLES.iter().filter(move |spec| common::has(kind, spec));
        kinds::spec(kind).tables.iter().chain(&self.own).chain(common)
    }

    /// A table by its name.
    pub fn table(&self, name: &str) -> Option<&TableSpec> {
        self.tables().find(|spec| spec.name == name)
    }

    /// The platform's or engine's own table.
    pub fn own(&self) -> Option<&TableSpec> {
        self.own.as_ref()
    }

    /// The unit's platform or engine is not known, so a table that could be its own is let be.
    pub fn may_be_own(&self, name: &str) -> bool {
        self.own.is_none() && (self.others.contains(&name) || self.chosen.as_deref() == Some(name))
    }

    /// The table is another platform's or engine's own.
    pub fn foreign(&self, name: &str) -> Option<Foreign> {
        let (_, key) = Self::selector(self.kind)?;
        let own = self.own.as_ref()?;
        let of = self.others.iter().find(|other| **other == name)?;
        Some(Foreign { of: format!("{key} = \"{of}\""), this: format!("{key} = \"{}\"", own.name) })
    }
}
