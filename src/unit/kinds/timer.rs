//! `NAME.timer.toml`: makes a case when its time comes.

use crate::unit::plan::{Schedule, TimerUnit};
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[TableSpec::new("timer", TIMER, "The case that is made each time.")],
    enabled: true,
    doc: "Makes cases by the clock.",
};

const TIMER: &[KeySpec] = &[
    KeySpec::new("title", ValueType::Text, "Title of the case").required(),
    KeySpec::new("text", ValueType::Text, "What is to be done"),
    KeySpec::new("labels", ValueType::List, "Labels of the case, for routes"),
];

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> TimerUnit {
    let own = typed.settings("timer");
    TimerUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        schedule: Schedule { every: std::time::Duration::from_secs(86_400) },
        title: own.text("title").unwrap_or_default().to_owned(),
        text: own.text("text").unwrap_or_default().to_owned(),
        labels: own.list("labels").to_vec(),
    }
}
