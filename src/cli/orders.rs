//! `workagent start`, `stop`, `restart`, `reset-failed`, `isolate`: orders to units of the running daemon.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::reload;
use super::units::names;
use crate::control::health::Health;
use crate::control::wire::StatusView;
use crate::control::wire::units::{ReloadView, UnitOrder};
use crate::daemon::exit;

/// `workagent start UNIT…` and its like.
#[derive(Debug, Args)]
pub struct OrderArgs {
    /// The units: `inbox.connector`, or `inbox` if only one unit has the name
    #[arg(required = true, value_name = "UNIT")]
    units: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `workagent reset-failed [UNIT…]`
#[derive(Debug, Args)]
pub struct ResetArgs {
    /// The units; all that fail, if none is given
    #[arg(value_name = "UNIT")]
    units: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `workagent isolate TARGET`
#[derive(Debug, Args)]
pub struct IsolateArgs {
    /// The target whose units alone go on; `default` takes that back
    target: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Start, stop, restart.
pub async fn order(order: UnitOrder, args: OrderArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::daemon(context).await?;
    let status: StatusView = backend.get("/v1/status").await?;
    let units = args.units.iter().map(|word| unit_of(&status, word)).collect::<Result<Vec<_>, _>>()?;
    tell(&backend, order, &units, args.json, context).await
}

/// Forget failures.
pub async fn reset(args: ResetArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::daemon(context).await?;
    let status: StatusView = backend.get("/v1/status").await?;
    let units = if args.units.is_empty() {
        let failing = |health| matches!(health, Health::Failing | Health::Retrying | Health::Broken);
        let failing =
            status.units.iter().filter(|unit| failing(unit.health(status.now)) && unit.failures_in_a_row > 0);
        failing.map(|unit| unit.unit.clone()).collect()
    } else {
        args.units.iter().map(|word| unit_of(&status, word)).collect::<Result<Vec<_>, _>>()?
    };
    if units.is_empty() {
        let text = if args.json { "[]\n" } else { "no unit fails\n" };
        context.out.write_all(text.as_bytes())?;
        return Ok(exit::OK);
    }
    tell(&backend, UnitOrder::ResetFailed, &units, args.json, context).await
}

/// Only the units of a target.
pub async fn isolate(args: IsolateArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::daemon(context).await?;
    let target = args.target.strip_suffix(".target").unwrap_or(&args.target);
    let view: ReloadView = backend.post(&format!("/v1/isolate/{}", in_path(target)?), &()).await?;
    let text = if args.json { pretty(&view) } else { reload::shown(&view, context.paint(), context.width()) };
    context.out.write_all(text.as_bytes())?;
    Ok(done(&view))
}

/// The full name of a unit that the daemon knows.
pub(super) fn unit_of(status: &StatusView, word: &str) -> Result<String, CliError> {
    names::meant(word, status.units.iter().map(|unit| unit.unit.as_str()))
}

async fn tell(
    backend: &Backend,
    order: UnitOrder,
    units: &[String],
    json: bool,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let mut views = Vec::new();
    for unit in units {
        let path = format!("/v1/units/{}/{}", in_path(unit)?, order.word());
        let view: ReloadView = backend.post(&path, &()).await?;
        if !json {
            // Said at once: a later one that fails must not hide what became of this one.
            let text = reload::shown(&view, context.paint(), context.width());
            context.out.write_all(text.as_bytes())?;
        }
        views.push(view);
    }
    if json {
        context.out.write_all(pretty(&views).as_bytes())?;
    }
    Ok(views.iter().map(done).max().unwrap_or(exit::OK))
}

/// An order that finds everything as it should be is carried out.
fn done(view: &ReloadView) -> u8 {
    match view.outcome.exit() {
        exit::NOT_WELL => exit::OK,
        code => code,
    }
}

/// A name as part of a request's path.
fn in_path(name: &str) -> Result<&str, CliError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    if !name.is_empty() && name.chars().all(fits) {
        return Ok(name);
    }
    Err(CliError::usage(format!("`{}` is no name of a unit", super::look::line(name, 80))))
}
