//! `workagent plan`: the plans that ran, how they differ, and the way back to one.

mod diff;
mod list;
mod show;
#[cfg(test)]
mod tests;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::reload;
use crate::control::wire::units::ReloadView;
use crate::daemon::exit;
use crate::daemon::paths::Paths;
use crate::daemon::plans::{KeptPlan, PlanError, PlanStore};

/// `workagent plan …`
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(subcommand)]
    command: Option<PlanCommand>,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    /// List the plans that are kept, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the units of a plan, or the whole text of one of them
    Show {
        /// The generation (default: the one that runs)
        #[arg(value_name = "GENERATION")]
        generation: Option<String>,
        /// Only this unit, with the place that each key comes from
        unit: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare two plans unit by unit (default: the one that runs with what the unit files say now)
    Diff {
        /// The generation to begin from (default: the one that runs)
        from: Option<i64>,
        /// The generation to compare it with (default: what the unit files say now)
        to: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Go back to an earlier plan and stay there, whatever the unit files say
    Rollback {
        /// The generation (default: the one before the one that runs)
        generation: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Follow the unit files again
    Unpin {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `plan rollback --json`, `plan unpin --json`.
#[derive(Debug, Serialize)]
struct PinView {
    /// The generation that is pinned now, if one is.
    pinned: Option<i64>,
    /// What the daemon made of it; nothing without a daemon.
    reload: Option<ReloadView>,
}

/// Runs the command.
pub async fn command(args: PlanArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paths = context.paths()?;
    let store = PlanStore::open(paths.plans());
    match args.command.unwrap_or(PlanCommand::List { json: false }) {
        PlanCommand::List { json } => list::command(&store, json, context),
        PlanCommand::Show { generation, unit, json } => {
            // A word that is no number is a unit of the plan that runs.
            let (generation, unit) = match generation.map(|word| word.parse::<i64>().map_err(|_| word)) {
                Some(Ok(number)) => (Some(number), unit),
                Some(Err(word)) if unit.is_none() => (None, Some(word)),
                Some(Err(word)) => return Err(CliError::usage(format!("`{word}` is no generation"))),
                None => (None, unit),
            };
            let plan = generation.map_or_else(|| current(&store), |number| get(&store, number))?;
            show::command(&plan, unit.as_deref(), json, context)
        }
        PlanCommand::Diff { from, to, json } => {
            let from = from.map_or_else(|| current(&store), |number| get(&store, number))?;
            let to = to.map(|number| get(&store, number)).transpose()?;
            diff::command(&from, to.as_ref(), &paths, json, context)
        }
        PlanCommand::Rollback { generation, json } => {
            let generation = generation.map_or_else(|| before(&store), Ok)?;
            store.pin(generation).map_err(plan_error)?;
            told(&format!("pinned to generation {generation}"), Some(generation), &paths, json, context).await
        }
        PlanCommand::Unpin { json } => {
            let was = store.pinned();
            store.unpin().map_err(plan_error)?;
            let done = was.map_or_else(
                || "no plan was pinned".to_owned(),
                |was| format!("no longer pinned to generation {was}"),
            );
            told(&done, None, &paths, json, context).await
        }
    }
}

/// A daemon takes it at once; without one it counts at the next start.
async fn told(
    done: &str,
    pinned: Option<i64>,
    paths: &Paths,
    json: bool,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let reload = match Backend::running(paths).await? {
        Some(backend) => Some(backend.post::<(), ReloadView>("/v1/reload?dry_run=false", &()).await?),
        None => None,
    };
    let text = if json {
        pretty(&PinView { pinned, reload })
    } else {
        let then = match &reload {
            Some(view) => reload::shown(view, context.paint(), context.width()),
            None => "the daemon is not running; this counts when it starts\n".to_owned(),
        };
        format!("{done}\n{then}")
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// The plan that runs, or ran last: the pinned one, else the newest.
fn current(store: &PlanStore) -> Result<KeptPlan, CliError> {
    let pinned = store.pinned().and_then(|number| store.get(number).ok());
    let newest = || {
        let (heads, _) = store.list();
        heads.last().and_then(|head| store.get(head.generation).ok())
    };
    pinned.or_else(newest).ok_or_else(none_kept)
}

/// The generation before the one that runs.
fn before(store: &PlanStore) -> Result<i64, CliError> {
    let current = current(store)?.generation;
    let (heads, _) = store.list();
    let earlier = heads.iter().rev().map(|head| head.generation).find(|number| *number < current);
    earlier.ok_or_else(|| {
        CliError::usage(format!("no plan is kept from before generation {current}"))
            .hint("workagent plan list shows what is kept")
    })
}

fn get(store: &PlanStore, generation: i64) -> Result<KeptPlan, CliError> {
    store.get(generation).map_err(plan_error)
}

fn none_kept() -> CliError {
    CliError::new(exit::FAILURE, "no plan is kept yet")
        .hint("the daemon keeps one when it starts: workagent run")
}

fn plan_error(error: PlanError) -> CliError {
    match error {
        PlanError::NoSuch { generation, .. } => {
            CliError::usage(format!("no plan is kept of generation {generation}"))
                .hint("workagent plan list shows what is kept")
        }
        error => CliError::doing("read the kept plans", &error),
    }
}
