//! What all kinds have: `[unit]` and `[install]`.

use super::condition;
use crate::unit::plan::{EdgeKind, Kind};
use crate::unit::schema::{KeySpec, TableSpec, ValueType};

/// The tables of all kinds.
pub(crate) const TABLES: &[TableSpec] = &[
    TableSpec::new("unit", UNIT, "What the unit is, and what it has to do with others."),
    condition::CONDITION,
    condition::ASSERT,
    TableSpec::new("install", INSTALL, "Whether the unit takes part."),
];

/// A list of full unit names, `inbox.connector`: the type of the keys that declare edges.
pub(crate) const ANY_UNIT: &str = "unit";

const UNIT: &[KeySpec] = &[
    KeySpec::new("description", ValueType::Text, "One line for people").specifiers(),
    KeySpec::new("documentation", ValueType::List, "Where to read more, links or file names"),
    KeySpec::new("wants", ValueType::Units(ANY_UNIT), "Units that are good to have; starts after them"),
    KeySpec::new("requires", ValueType::Units(ANY_UNIT), "Units it cannot do without; starts after them"),
    KeySpec::new("part_of", ValueType::Units(ANY_UNIT), "Units with which it is stopped and restarted"),
    KeySpec::new("conflicts", ValueType::Units(ANY_UNIT), "Units that must not be on at the same time"),
    KeySpec::new("after", ValueType::Units(ANY_UNIT), "Units it starts after, if they are on"),
    KeySpec::new("before", ValueType::Units(ANY_UNIT), "Units it starts before, if they are on"),
    KeySpec::new("on_failure", ValueType::Units(ANY_UNIT), "Units that are kicked when it fails"),
];

const INSTALL: &[KeySpec] = &[
    KeySpec::new("enabled", ValueType::Bool, "Takes part; connectors are off until they say so"),
    KeySpec::new("masked", ValueType::Bool, "Off whatever else is said, and not checked").default("false"),
    KeySpec::new("wanted_by", ValueType::Units("target"), "Targets that it belongs to"),
];

/// A kind has this table of all kinds. The daemon's own unit has no conditions: it is the daemon that looks at them.
pub(crate) fn has(kind: Kind, table: &TableSpec) -> bool {
    kind != Kind::Daemon || !matches!(table.name, "condition" | "assert")
}

/// The edge that a key of `[unit]` declares.
pub(crate) fn edge(key: &str) -> Option<EdgeKind> {
    Some(match key {
        "wants" => EdgeKind::Wants,
        "requires" => EdgeKind::Requires,
        "part_of" => EdgeKind::PartOf,
        "conflicts" => EdgeKind::Conflicts,
        "after" => EdgeKind::After,
        "before" => EdgeKind::Before,
        "on_failure" => EdgeKind::OnFailure,
        "wanted_by" => EdgeKind::WantedBy,
        _ => return None,
    })
}
