//! `[condition]` and `[assert]`: what must hold on this machine for a unit to take part.

use crate::diag::{SourceMap, Span};
use crate::unit::graph::off::place;
use crate::unit::plan::{Condition, ConditionTest, Kind, UnitName};
use crate::unit::schema::{KeySpec, TableSpec, Tested, ValueType};
use crate::unit::typed::Typed;
use crate::unit::value::Value;

/// Where one does not hold, the unit is quietly off.
pub(crate) const CONDITION: TableSpec = TableSpec::new(
    "condition",
    KEYS,
    "What must hold for the unit to take part; where it does not, the unit is off. Each key takes one value or a list, and \
     all must hold; `!` in front turns a value round.",
);

/// Where one does not hold, that is an error.
pub(crate) const ASSERT: TableSpec = TableSpec::new(
    "assert",
    KEYS,
    "As `[condition]`, but where one does not hold, that is an error of the unit.",
);

const KEYS: &[KeySpec] = &[
    KeySpec::new("path_exists", ValueType::Tests(Tested::Path), "A file or directory is there"),
    KeySpec::new(
        "command_exists",
        ValueType::Tests(Tested::Text),
        "A program is found under the service's PATH",
    ),
    KeySpec::new("secret_exists", ValueType::Tests(Tested::Text), "The secret store has it"),
    KeySpec::new("env_set", ValueType::Tests(Tested::Text), "The daemon's environment has the variable"),
    KeySpec::new("os", ValueType::Tests(Tested::Word(&["linux", "macos"])), "The operating system"),
    KeySpec::new("host", ValueType::Tests(Tested::Text), "The machine's name, or a glob"),
    KeySpec::new("network", ValueType::Bool, "There is a way out of this machine, or none"),
    KeySpec::new("active", ValueType::Tests(Tested::Unit), "Another unit takes part"),
];

/// All conditions of a unit, in the order of tables and keys.
pub(crate) fn build(typed: &Typed, sources: &SourceMap) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (table, assert) in [("condition", false), ("assert", true)] {
        for spec in KEYS {
            let Some(value) = typed.settings(table).get(spec.name) else { continue };
            let spans = typed.spans(table, spec.name);
            let whole = spans.map_or(Span::file(typed.source), |spans| spans.value);
            let mut add = |test, negated, span| {
                let place = place(span, sources);
                conditions.push(Condition { test, negated, assert, place });
            };
            match value {
                Value::Bool(up) => add(ConditionTest::Network(true), !up, whole),
                Value::List(items) => {
                    for (at, item) in items.iter().enumerate() {
                        let span = spans.and_then(|spans| spans.items.get(at).copied()).unwrap_or(whole);
                        let (negated, bare) =
                            item.strip_prefix('!').map_or((false, item.as_str()), |bare| (true, bare));
                        if let Some(test) = test(spec.name, bare) {
                            add(test, negated, span);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    conditions
}

fn test(key: &str, value: &str) -> Option<ConditionTest> {
    let text = || value.to_owned();
    Some(match key {
        "path_exists" => ConditionTest::PathExists(value.into()),
        "command_exists" => ConditionTest::CommandExists(text()),
        "secret_exists" => ConditionTest::SecretExists(text()),
        "env_set" => ConditionTest::EnvSet(text()),
        "os" => ConditionTest::Os(text()),
        "host" => ConditionTest::Host(text()),
        "active" => {
            let (name, kind) = value.rsplit_once('.')?;
            ConditionTest::Active(UnitName { name: name.to_owned(), kind: Kind::from_word(kind)? })
        }
        _ => return None,
    })
}
