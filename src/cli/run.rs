//! `workagent run`: the daemon in the foreground; `run --once`: one cycle over everything, then its summary.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::backend::assembly_error;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use crate::daemon::assembly::{self, Assembly, Options};
use crate::daemon::exit;
use crate::daemon::findings::FindingLog;
use crate::daemon::logging::{self, LogOptions, LogTarget};
use crate::daemon::run;
use crate::daemon::service::starts::Starts;
use crate::daemon::service_manager::ServiceManager;
use crate::daemon::signals::{Hangup, Signals};
use crate::daemon::unit_source::UnitSource;
use crate::model::cycle::{CycleSummary, RuntimeSummary};
use crate::unit::BUILT_IN;
use crate::unit::plan::LogSettings;

/// `workagent run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Do one cycle over all runtimes, print its summary, and end
    #[arg(long)]
    once: bool,
    /// Print the summary of --once as JSON
    #[arg(long, requires = "once")]
    json: bool,
    /// Rehearse: read and draft as ever, and hold what is approved instead of sending it
    #[arg(long)]
    rehearse: bool,
    /// What to log: a level, or a filter such as info,inbox.connector=debug (default: the daemon unit's)
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// Write the log to this file, which is rotated; for a service manager that keeps none
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// How lines of the log look (default: the daemon unit's)
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    log_format: Option<String>,
}

/// Runs the command. Under launchd, starts in a row are counted, and the last of them ends well.
pub async fn command(args: RunArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if args.once {
        return run_it(args, context).await;
    }
    let state = context.global.state_dir.clone();
    let state = context.paths().map(|paths| paths.state).ok().or(state).unwrap_or_default();
    let Some(mut starts) = Starts::counted(&context.environment, &state) else {
        return run_it(args, context).await;
    };
    Starts::bound_stderr();
    if let Err(why) = starts.begin(context.clock.now()) {
        context.note(&format!("given up: {why}; `workagent service restart` tries again\n"));
        return Ok(exit::OK);
    }
    let ended = run_it(args, context).await;
    let (code, why) = match &ended {
        Ok(code) => (*code, ""),
        Err(error) => (error.code, error.message.as_str()),
    };
    let told = starts.ended(code, why, context.clock.now());
    if told != code {
        context.note(&format!("given up: {why}; `workagent service restart` tries again\n"));
        return Ok(told);
    }
    ended
}

async fn run_it(args: RunArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    // Before anything slow: a stop during the start is an orderly one.
    let hangup =
        if context.environment.get("NOTIFY_SOCKET").is_some() { Hangup::Reload } else { Hangup::Stop };
    let signals = Signals::catch(hangup).map_err(|error| CliError::doing("catch signals", &error))?;
    let paths = context.paths()?;
    let files = UnitSource::new(context.search(), &context.environment, &paths);
    let mut files = files.rehearsing(args.rehearse);
    let compiled = files.look(context.clock.now());
    let pinned = files.pinned();
    let daemon = Arc::clone(&pinned.as_ref().map_or(&compiled, |pinned| &pinned.compiled).plan.daemon);
    let scrubber = context.scrubber.clone();
    let is_given = args.log.is_some();
    let target = target(&args, &daemon.log, context)?;
    let filter = args.log.unwrap_or_else(|| daemon.log.filter.to_string());
    let log = logging::init(&LogOptions {
        filter,
        target,
        clock: context.clock.clone(),
        scrubber: scrubber.clone(),
    })
    .map_err(|error| CliError { code: exit::CONFIG, ..CliError::doing("start logging", &error) })?;
    if is_given {
        log.stay();
    }
    let environment = context.environment.clone();
    let clock = context.clock.clone();
    let options = Options { environment, paths, compiled, pinned, clock, scrubber };
    let assembly = Assembly::open(options).await.map_err(assembly_error)?;
    let plan = &assembly.bundle.plan;
    assembly::fit_to_plan(&assembly.store, plan, None)
        .await
        .map_err(|error| CliError::doing("go on from the record", &error))?;
    if args.once {
        FindingLog::default().say(&assembly.compiled);
        return once(assembly, args.json, context).await;
    }
    let service = ServiceManager::of(&context.environment);
    run::run(assembly, files, signals, service, log)
        .await
        .map_err(|error| CliError::doing("serve the control socket", &error))?;
    Ok(exit::OK)
}

/// Where the log goes: by the command line, the daemon unit, or what standard error is.
fn target(args: &RunArgs, unit: &LogSettings, context: &Context<'_>) -> Result<LogTarget, CliError> {
    let json = args.log_format.as_ref().map_or(unit.json, |format| format == "json");
    let given = args.log_file.as_deref().map(std::path::absolute).transpose();
    let given = given.map_err(|error| CliError::usage(format!("--log-file: {error}")))?;
    Ok(match (given.or_else(|| unit.file.clone()), LogTarget::of(&context.environment)) {
        (Some(path), _) => LogTarget::File { path, json },
        (None, LogTarget::Text { .. }) if json => LogTarget::Json,
        (None, target) => target,
    })
}

async fn once(assembly: Assembly, json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paused = assembly.store.pauses().await.is_ok_and(|pauses| pauses.all.is_some());
    let summary = assembly.bundle.app.cycle().await;
    assembly.store.close().await;
    let mut text = if json { pretty(&summary) } else { shown(&summary) };
    if paused && !json {
        text.push_str("paused: no engine ran and nothing was sent; `workagent resume` goes on\n");
    }
    context.out.write_all(text.as_bytes())?;
    let failed = summary.runtimes.iter().any(|record| !record.errors.is_empty());
    Ok(if failed { exit::NOT_WELL } else { exit::OK })
}

/// The summary for people: one line a runtime, zeros left out, errors below.
fn shown(summary: &CycleSummary) -> String {
    let mut out = String::new();
    for record in &summary.runtimes {
        // The commented samples in the binary are off by nature; they would drown what is the user's own.
        if matches!(&record.summary, RuntimeSummary::Disabled { reason } if reason.contains(BUILT_IN)) {
            continue;
        }
        let did = did(&record.summary);
        out.push_str(&format!("{:<28} {did}\n", record.unit));
        for error in &record.errors {
            out.push_str(&format!("{:<28} {}: {}\n", "", error.class, error.message));
        }
    }
    let took = summary.ended_at.since(summary.started_at).as_millis();
    out.push_str(&format!("one cycle of generation {} in {took} ms\n", summary.generation));
    out
}

fn did(summary: &RuntimeSummary) -> String {
    let value = serde_json::to_value(summary).unwrap_or_default();
    let inner = value.as_object().and_then(|variant| variant.values().next());
    let Some(serde_json::Value::Object(fields)) = inner else { return String::new() };
    let counts: Vec<String> = fields
        .iter()
        .filter_map(|(name, value)| match value {
            serde_json::Value::Number(count) if count.as_u64() != Some(0) => {
                Some(format!("{count} {}", name.replace('_', " ")))
            }
            serde_json::Value::String(reason) => Some(reason.clone()),
            _ => None,
        })
        .collect();
    if counts.is_empty() { "nothing to do".to_owned() } else { counts.join(", ") }
}
