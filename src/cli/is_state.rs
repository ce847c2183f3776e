//! `workagent is-active`, `is-failed`, `is-healthy`, `is-enabled`: a word on standard output, the answer as exit code.

use clap::Args;
use serde::Serialize;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::list_unit_files::FileState;
use super::list_units::active_word;
use super::orders::unit_of;
use super::units::{UnitSet, names};
use crate::control::health::Health;
use crate::control::wire::{ActiveState, StatusView, UnitView};
use crate::daemon::exit;

/// systemctl's code for "no such unit".
const NO_SUCH_UNIT: u8 = 4;

/// `workagent is-active UNIT…` and its like.
#[derive(Debug, Args)]
pub struct IsArgs {
    /// The units
    #[arg(required = true, value_name = "UNIT")]
    units: Vec<String>,
    /// Print nothing, only set the exit code
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

/// `workagent is-healthy [UNIT…]`
#[derive(Debug, Args)]
pub struct IsHealthyArgs {
    /// Only these units; without any, everything: the daemon, its units and all unit files
    #[arg(value_name = "UNIT")]
    units: Vec<String>,
    /// Print nothing, only set the exit code
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

/// One answer, as an object of `--json`.
#[derive(Debug, Serialize)]
struct Answer {
    unit: String,
    state: String,
}

/// 0 if one of them is active, 3 if none is, 4 if there is no such unit.
pub async fn active(args: IsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let (answers, code) =
        ask(&args, context, |unit| active_word(unit.active), |word| word == "active").await?;
    tell(&args, &answers, context)?;
    Ok(code)
}

/// 0 if one of them failed, 1 if none did.
pub async fn failed(args: IsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let (answers, code) = ask(&args, context, failed_word, |word| word == "failed").await?;
    tell(&args, &answers, context)?;
    Ok(if code == exit::NOT_WELL { exit::FAILURE } else { code })
}

/// A connector that fails again and again is active, and failed for whoever asks.
fn failed_word(unit: &UnitView) -> &'static str {
    match unit.health {
        Some(Health::Failing | Health::Broken) => "failed",
        _ => active_word(unit.active),
    }
}

async fn ask(
    args: &IsArgs,
    context: &mut Context<'_>,
    word: fn(&UnitView) -> &'static str,
    is: fn(&str) -> bool,
) -> Result<(Vec<Answer>, u8), CliError> {
    let status: Option<StatusView> = match Backend::daemon(context).await {
        Ok(backend) => Some(backend.get("/v1/status").await?),
        // Nothing is active where nothing runs.
        Err(error) if error.code == exit::NOT_RUNNING => None,
        Err(error) => return Err(error),
    };
    let set = UnitSet::read(context);
    let (mut answers, mut code) = (Vec::new(), exit::NOT_WELL);
    for wanted in &args.units {
        let found = match &status {
            Some(status) => unit_of(status, wanted)
                .or_else(|error| names::find(&set, wanted).map(|name| name.to_string()).map_err(|_| error)),
            None => names::find(&set, wanted).map(|name| name.to_string()),
        };
        let (unit, state) = match found {
            Ok(full) => {
                let view = status.iter().flat_map(|status| &status.units).find(|unit| unit.unit == full);
                let state = view.map_or(active_word(ActiveState::Inactive), word);
                (full, state)
            }
            Err(error) => {
                if !args.quiet {
                    let hint = error.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                    context.note(&format!("{}{hint}\n", error.message));
                }
                code = if code == exit::NOT_WELL { NO_SUCH_UNIT } else { code };
                (wanted.clone(), "unknown")
            }
        };
        if is(state) {
            code = exit::OK;
        }
        answers.push(Answer { unit, state: state.to_owned() });
    }
    Ok((answers, code))
}

fn tell(args: &IsArgs, answers: &[Answer], context: &mut Context<'_>) -> Result<(), CliError> {
    if args.json {
        context.out.write_all(pretty(&answers).as_bytes())?;
    } else if !args.quiet {
        for answer in answers {
            writeln!(context.out, "{}", answer.state)?;
        }
    }
    Ok(())
}

/// 0 if all of them take part by their files: enabled, static, a template.
pub fn enabled(args: IsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let (mut answers, mut code) = (Vec::new(), exit::OK);
    for wanted in &args.units {
        let name = names::find(&set, wanted)?;
        let state = FileState::of(&set, &name);
        if !matches!(state, FileState::Enabled | FileState::Static | FileState::Template) {
            code = exit::FAILURE;
        }
        answers.push(Answer { unit: name.to_string(), state: state.word().to_owned() });
    }
    tell(&args, &answers, context)?;
    Ok(code)
}

/// `is-healthy --json`.
#[derive(Debug, Serialize)]
struct Verdict {
    healthy: bool,
    reasons: Vec<String>,
}

/// 0 if all is well, 1 with the reasons on standard error if not.
pub async fn healthy(args: IsHealthyArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let reasons = match Backend::daemon(context).await {
        Ok(backend) => {
            let status: StatusView = backend.get("/v1/status").await?;
            let units =
                args.units.iter().map(|word| unit_of(&status, word)).collect::<Result<Vec<_>, _>>()?;
            reasons(&status, &units)
        }
        Err(error) if error.code == exit::NOT_RUNNING => vec![error.message],
        Err(error) => return Err(error),
    };
    let healthy = reasons.is_empty();
    if args.json {
        let verdict = Verdict { healthy, reasons };
        context.out.write_all(pretty(&verdict).as_bytes())?;
    } else if !args.quiet {
        writeln!(context.out, "{}", if healthy { "healthy" } else { "unhealthy" })?;
        for reason in &reasons {
            context.note(&format!("{reason}\n"));
        }
    }
    Ok(if healthy { exit::OK } else { exit::FAILURE })
}

/// Why it is not well; `control::health` is the one rule. Errors in unit files count whichever units are asked about:
/// what such a unit would do is not what the user wrote.
fn reasons(status: &StatusView, only: &[String]) -> Vec<String> {
    let mut reasons = Vec::new();
    if status.findings > 0 {
        let errors = super::look::count(usize::try_from(status.findings).unwrap_or(usize::MAX), "error");
        reasons.push(format!("{errors} in unit files: workagent validate"));
    }
    for unit in &status.units {
        let health = unit.health(status.now);
        let is_asked = only.is_empty() || only.contains(&unit.unit);
        // What is off is no fault, but who asks about it by name asks whether it does its work.
        let is_well =
            if only.is_empty() { health.is_well() } else { health.is_well() && health != Health::Off };
        if is_asked && !is_well {
            let why = unit.last_error.as_ref().map(|error| format!("{}: {}", error.class, error.message));
            let why = why.or_else(|| unit.reason.clone()).map(|why| format!(": {why}")).unwrap_or_default();
            reasons.push(format!("{} is {}{why}", unit.unit, health.word()));
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::{API_VERSION, CountsView, Mode};
    use crate::model::time::Timestamp;

    fn check(units: Vec<UnitView>, findings: u64, only: &[&str], expected: &[&str]) {
        let status = StatusView {
            secret_stores: Vec::new(),
            budgets: Vec::new(),
            api: API_VERSION,
            version: "0".into(),
            running: true,
            pid: Some(1),
            generation: 3,
            mode: Mode::Live,
            paused: false,
            pauses: Default::default(),
            started_at: Some(Timestamp(0)),
            now: Timestamp(1_000_000),
            units,
            counts: CountsView::default(),
            findings,
            findings_since: None,
            notes: Vec::new(),
            pinned: None,
            target: None,
        };
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(reasons(&status, &only), expected);
    }

    fn off(name: &str) -> UnitView {
        UnitView {
            enabled: false,
            reason: Some("[install] enabled = false".into()),
            ..UnitView::active(name)
        }
    }

    #[test]
    fn off_is_healthy_unless_asked_about() {
        let units = || vec![off("a.connector"), UnitView::active("b.connector")];
        check(units(), 0, &[], &[]);
        check(units(), 0, &["b.connector"], &[]);
        check(units(), 0, &["a.connector"], &["a.connector is off: [install] enabled = false"]);
    }

    #[test]
    fn errors_in_unit_files_are_never_healthy() {
        check(vec![], 1, &[], &["1 error in unit files: workagent validate"]);
        check(
            vec![UnitView::active("b.connector")],
            2,
            &["b.connector"],
            &["2 errors in unit files: workagent validate"],
        );
    }

    #[test]
    fn a_failed_unit_is_named_with_its_reason() {
        let failed = UnitView {
            active: ActiveState::Failed,
            reason: Some("too many".into()),
            ..UnitView::active("a.engine")
        };
        assert_eq!(failed_word(&failed), "failed");
        check(vec![failed], 0, &[], &["a.engine is broken: too many"]);
    }
}
