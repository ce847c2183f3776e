//! `NAME.runtime.toml`: limits of a runtime, or switching it off.

use crate::unit::plan::RuntimeUnit;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// The runtimes that a unit can name.
pub const RUNTIMES: [&str; 9] =
    ["sync", "ingest", "worker", "review", "outbound", "pending", "scheduler", "rotation", "onboarding"];

/// The one without a driver of its own: it is a driver for each connector.
const UNDRIVEN: [&str; 1] = ["sync"];

/// The runtime of a unit is driven, so that it can fail and be kicked.
pub(crate) fn is_driven(typed: &Typed) -> bool {
    typed.settings("runtime").text("runtime").is_some_and(|word| !UNDRIVEN.contains(&word))
}

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[TableSpec::new("runtime", RUNTIME, "Which runtime.")],
    enabled: true,
    doc: "A runtime of the daemon.",
};

const RUNTIME: &[KeySpec] =
    &[KeySpec::new("runtime", ValueType::Text, "The runtime's word: sync, worker, outbound…").required()];

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> RuntimeUnit {
    RuntimeUnit {
        name: typed.name.name.clone(),
        runtime: typed.settings("runtime").text("runtime").unwrap_or_default().to_owned(),
    }
}
