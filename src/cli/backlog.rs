//! `workagent backlog`: what is there already where a connector reads, and how much of it each setting of `backlog` would
//! hand to engines.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, line};
use super::units::names;
use super::validate;
use crate::bundle::backlog::{Counted, count};
use crate::catalog::CATALOG;
use crate::daemon::exit;
use crate::model::class::{PortError, chain};
use crate::secret::SecretError;
use crate::unit::plan::{ConnectorUnit, Plan, Standing};

/// The settings that are shown beside `new` and `all`.
const AGES: [(&str, Duration); 3] = [
    ("1d", Duration::from_secs(24 * 3600)),
    ("7d", Duration::from_secs(7 * 24 * 3600)),
    ("30d", Duration::from_secs(30 * 24 * 3600)),
];

/// `workagent backlog`
#[derive(Debug, Args)]
pub struct BacklogArgs {
    /// Connectors, also those that are off; none: all that are on
    connectors: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One connector, as an object of `--json`.
#[derive(Debug, Serialize)]
struct Row {
    unit: String,
    /// By the setting of `backlog`: how many items would be worked on.
    backlog: Vec<(&'static str, u64)>,
    /// Cases that all of them would make.
    cases: u64,
    undated: u64,
    passed_over: u64,
    /// Not all was counted: there is more.
    more: bool,
    error: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Runs the command.
pub fn command(args: BacklogArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paths = context.paths()?;
    let units = wanted(&args.connectors, context)?;
    let plan = super::analyze::compiled(context).plan;
    let threads = super::threads(1)?;
    let scrubber = context.scrubber.clone();
    let scratch = tempfile::Builder::new().prefix("workagent-backlog-").tempdir()?;
    let rows: Vec<Row> = threads.block_on(async {
        let mut scene = validate::probe::scene(context, &paths, &plan, &scrubber).await;
        // Some connectors keep what they saw there; a count must not become their memory.
        scene.state_dir = scratch.path().to_owned();
        let mut rows = Vec::new();
        for unit in &units {
            let counted = match scene.connector(unit) {
                Ok(connector) => count(&*connector, context.clock.now(), &AGES.map(|(_, age)| age)).await,
                Err(error) => Err(error),
            };
            let error = counted.as_ref().err().map(|error| scrubber.scrub(&chain(error)).into_owned());
            let hint = counted.as_ref().err().and_then(hint);
            rows.push(Row { hint, ..row(unit, counted.unwrap_or_default(), error) });
        }
        rows
    });
    let text = if args.json { pretty(&rows) } else { shown(&rows, context.paint(), context.width()) };
    context.page(&text);
    Ok(if rows.iter().any(|row| row.error.is_some()) { exit::FAILURE } else { exit::OK })
}

/// The connectors that are meant. One that is off is compiled as if it were on: it is asked about before it is.
fn wanted(given: &[String], context: &Context<'_>) -> Result<Vec<Arc<ConnectorUnit>>, CliError> {
    let registry = CATALOG.registry();
    let mut loaded = crate::unit::load(&context.search(), registry.shipped);
    let env = validate::compile_env(&context.environment);
    let plan = crate::unit::compile(&loaded, &registry, &env).plan;
    if given.is_empty() {
        let on = |standing: &Standing<ConnectorUnit>| match standing {
            Standing::Active(unit) => Some(Arc::clone(unit)),
            Standing::Off(_) => None,
        };
        return Ok(plan.connectors.values().filter_map(on).collect());
    }
    let known: Vec<String> = plan.connectors.keys().map(|name| format!("{name}.connector")).collect();
    let mut names = Vec::new();
    for word in given {
        let full = names::meant(word, known.iter().map(String::as_str))?;
        names.push(full.trim_end_matches(".connector").to_owned());
    }
    for name in &names {
        let file = format!("/backlog/{name}.connector.d/on.toml");
        loaded.put(Path::new(&file), "[install]\nenabled = true\n".into());
    }
    let plan = crate::unit::compile(&loaded, &registry, &env).plan;
    names.iter().map(|name| active(&plan, name)).collect()
}

fn active(plan: &Plan, name: &str) -> Result<Arc<ConnectorUnit>, CliError> {
    match plan.connectors.get(name) {
        Some(Standing::Active(unit)) => Ok(Arc::clone(unit)),
        Some(Standing::Off(off)) => {
            let message = format!("{name}.connector cannot be asked: {}", off.reason);
            Err(CliError::new(exit::FAILURE, message).hint("workagent validate shows the place"))
        }
        None => Err(CliError::usage(format!("there is no connector {}", line(name, 80)))),
    }
}

fn row(unit: &ConnectorUnit, counted: Counted, error: Option<String>) -> Row {
    let ages = AGES.iter().zip(&counted.younger).map(|((word, _), count)| (*word, *count));
    Row {
        unit: format!("{}.connector", unit.name),
        backlog: [("new", 0)].into_iter().chain(ages).chain([("all", counted.items)]).collect(),
        cases: counted.cases,
        undated: counted.undated,
        passed_over: counted.passed_over,
        more: error.is_none() && !counted.whole,
        error,
        hint: None,
    }
}

/// What to type about a secret that is not there.
fn hint(error: &PortError) -> Option<String> {
    let mut cause = error.source.as_ref().map(|cause| &**cause as &(dyn std::error::Error + 'static));
    while let Some(found) = cause {
        if let Some(secret) = found.downcast_ref::<SecretError>() {
            return Some(secret.hint());
        }
        cause = found.source();
    }
    None
}

fn shown(rows: &[Row], paint: Paint, width: usize) -> String {
    if rows.is_empty() {
        return "no connector is on; name one that is off to count what it would find\n".to_owned();
    }
    let mut table = Table::new(&["CONNECTOR", "NEW", "1D", "7D", "30D", "ALL", "CASES", "NOT FOR ENGINES"]);
    for row in rows {
        if let Some(error) = &row.error {
            table.row([Cell::from(row.unit.as_str()), Cell::painted("31", "-")]);
            table.note(Cell::painted("31", line(error, 400)));
            if let Some(hint) = &row.hint {
                table.note(format!("hint: {hint}").into());
            }
            continue;
        }
        let more = if row.more { "+" } else { "" };
        let counts = row.backlog.iter().map(|(word, count)| match *word {
            "all" => format!("{count}{more}").into(),
            _ => Cell::from(count.to_string()),
        });
        table.row(
            [Cell::from(row.unit.as_str())]
                .into_iter()
                .chain(counts)
                .chain([format!("{}{more}", row.cases).into(), row.passed_over.to_string().into()]),
        );
        if row.undated > 0 {
            table.note(format!("{} have no date and count as old", row.undated).into());
        }
    }
    let mut out = table.render(paint, width);
    out.push_str(
        "\nItems that backlog = \"new\", \"1d\", … \"all\" would have worked on at the first look.\n",
    );
    if rows.iter().any(|row| row.more) {
        out.push_str("+ there is more; the count was stopped.\n");
    }
    out
}
