//! `NAME.timer.toml`: makes a case when its time comes.

use super::schedule;
use crate::diag::{Finding, Span};
use crate::model::schedule::words;
use crate::unit::check::{bad_value, never_runs};
use crate::unit::plan::TimerUnit;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[TableSpec::new("timer", TIMER, "The case that is made each time."), schedule::TIMER],
    enabled: true,
    doc: "Makes cases by the clock.",
};

const TIMER: &[KeySpec] = &[
    KeySpec::new(
        "title",
        ValueType::Text,
        "Title of the case; `{{ due }}`, `{{ date }}`, `{{ time }}`, `{{ weekday }}`, `{{ week }}` and `{{ timer }}` are \
         filled in, here and in the text",
    )
    .required(),
    KeySpec::new("text", ValueType::Text, "What is to be done, for the engine"),
    KeySpec::new("labels", ValueType::List, "Labels of the case, for routes"),
];

/// What can be said of a timer by itself.
pub(crate) fn check(typed: &Typed) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in ["title", "text"] {
        let text = typed.settings("timer").text(key).unwrap_or_default();
        if let (Some(word), Some(spans)) = (words::unknown(text), typed.spans("timer", key)) {
            let problem = format!("knows no `{{{{ {} }}}}`", crate::unit::words::shown(word));
            let takes = words::ALL.map(|word| format!("`{{{{ {word} }}}}`")).join(", ");
            findings.push(
                bad_value::finding(&format!("timer.{key}"), spans.value, &problem)
                    .note(format!("it takes {takes}")),
            );
        }
    }
    findings
}

/// A timer that has no time of its own. It may still be there for a failure.
pub(crate) fn without_time(typed: &Typed) -> Option<Finding> {
    let schedule = typed.settings(schedule::NAME);
    let given = |key: &str| typed.spans(schedule::NAME, key).is_some();
    if given("every") || given("calendar") || schedule.flag("at_start") {
        return None;
    }
    let place = typed.header(schedule::NAME).or_else(|| typed.header("timer"));
    Some(never_runs::no_time(place.unwrap_or(Span::file(typed.source))))
}

/// The unit of the plan, from checked values.
pub(crate) fn build(typed: &Typed) -> TimerUnit {
    let own = typed.settings("timer");
    TimerUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        schedule: schedule::build(typed.settings(schedule::NAME)),
        title: own.text("title").unwrap_or_default().to_owned(),
        text: own.text("text").unwrap_or_default().to_owned(),
        labels: own.list("labels").to_vec(),
    }
}
