//! `NAME.route.toml`: a rule from case to engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diag::Finding;
use crate::model::language;
use crate::model::run::RunFailure;
use crate::model::trust::Trust;
use crate::unit::check::bad_value;
use crate::unit::instruction;
use crate::unit::plan::{EnvUnit, RouteMatch, RouteUnit};
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[
        TableSpec::new("route", ROUTE, "Where cases go."),
        TableSpec::new("match", MATCH, "Which cases it takes; what is not said matches all."),
    ],
    enabled: true,
    doc: "A rule from case to engine; the first match wins.",
};

const ROUTE: &[KeySpec] = &[
    KeySpec::new("engines", ValueType::Units("engine"), "Engine units in order of choice").required(),
    KeySpec::new(
        "priority",
        ValueType::Integer { min: -1_000_000, max: 1_000_000 },
        "Higher first, then by name",
    )
    .default("0"),
    KeySpec::new(
        "on",
        ValueType::Choices(&RunFailure::WORDS),
        "Failures on which the next engine is taken; none by default",
    ),
    KeySpec::new(
        "prompt",
        ValueType::Text,
        "The instruction for the engine, a template in the syntax of Jinja. Names: case, connector, kind, route, engine, \
         attempt, messages (how many), labels (a list), trust, language, date, weekday. What strangers wrote is not among \
         them: it comes behind marks, after the instruction",
    ),
    KeySpec::new(
        "env",
        ValueType::Units("env"),
        "Env units for the engine's programs in cases of this route, after the engine's own. They cannot choose a login: \
         another account is another engine",
    ),
    KeySpec::new("private", ValueType::Bool, "Only engines that stay on this machine").default("false"),
];

const MATCH: &[KeySpec] = &[
    KeySpec::new("connector", ValueType::List, "Names of connector units, or globs").specifiers(),
    KeySpec::new("kind", ValueType::List, "Kinds of items, or globs"),
    KeySpec::new("labels", ValueType::List, "Labels, or globs; one of them is enough"),
    KeySpec::new("author", ValueType::List, "Addresses of authors, or globs; one of them is enough"),
    KeySpec::new(
        "trust",
        ValueType::Choices(&Trust::WORDS),
        "How well the author is known: `own` (listed in `[trust] own` of the daemon's unit, or a timer), `known` \
         (something was sent to the address before, or it is listed in `[trust] known`), `stranger` (anybody else). An \
         address is what the sender claims",
    ),
    KeySpec::new(
        "language",
        ValueType::Choices(&language::WORDS),
        "Languages of the text, a guess by its letters and small words; a text of which it is not sure has none of them",
    ),
    KeySpec::new("size_min", ValueType::Size, "Smallest text of a case"),
    KeySpec::new("size_max", ValueType::Size, "Largest text of a case"),
    KeySpec::new(
        "hours",
        ValueType::Windows,
        "Only cases that are routed in these hours; one that no other route takes waits until they begin",
    ),
];

/// What can be said of a route by itself.
pub(crate) fn check(typed: &Typed) -> Option<Finding> {
    let text = typed.settings("route").text("prompt").filter(|text| instruction::is_template(text))?;
    let problem = instruction::problem(text)?;
    Some(bad_value::finding("route.prompt", typed.spans("route", "prompt")?.value, &problem))
}

/// The unit of the plan, from checked values; `envs` are the active env units. Engines that are off stay in the list: the router must see that the first
/// choice is not there, or the next one would take its place unasked.
pub(crate) fn build(typed: &Typed, envs: &BTreeMap<String, Arc<EnvUnit>>) -> RouteUnit {
    let (own, cases) = (typed.settings("route"), typed.settings("match"));
    RouteUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        priority: own.integer("priority").unwrap_or(0),
        engines: own.list("engines").to_vec(),
        on: own.list("on").to_vec(),
        prompt: own.text("prompt").unwrap_or_default().to_owned(),
        env: own.list("env").iter().filter_map(|name| envs.get(name).cloned()).collect(),
        private: own.flag("private"),
        matches: RouteMatch {
            connector: cases.list("connector").to_vec(),
            kind: cases.list("kind").to_vec(),
            labels: cases.list("labels").to_vec(),
            author: cases.list("author").to_vec(),
            trust: cases.list("trust").to_vec(),
            language: cases.list("language").to_vec(),
            size_min: cases.size("size_min"),
            size_max: cases.size("size_max"),
            hours: cases.list("hours").to_vec(),
        },
    }
}
