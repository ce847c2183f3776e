//! `NAME.secret.toml`: where a secret comes from and when it is replaced.

use crate::unit::plan::SecretUnit;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[TableSpec::new("secret", SECRET, "Where the value is kept; never the value itself.")],
    enabled: true,
    doc: "Where a secret comes from and when it is replaced.",
};

const SECRET: &[KeySpec] = &[
    KeySpec::new("backend", ValueType::Choice(&["file"]), "Which store keeps it").default("\"file\""),
    KeySpec::new("entry", ValueType::Text, "Its name in the store; the unit's own name where it is not said")
        .specifiers(),
    KeySpec::new(
        "rotate_every",
        ValueType::Duration { min_s: 3600, max_s: 10 * 366 * 86_400 },
        "How often it is to be replaced",
    ),
];

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> SecretUnit {
    let own = typed.settings("secret");
    SecretUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        backend: own.text("backend").unwrap_or_default().to_owned(),
        entry: own.text("entry").unwrap_or(&typed.name.name).to_owned(),
        rotate_every: own.duration("rotate_every"),
    }
}
