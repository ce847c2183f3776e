//! `workagent route`: why a case goes to its engine, and where something would go, without a daemon.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, line, table};
use crate::control::wire::RouteView;
use crate::daemon::assembly::compile_units;
use crate::daemon::exit;
use crate::model::ids::CaseId;
use crate::model::limits;
use crate::model::routing::{Explanation, RouteLook, Routing};
use crate::model::time::Timestamp;
use crate::model::trust::Trust;
use crate::runtime::routing::judge;
use crate::runtime::routing::sample::Sample;

/// `workagent route …`
#[derive(Debug, Args)]
pub struct RouteArgs {
    #[command(subcommand)]
    command: RouteCommand,
}

#[derive(Debug, Subcommand)]
enum RouteCommand {
    /// Show why a case goes to its engine: by the record, and by the routes as they are now
    Explain {
        /// The case, `c12` or `12`
        case: CaseId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show where something would go by the unit files; no daemon is asked
    ///
    /// A mail (`.eml`), a JSON object with connector, kind, author, labels, title and body, or a text with such lines as
    /// `From: pat@example.org`, `Labels: a, b`, `Kind: mail`, `Connector: inbox` before an empty line.
    Test {
        /// The file
        file: PathBuf,
        /// As if it came from this connector; by default what the file says, else the only connector there is
        #[arg(long)]
        connector: Option<String>,
        /// As if its writer had been written to before; without it only the lists of the daemon's unit count
        #[arg(long)]
        answered: bool,
        /// As if it came at this moment, `2026-12-01T22:00:00+01:00`
        #[arg(long, value_name = "TIME", value_parser = moment)]
        at: Option<Timestamp>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

fn moment(text: &str) -> Result<Timestamp, String> {
    Timestamp::from_rfc3339(text).ok_or_else(|| "a moment is written 2026-12-01T22:00:00+01:00".to_owned())
}

/// `route test --json`.
#[derive(Serialize)]
struct TestView {
    sample: Sample,
    now: Explanation,
}

/// Runs the command.
pub async fn command(args: RouteArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let paint = Paint { colour: context.colour() };
    let text = match args.command {
        RouteCommand::Explain { case, json } => {
            let backend = Backend::connect(context).await?;
            let view: Result<RouteView, CliError> = backend.get(&format!("/v1/cases/{case}/route")).await;
            backend.close().await;
            let view = view?;
            if json { pretty(&view) } else { explained(&view, context.width(), paint) }
        }
        RouteCommand::Test { file, connector, answered, at, json } => {
            let state = context.paths()?.state;
            let compiled = compile_units(&context.search(), &context.environment, state);
            let mut sample = read(&file)?;
            let mut connectors =
                compiled.plan.connectors.iter().filter(|(_, standing)| standing.off().is_none());
            let only = match (connectors.next(), connectors.next()) {
                (Some((name, _)), None) => Some(name.clone()),
                _ => None,
            };
            let given = connector.or_else(|| Some(sample.connector.clone()).filter(|name| !name.is_empty()));
            sample.connector = given.or(only).unwrap_or_default();
            let facts = sample.facts(answered, at.unwrap_or_else(|| context.clock.now()));
            let now = judge(&compiled.plan, &facts);
            if json {
                pretty(&TestView { sample, now })
            } else {
                let mut out = format!("{}\n", paint.bold(line(&sample.title, context.width())));
                look(&mut out, &now, context.width(), paint);
                out
            }
        }
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn read(file: &Path) -> Result<Sample, CliError> {
    let shown = file.display();
    let doing = |error: std::io::Error| CliError::doing(&format!("read {shown}"), &error);
    let size = std::fs::metadata(file).map_err(doing)?.len();
    if size > limits::MAIL_BYTES_MAX as u64 {
        return Err(CliError::usage(format!(
            "{shown} has {size} bytes, the most is {}",
            limits::MAIL_BYTES_MAX
        )));
    }
    let bytes = std::fs::read(file).map_err(doing)?;
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    Sample::read(&bytes, ending).map_err(|why| CliError::usage(format!("{shown} {why}")))
}

fn explained(view: &RouteView, width: usize, paint: Paint) -> String {
    let case = &view.case;
    let title = line(&case.title, width.saturating_sub(8));
    let mut out = format!("{}  {}\n", paint.bold(case.id), paint.bold(title));
    look(&mut out, &view.now, width, paint);
    if let Some(rest) = &view.rest {
        let why = format!("that engine gets no case before {}: {}", rest.until, rest.reason);
        let _ = writeln!(out, "  {} {}", paint.yellow("!"), line(&why, width.saturating_sub(4)));
    }
    let _ = writeln!(out, "\n{}", paint.bold("Record"));
    if view.steps.is_empty() {
        out.push_str("  not routed yet\n");
    }
    for step in &view.steps {
        let _ = writeln!(out, "  {}  {}", paint.dim(step.at), line(&step.event, 20));
        for clause in step.detail.split("; ") {
            let _ = writeln!(out, "      {}", line(clause, width.saturating_sub(6)));
        }
    }
    out
}

/// Route by route, each condition, then where it goes.
fn look(out: &mut String, now: &Explanation, width: usize, paint: Paint) {
    let trust = match now.trust {
        Trust::Own => "from you",
        Trust::Known => "from somebody known",
        Trust::Stranger => "from a stranger",
    };
    let language = now.language.as_deref().unwrap_or("not sure");
    let _ = writeln!(out, "  {trust} · language: {language}\n");
    let mut rows = Vec::new();
    let mut taken = false;
    for route in &now.routes {
        let takes = route.takes();
        let (mark, word) = match (&route.off, takes, taken) {
            (Some(_), ..) => ("-", "is off"),
            (None, true, false) => ("✓", "takes it"),
            (None, true, true) => (" ", "would take it"),
            (None, false, _) => ("✗", "does not"),
        };
        taken |= takes;
        rows.push(vec![format!("  {mark} {}", route.route), word.to_owned(), said(route, width)]);
        for clause in &route.clauses {
            let mark = if clause.met { "✓" } else { "✗" };
            let text = format!("    {mark} {} {}", clause.word, clause.given);
            let wanted = if clause.met { "is" } else { "is not" };
            rows.push(vec![text, wanted.to_owned(), line(&clause.wanted, width.saturating_sub(40).max(20))]);
        }
    }
    out.push_str(&table(&rows));
    let _ = match &now.routing {
        Routing::To { route, engine, why, .. } => {
            let _ = writeln!(out, "\n  {} {} (route {route})", paint.bold("→"), paint.bold(engine));
            let skipped = why.split("; ").next().filter(|first| first.starts_with("fell back"));
            skipped.map_or(Ok(()), |skipped| writeln!(out, "    {}", line(skipped, width.saturating_sub(4))))
        }
        Routing::Nowhere { why, until, .. } => {
            let why = why.split(" (").next().unwrap_or(why);
            let wait = until.map(|until| format!(", until {until}")).unwrap_or_default();
            writeln!(out, "\n  {} nowhere: {}{wait}", paint.bold("→"), line(why, width.saturating_sub(14)))
        }
    };
}

/// Its engines, or why it is off.
fn said(route: &RouteLook, width: usize) -> String {
    if let Some(off) = &route.off {
        return line(off, width.saturating_sub(30).max(20));
    }
    let engine = |(name, why_not): &(String, Option<String>)| match why_not {
        Some(why) => format!("{name} ({why})"),
        None => name.clone(),
    };
    let mut text = route.engines.iter().map(engine).collect::<Vec<_>>().join(", then ");
    if route.engines.len() > 1 {
        let on = if route.on.is_empty() { "never".to_owned() } else { route.on.join(", ") };
        let _ = write!(text, "; next on: {on}");
    }
    if route.private {
        text += "; private";
    }
    text
}
