//! `workagent log-level`: more or less in the log of the running daemon, of all or of one unit, for a while.

use std::time::Duration;

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::table;
use super::span::span;
use crate::control::wire::log::{LogLevelBody, LogLevelsView};
use crate::daemon::exit;
use crate::model::log_filter::{LogFilter, LogLevel};
use crate::model::time::{Timestamp, short_span};

/// `workagent log-level [UNIT] [LEVEL]`
#[derive(Debug, Args)]
pub struct LogLevelArgs {
    /// The unit, `inbox.connector`, and a level; or a level for all that has none of its own. `usual` takes it back;
    /// nothing shows what there is
    #[arg(value_name = "UNIT|LEVEL", num_args = 0..=2)]
    words: Vec<String>,
    /// Go back by itself after so long, at most 30 days; else it lasts until the daemon ends
    #[arg(long = "for", value_name = "SPAN", value_parser = |text: &str| span(text, "10m, 2h, 1d"))]
    span: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Takes a change by hand back.
const USUAL: &str = "usual";

/// Runs the command.
pub async fn command(args: LogLevelArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let body = body(&args)?;
    let backend = Backend::daemon(context).await?;
    let view: LogLevelsView = match &body {
        Some(body) => backend.post("/v1/log-levels", body).await?,
        None => backend.get("/v1/log-levels").await?,
    };
    let text = if args.json { pretty(&view) } else { shown(&view, context.clock.now()) };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// What is asked for; `None`: only to be shown.
fn body(args: &LogLevelArgs) -> Result<Option<LogLevelBody>, CliError> {
    let (unit, level) = match args.words.as_slice() {
        [] if args.span.is_some() => return Err(CliError::usage("--for goes with a level")),
        [] => return Ok(None),
        [level] => (None, level),
        [unit, level, ..] => (Some(unit.clone()), level),
    };
    let is_level = level == USUAL
        || if unit.is_some() {
            level.parse::<LogLevel>().is_ok()
        } else {
            level.parse::<LogFilter>().is_ok()
        };
    if !is_level {
        let words = LogLevel::ALL.map(LogLevel::word).join(", ");
        let error = CliError::usage(format!("`{level}` is no level: {words}, or {USUAL}"));
        return Err(match unit {
            None => error.hint(format!("workagent log-level {level} debug --for 10m")),
            Some(_) => error,
        });
    }
    let level = Some(level.clone()).filter(|level| level != USUAL);
    if level.is_none() && args.span.is_some() {
        return Err(CliError::usage("--for goes with a level"));
    }
    Ok(Some(LogLevelBody { unit, level, for_s: args.span.map(|span| span.as_secs()) }))
}

/// All on top, then units; by hand with the time that is left.
fn shown(view: &LogLevelsView, now: Timestamp) -> String {
    let mut rows = vec![vec!["usual".to_owned(), view.usual.clone(), "by the unit files".to_owned()]];
    for change in &view.by_hand {
        let rest = match change.until {
            Some(until) => format!("by hand, for {} more", short_span(until.since(now))),
            None => "by hand, until the daemon ends".to_owned(),
        };
        rows.push(vec![change.unit.clone().unwrap_or_else(|| "all".to_owned()), change.level.clone(), rest]);
    }
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Asked<'a> = (Option<&'a str>, Option<&'a str>);

    fn check(words: &[&str], expected: Result<Option<Asked<'_>>, &str>) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let args = LogLevelArgs { words, span: None, json: false };
        let body = body(&args).map_err(|error| error.message);
        let body = body.map(|body| body.map(|body| (body.unit, body.level)));
        let owned = |pair: Asked<'_>| (pair.0.map(str::to_owned), pair.1.map(str::to_owned));
        assert_eq!(body, expected.map(|pair| pair.map(owned)).map_err(str::to_owned));
    }

    #[test]
    fn what_is_asked_for() {
        check(&[], Ok(None));
        check(&["debug"], Ok(Some((None, Some("debug")))));
        check(&["info,hyper=warn"], Ok(Some((None, Some("info,hyper=warn")))));
        check(&["inbox", "trace"], Ok(Some((Some("inbox"), Some("trace")))));
        check(&["inbox", "usual"], Ok(Some((Some("inbox"), None))));
        let wrong = "`inbox` is no level: off, error, warn, info, debug, trace, or usual";
        check(&["inbox"], Err(wrong));
        check(&["debug", "inbox"], Err(wrong));
    }

    #[test]
    fn what_there_is_with_the_time_left() {
        let view = LogLevelsView {
            usual: "info".into(),
            by_hand: vec![crate::control::wire::log::LogLevelView {
                unit: Some("inbox.connector".into()),
                level: "trace".into(),
                until: Some(Timestamp(600_000)),
            }],
        };
        insta::assert_snapshot!(shown(&view, Timestamp(0)), @r"
        usual            info   by the unit files
        inbox.connector  trace  by hand, for 10m more
        ");
    }
}
