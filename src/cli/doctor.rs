//! `workagent doctor`: looks at the setup as a whole, in the environment of the service, and says what to type.
//!
//! Facts are gathered first (`facts`); a check is a pure function over them in a file of its own and a row of `CHECKS`.

mod clock;
mod daemon;
mod engines;
mod environment;
mod facts;
mod linger;
mod manager;
mod path;
mod record;
mod report;
mod secrets;
mod service;
mod service_file;
mod service_settings;
mod state_folder;
mod units;
mod verdict;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use self::facts::Facts;
use self::verdict::{Level, Verdict};
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{self, Paint};
use super::units::UnitSet;
use crate::daemon::exit;

/// `workagent doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print a report that can be posted: units are numbered, texts of settings, folders and secrets masked
    #[arg(long, conflicts_with = "json")]
    report: bool,
    /// Keep the names of units in the report
    #[arg(long, requires = "report")]
    names: bool,
    /// Write the report to this file too, after it was shown
    #[arg(long, requires = "report", value_name = "FILE")]
    write: Option<PathBuf>,
}

/// One check: a file, and a row here.
struct Check {
    /// As `--json` names it.
    name: &'static str,
    /// What it looks at, for people.
    title: &'static str,
    run: fn(&Facts) -> Verdict,
}

/// All checks, in the order in which a person would look.
const CHECKS: [Check; 15] = [
    Check { name: "manager", title: "service manager", run: manager::check },
    Check { name: "service", title: "service", run: service::check },
    Check { name: "service-file", title: "service file", run: service_file::check },
    Check { name: "service-settings", title: "service settings", run: service_settings::check },
    Check { name: "linger", title: "after logout", run: linger::check },
    Check { name: "path", title: "PATH of the service", run: path::check },
    Check { name: "environment", title: "its other variables", run: environment::check },
    Check { name: "engines", title: "engines", run: engines::check },
    Check { name: "daemon", title: "daemon", run: daemon::check },
    Check { name: "units", title: "unit files", run: units::check },
    Check { name: "secrets", title: "secrets", run: secrets::check },
    Check { name: "state-folder", title: "state folder", run: state_folder::check },
    Check { name: "record", title: "record", run: record::check },
    Check { name: "record-place", title: "where it lies", run: record::place },
    Check { name: "clock", title: "clock", run: clock::check },
];

/// What a check came to, as an object of `--json`.
#[derive(Debug, Serialize)]
struct Row {
    check: &'static str,
    #[serde(skip)]
    title: &'static str,
    #[serde(flatten)]
    verdict: Verdict,
}

#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    /// No check found a problem; there may be warnings.
    well: bool,
    checks: Vec<Row>,
}

/// Runs the command. 0: no problem, 1: at least one.
///
/// # Errors
/// There is no place for the state.
pub async fn command(args: DoctorArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let facts = Facts::gather(context).await?;
    let report = examine(&facts);
    if args.report {
        let text = report::text(&facts, &report, &UnitSet::read(context), args.names);
        context.out.write_all(text.as_bytes())?;
        context.out.flush()?;
        if let Some(file) = args.write {
            let written = std::fs::write(&file, &text);
            written.map_err(|error| CliError::doing(&format!("write {}", file.display()), &error))?;
            context.note(&format!("written to {}: read it before you post it\n", file.display()));
        }
        return Ok(exit::OK);
    }
    let text = if args.json { pretty(&report) } else { shown(&report, context.paint(), context.width()) };
    context.out.write_all(facts.scrubber.scrub(&text).as_bytes())?;
    Ok(if report.well { exit::OK } else { exit::FAILURE })
}

/// Every check.
fn examine(facts: &Facts) -> Report {
    let row = |check: &Check| Row { check: check.name, title: check.title, verdict: (check.run)(facts) };
    let checks: Vec<Row> = CHECKS.iter().map(row).collect();
    Report { version: 1, well: checks.iter().all(|row| row.verdict.level != Level::Problem), checks }
}

/// Columns before what was looked at.
const MARGIN: usize = 30;

fn shown(report: &Report, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    for row in &report.checks {
        let Verdict { level, looked_at, wrong, mend } = &row.verdict;
        let (word, code) = match level {
            Level::Ok => ("ok", "32"),
            Level::Warning => ("warning", "33"),
            Level::Problem => ("problem", "31"),
            Level::NotApplicable => ("-", "2"),
        };
        let mut below = look::block(looked_at, &" ".repeat(MARGIN), width, 4);
        // The first line stands beside the heading.
        let first: String = below.chars().skip(MARGIN).collect();
        below = first;
        out.push_str(&format!("{}  {:<19}  {below}", paint.with(code, format!("{word:<7}")), row.title));
        for text in wrong {
            out.push_str(&look::block(text, "         ", width, 6));
        }
        if let Some(mend) = mend {
            out.push_str(&format!("         {} {}\n", paint.dim("mend:"), paint.bold(mend)));
        }
    }
    let count = |level| report.checks.iter().filter(|row| row.verdict.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    let verdict = match (problems, warnings) {
        (0, 0) => "all is well".to_owned(),
        _ => format!("{}, {}", look::count(problems, "problem"), look::count(warnings, "warning")),
    };
    out.push_str(&format!("\n{verdict}\n"));
    out
}

#[cfg(test)]
mod tests;
