//! `workagent list-timers`: everything with a schedule, connectors too: when it ran and when it runs next.

use clap::Args;
use serde::Serialize;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, count, glyph};
use super::units::names::Selection;
use crate::control::health::Health;
use crate::control::wire::{StatusView, UnitView};
use crate::daemon::exit;
use crate::model::time::{Timestamp, short_span};

/// `workagent list-timers`
#[derive(Debug, Args)]
pub struct ListTimersArgs {
    /// Those that are off, too
    #[arg(long, short)]
    all: bool,
    #[command(flatten)]
    selection: Selection,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One object of `--json`. Moments are milliseconds since 1970.
#[derive(Debug, Serialize)]
struct Row {
    unit: String,
    health: Health,
    /// When it runs next; nothing while it is off or no daemon runs.
    next: Option<Timestamp>,
    /// When it ran last.
    last: Option<Timestamp>,
    /// Seconds between two runs, where it goes by that.
    every_s: Option<u64>,
}

/// Runs the command.
pub async fn command(args: ListTimersArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let selected = args.selection.ready()?;
    let backend = Backend::connect(context).await?;
    let view: StatusView = backend.get("/v1/status").await?;
    backend.close().await;
    let timed = |unit: &&UnitView| selected.has(&unit.unit) && has_schedule(unit);
    let mut rows: Vec<Row> = view.units.iter().filter(timed).map(|unit| row(unit, view.now)).collect();
    let known = rows.len();
    let all = args.all || !args.selection.is_everything();
    rows.retain(|row| all || row.health != Health::Off);
    rows.sort_by_key(|row| (row.next.is_none(), row.next, row.unit.clone()));
    if args.json {
        context.out.write_all(pretty(&rows).as_bytes())?;
        return Ok(exit::OK);
    }
    let hidden = known - rows.len();
    let text = shown(&rows, hidden, view.running, view.now, context.paint(), context.width());
    context.page(&text);
    Ok(exit::OK)
}

/// An engine that rests has a next moment too, but no schedule.
fn has_schedule(unit: &UnitView) -> bool {
    let kind = unit.unit.rsplit_once('.').map_or("", |(_, kind)| kind);
    unit.every.is_some()
        || matches!(kind, "connector" | "timer")
        || kind == "runtime" && unit.next_due.is_some()
}

fn row(unit: &UnitView, now: Timestamp) -> Row {
    Row {
        unit: unit.unit.clone(),
        health: unit.health(now),
        next: unit.next_due,
        last: unit.last_try,
        every_s: unit.every.map(|every| every.as_secs()),
    }
}

fn shown(rows: &[Row], hidden: usize, running: bool, now: Timestamp, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&["", "NEXT", "LEFT", "LAST", "PASSED", "UNIT"]);
    let dash = || "-".to_owned();
    for row in rows {
        let (mark, code) = glyph(row.health);
        let left = row.next.map(|at| match at.since(now) {
            wait if wait.as_millis() > 0 => short_span(wait),
            _ if now.since(at).as_secs() == 0 => "now".to_owned(),
            _ => format!("{} ago", short_span(now.since(at))),
        });
        table.row([
            Cell::painted(code, mark),
            row.next.map_or_else(dash, |at| at.local(now)).into(),
            left.unwrap_or_else(dash).into(),
            row.last.map_or_else(dash, |at| at.local(now)).into(),
            row.last.map_or_else(dash, |at| format!("{} ago", short_span(now.since(at)))).into(),
            row.unit.as_str().into(),
        ]);
    }
    let mut out = String::new();
    if !rows.is_empty() {
        out.push_str(&table.render(paint, width));
        out.push('\n');
    }
    out.push_str(&format!("{} listed.", count(rows.len(), "timer")));
    if hidden > 0 {
        let (are, them) = if hidden == 1 { ("is", "it") } else { ("are", "them") };
        out.push_str(&format!(" {hidden} {are} off: pass --all to see {them}, too."));
    }
    if !running {
        out.push_str("\nThe daemon is not running.");
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_first() {
        let now = Timestamp::from_rfc3339("2026-11-30T10:00:00Z").unwrap();
        let row = |unit: &str, health, next: Option<i64>, last: Option<i64>| Row {
            unit: unit.into(),
            health,
            next: next.map(|seconds| Timestamp(now.0 + seconds * 1000)),
            last: last.map(|seconds| Timestamp(now.0 - seconds * 1000)),
            every_s: None,
        };
        let rows = [
            row("late.connector", Health::Late, Some(-720), Some(900)),
            row("inbox.connector", Health::Ok, Some(240), Some(60)),
            row("weekly.timer", Health::Ok, Some(4 * 86_400), None),
            row("off.connector", Health::Off, None, None),
        ];
        let text = shown(&rows, 1, true, now, Paint { colour: false }, 80);
        // The moments are local ones.
        let spans: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(spans[0], ["NEXT", "LEFT", "LAST", "PASSED", "UNIT"]);
        assert_eq!(spans[1][2..4], ["12m", "ago"], "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("  4m  ") && text.contains("  1m ago   inbox.connector"), "{text}");
        assert!(text.contains("  4d       -  "), "{text}");
        assert!(text.ends_with("4 timers listed. 1 is off: pass --all to see it, too.\n"), "{text}");
    }
}
