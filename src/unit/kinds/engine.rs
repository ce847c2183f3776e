//! `NAME.engine.toml`: one configured executor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::diag::Finding;
use crate::unit::check::{bad_value, missing_key, plain_http};
use crate::unit::kinds::{account, money, restart, sandbox};
use crate::unit::plan::{EngineUnit, EnvUnit};
use crate::unit::registry::Registry;
use crate::unit::schema::{KeySpec, KindSpec, TableSpec, ValueType};
use crate::unit::typed::Typed;

/// Its tables, without the engine's own.
pub(crate) const SPEC: KindSpec = KindSpec {
    tables: &[
        TableSpec::new("engine", ENGINE, "Which engine, and the limits of its runs."),
        money::ENGINE_BUDGET,
        money::ENGINE_PRICE,
        sandbox::TABLE,
        restart::ENGINE,
    ],
    enabled: true,
    doc: "One configured executor.",
};

const DAY: ValueType = ValueType::Duration { min_s: 1, max_s: 86_400 };

const ENGINE: &[KeySpec] = &[
    KeySpec::new("engine", ValueType::Text, "The engine, which also names the unit's own table").required(),
    KeySpec::new("model", ValueType::Text, "The model asked for, where the engine has models").specifiers(),
    KeySpec::new("env", ValueType::Units("env"), "Env units whose environment its children get, in order"),
    KeySpec::new(
        "path",
        ValueType::List,
        "Absolute directories in front of the PATH of its programs, and of theirs: a service's own PATH is short, and what          a program starts (node, git) is looked for there too",
    )
    .specifiers(),
    KeySpec::new(
        "account",
        ValueType::Text,
        "Whose login and quota it uses. Engines of one account rest together when a limit of its plan is reached, and \
         together run no more at once than the one of them with the largest `concurrency`. By default engines that \
         start the same program with the same login, or ask the same server with the same key, are of one account",
    )
    .specifiers(),
    KeySpec::new("concurrency", ValueType::Integer { min: 1, max: 64 }, "Runs at once").default("1"),
    KeySpec::new(
        "runs_per_minute",
        ValueType::Integer { min: 1, max: 6000 },
        "Runs begun within any minute; more wait their turn",
    ),
    KeySpec::new("timeout", DAY, "Time for one run in all").default("\"10m\""),
    KeySpec::new("idle_timeout", DAY, "Time between two signs of life").default("\"2m\""),
    KeySpec::new("first_event_timeout", DAY, "Time until the first sign of life").default("\"2m\""),
];

/// What goes over single keys: an engine with models must be told which one, a price is whole, paths are
/// absolute.
pub(crate) fn check(typed: &Typed, registry: &Registry) -> Vec<Finding> {
    let price = money::problem(typed).and_then(|(key, why)| {
        let span = typed.spans(money::PRICE, key)?.value;
        Some(bad_value::finding(&format!("{}.{key}", money::PRICE), span, why))
    });
    let paths = sandbox::problem(typed).and_then(|(key, why)| {
        let span = typed.spans(sandbox::NAME, key)?.value;
        Some(bad_value::finding(&format!("{}.{key}", sandbox::NAME), span, &why))
    });
    let relative = typed
        .settings("engine")
        .list("path")
        .iter()
        .zip(typed.spans("engine", "path").map(|spans| spans.items.as_slice()).unwrap_or_default());
    let relative = relative
        .filter(|(dir, _)| !Path::new(dir.as_str()).is_absolute() || dir.contains(':'))
        .map(|(dir, span)| {
            let why = match dir.contains(':') {
                // A PATH joined by `:` would be looked for as one directory.
                true => format!("`{dir}` holds several directories; write each as one of the list"),
                false => format!("`{dir}` is no absolute path; `%h` stands for your home directory"),
            };
            bad_value::finding("engine.path", *span, &why)
        });
    let paths = paths.into_iter().chain(relative);
    model(typed, registry).into_iter().chain(price).chain(paths).chain(plain_http(typed, registry)).collect()
}

/// Text of cases would cross a network in the open. With a key it is an error, which the engine itself tells.
fn plain_http(typed: &Typed, registry: &Registry) -> Option<Finding> {
    let view = registry.engine(typed.settings("engine").text("engine")?)?;
    let own = typed.settings(view.name);
    let url = url::Url::parse(own.text("base_url")?).ok()?;
    let open = url.scheme() == "http" && !(view.is_local)(own) && own.secret("key").is_none();
    let span = open.then(|| typed.spans(view.name, "base_url")).flatten()?.value;
    Some(plain_http::finding(&format!("{}.base_url", view.name), span))
}

fn model(typed: &Typed, registry: &Registry) -> Option<Finding> {
    let own = typed.settings("engine");
    let view = registry.engine(own.text("engine")?)?;
    if !view.needs_model || own.text("model").is_some_and(|model| !model.is_empty()) {
        return None;
    }
    let spec = ENGINE.iter().find(|spec| spec.name == "model")?;
    let why = format!("`{}` has models and no default among them", view.name);
    Some(missing_key::finding("engine", spec, typed.header("engine")?, &why))
}

/// The unit of the plan, from checked values; `envs` are the active env units.
pub(crate) fn build(
    typed: &Typed,
    registry: &Registry,
    envs: &BTreeMap<String, Arc<EnvUnit>>,
) -> Option<EngineUnit> {
    let own = typed.settings("engine");
    let view = registry.engine(own.text("engine")?)?;
    let settings = typed.settings(view.name).clone();
    let span = |key| own.duration(key).unwrap_or(Duration::from_secs(120));
    let env: Vec<Arc<EnvUnit>> = own.list("env").iter().filter_map(|name| envs.get(name).cloned()).collect();
    let account = own.text("account").filter(|account| !account.is_empty()).map(str::to_owned);
    let account = account.unwrap_or_else(|| account::derived(view.name, &typed.name.name, &settings, &env));
    Some(EngineUnit {
        name: typed.name.name.clone(),
        description: typed.description(),
        engine: view.name.to_owned(),
        model: own.text("model").unwrap_or_default().to_owned(),
        env,
        path: own.list("path").iter().map(PathBuf::from).collect(),
        account,
        concurrency: own.integer("concurrency").and_then(|number| usize::try_from(number).ok()).unwrap_or(1),
        runs_per_minute: own.integer("runs_per_minute").and_then(|number| u32::try_from(number).ok()),
        timeout: span("timeout"),
        idle_timeout: span("idle_timeout"),
        first_event_timeout: span("first_event_timeout"),
        local: (view.is_local)(&settings),
        daily_runs: typed
            .settings(money::BUDGET)
            .integer("daily_runs")
            .and_then(|number| u32::try_from(number).ok()),
        money: money::engine(typed, view),
        sandbox: sandbox::build(typed.settings(sandbox::NAME), view.name),
        exit_attempts: restart::exit_attempts(typed.settings(restart::NAME)),
        settings,
    })
}
