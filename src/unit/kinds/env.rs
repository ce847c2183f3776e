//! `NAME.env.toml`: environment for child processes only.

use crate::unit::plan::EnvUnit;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[
        TableSpec {
            name: "set",
            keys: &[],
            free: true,
            doc: "Variables and their values: text, `{ secret = \"…\" }` or `{ env = \"…\" }`.",
        },
        TableSpec::new(
            "unset",
            &[KeySpec::new("names", ValueType::List, "Variables to take away, also from the allowlist")],
            "Variables that children do not get.",
        ),
        TableSpec::new(
            "pass",
            &[KeySpec::new(
                "names",
                ValueType::List,
                "Variables to hand through from the daemon's environment",
            )],
            "Variables that children get from the daemon.",
        ),
    ],
    enabled: true,
    doc: "Environment for child processes.",
};

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> EnvUnit {
    EnvUnit {
        path: Vec::new(),
        name: typed.name.name.clone(),
        set: typed.settings("set").map("set").cloned().unwrap_or_default(),
        unset: typed.settings("unset").list("names").to_vec(),
        pass: typed.settings("pass").list("names").to_vec(),
    }
}
