//! `workagent env show`: which variables an engine's programs get, and where each comes from. Never a value.

use clap::{Args, Subcommand};
use serde_json::json;

use super::analyze::{compiled, no_such_unit};
use super::backend::service_environment;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{line, table};
use crate::daemon::exit;
use crate::process::env::{Origin, explain};
use crate::unit::plan::{EngineUnit, Standing};

/// `workagent env …`
#[derive(Debug, Args)]
pub struct EnvArgs {
    #[command(subcommand)]
    command: EnvCommand,
}

#[derive(Debug, Subcommand)]
enum EnvCommand {
    /// Show which variables an engine's programs get, and from where; an engine may add its own, such as its home
    Show {
        /// The engine unit: `claude` or `claude.engine`
        engine: String,
        /// In cases of this route, which may add to it
        #[arg(long, value_name = "ROUTE")]
        route: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command. Under a daemon or as a service it is that environment that counts.
///
/// # Errors
/// There is no such engine, or it takes no part.
pub async fn command(args: EnvArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let EnvCommand::Show { engine, route, json } = args.command;
    let plan = compiled(context).plan;
    let name = engine.strip_suffix(".engine").unwrap_or(&engine);
    let unit = match plan.engines.get(name) {
        Some(Standing::Active(unit)) => unit,
        Some(Standing::Off(off)) => {
            return Err(CliError::usage(format!("{name}.engine takes no part: {}", off.reason)));
        }
        None => {
            let known: Vec<String> = plan.engines.keys().cloned().collect();
            return Err(no_such_unit(name, &known));
        }
    };
    let unit = match route.as_deref().map(|route| route.strip_suffix(".route").unwrap_or(route)) {
        None => EngineUnit::clone(unit),
        Some(route) => match plan.routes.get(route) {
            Some(Standing::Active(route)) => unit.in_route(route),
            Some(Standing::Off(off)) => {
                return Err(CliError::usage(format!("{route}.route takes no part: {}", off.reason)));
            }
            None => return Err(no_such_unit(route, &plan.routes.keys().cloned().collect::<Vec<_>>())),
        },
    };
    let (environment, _) = service_environment(context, &context.paths()?).await;
    let origins = explain(&environment, &unit.child_env());
    let text = if json {
        let rows = origins.iter().map(|(name, origin)| json!({"name": name, "origin": origin.describe()}));
        pretty(&json!({"version": 1, "engine": unit.name, "variables": rows.collect::<Vec<_>>()}))
    } else {
        let head = ["VARIABLE", "FROM"].map(str::to_owned).to_vec();
        let row = |(name, origin): (&String, &Origin)| vec![line(name, 60), line(&origin.describe(), 200)];
        table(&std::iter::once(head).chain(origins.iter().map(row)).collect::<Vec<_>>())
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}
