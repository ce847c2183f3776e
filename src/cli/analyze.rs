//! `workagent analyze`: what can be told of the units without running them, in the manner of systemd-analyze.

mod calendar;
mod chain;
mod condition;
mod dot;
mod graph;
mod layout;
mod paths;
mod security;
mod svg;

use clap::{Args, Subcommand};

use super::context::Context;
use super::error::CliError;
use super::validate::{self, ValidateArgs};
use crate::catalog::CATALOG;
use crate::unit::{self, Compiled};

/// `workagent analyze …`
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    #[command(subcommand)]
    command: AnalyzeCommand,
}

#[derive(Debug, Subcommand)]
enum AnalyzeCommand {
    /// Check all unit files; the same as `workagent validate`
    Verify(ValidateArgs),
    /// Draw the graph of the units
    Dot(dot::DotArgs),
    /// Show what a unit starts after, and when that was up
    CriticalChain(chain::ChainArgs),
    /// Show when calendar expressions come round
    Calendar(calendar::CalendarArgs),
    /// Show each condition and whether it holds
    Condition(condition::ConditionArgs),
    /// Show where unit files are looked for
    UnitPaths(paths::PathsArgs),
    /// Judge how much each connector and engine is open to, with reasons
    Security(security::SecurityArgs),
}

/// Runs the command.
///
/// # Errors
/// See the commands.
pub fn command(args: AnalyzeArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    match args.command {
        AnalyzeCommand::Verify(args) => validate::command(args, context),
        AnalyzeCommand::Dot(args) => dot::command(&args, context),
        AnalyzeCommand::CriticalChain(args) => chain::command(&args, context),
        AnalyzeCommand::Calendar(args) => calendar::command(&args, context),
        AnalyzeCommand::Condition(args) => condition::command(&args, context),
        AnalyzeCommand::UnitPaths(args) => paths::command(&args, context),
        AnalyzeCommand::Security(args) => security::command(&args, context),
    }
}

/// The units as `validate` and the daemon compile them.
pub(super) fn compiled(context: &Context<'_>) -> Compiled {
    let registry = CATALOG.registry();
    let loaded = unit::load(&context.search(), registry.shipped);
    unit::compile(&loaded, &registry, &validate::compile_env(&context.environment))
}

/// `inbox` means `inbox.connector` too.
fn is_meant(given: &str, full: &str) -> bool {
    given == full || full.rsplit_once('.').is_some_and(|(name, _)| name == given)
}

/// No unit has this name; like ones are named.
pub(super) fn no_such_unit(wanted: &str, known: &[String]) -> CliError {
    let stem = wanted.split('.').next().unwrap_or(wanted);
    let mut near: Vec<&str> =
        known.iter().map(String::as_str).filter(|name| !stem.is_empty() && name.contains(stem)).collect();
    near.truncate(3);
    let error = CliError::usage(format!("there is no unit {}", super::look::line(wanted, 80)));
    if near.is_empty() { error } else { error.hint(format!("there is {}", near.join(", "))) }
}
