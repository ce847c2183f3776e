//! Edges between units.

use super::{Place, UnitName};

/// One edge of the unit graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The unit that declares it (with `before`: the other way round).
    pub from: UnitName,
    /// The unit it names.
    pub to: UnitName,
    /// What it means.
    pub kind: EdgeKind,
    /// Where it is declared.
    pub place: Place,
}

/// What an edge means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Good to have; ordered after it.
    Wants,
    /// Cannot do without; ordered after it.
    Requires,
    /// Stops and restarts with it.
    PartOf,
    /// Not both.
    Conflicts,
    /// Ordered after it.
    After,
    /// Ordered before it.
    Before,
    /// It is kicked when this one fails.
    OnFailure,
    /// This one belongs to it, a target.
    WantedBy,
    /// A key's value names it: route → engine, engine → env. Ordered after it.
    Uses,
}

impl EdgeKind {
    /// The stable word; but for `uses` also the key in `[unit]` or `[install]`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wants => "wants",
            Self::Requires => "requires",
            Self::PartOf => "part_of",
            Self::Conflicts => "conflicts",
            Self::After => "after",
            Self::Before => "before",
            Self::OnFailure => "on_failure",
            Self::WantedBy => "wanted_by",
            Self::Uses => "uses",
        }
    }
}
