//! `workagent analyze security`: how much each connector and engine is open to, with reasons, in the manner of
//! `systemd-analyze security`. It judges what the units say; it looks at no network and no program.

mod judge;
mod reach;
mod weights;

use std::fmt::Write as _;

use clap::Args;
use serde_json::json;

use self::judge::{Report, judge};
use super::{compiled, is_meant, no_such_unit};
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, block, line};
use crate::daemon::exit;

/// `workagent analyze security`
#[derive(Debug, Args)]
pub struct SecurityArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 1 if a unit's exposure is above this, 0 to 10
    #[arg(long, value_name = "N", value_parser = threshold)]
    threshold: Option<f64>,
    /// Only this unit, with all reasons: `inbox.connector`
    unit: Option<String>,
}

fn threshold(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=10.0).contains(&number) { Ok(number) } else { Err("it goes from 0 to 10".to_owned()) }
}

/// Runs the command.
///
/// # Errors
/// There is no such unit, or it is neither a connector nor an engine that takes part.
pub fn command(args: &SecurityArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let plan = compiled(context).plan;
    let mut reports = judge(&plan);
    if let Some(unit) = &args.unit {
        let known: Vec<String> = reports.iter().map(|report| report.unit.clone()).collect();
        reports.retain(|report| is_meant(unit, &report.unit));
        if reports.is_empty() {
            let found = plan.standings().into_iter().find(|(name, _)| name.to_string() == *unit);
            return Err(match found {
                Some((_, Some(off))) => CliError::usage(format!("{unit} takes no part: {}", off.reason)),
                Some((_, None)) => CliError::usage(format!("{unit} is neither a connector nor an engine")),
                None => no_such_unit(unit, &known),
            });
        }
    }
    let paint = Paint { colour: context.colour() };
    let text = match (args.json, &args.unit) {
        (true, _) => pretty(&as_json(&reports)),
        (false, Some(_)) => reports.iter().map(|report| closely(report, paint, context.width())).collect(),
        (false, None) => overview(&reports, paint),
    };
    context.out.write_all(text.as_bytes())?;
    let over = |report: &Report| args.threshold.is_some_and(|most| report.exposure > most);
    Ok(if reports.iter().any(over) { exit::FAILURE } else { exit::OK })
}

fn as_json(reports: &[Report]) -> serde_json::Value {
    let units: Vec<_> = reports
        .iter()
        .map(|report| {
            let rows: Vec<_> = report
                .rows
                .iter()
                .map(|row| {
                    json!({"code": row.weight.code, "points": row.points, "points_max": row.weight.points_max,
                           "title": row.weight.title, "reason": row.reason,
                           "lower": (row.points > 0.0).then_some(row.weight.lower)})
                })
                .collect();
            json!({"unit": report.unit, "exposure": report.exposure, "word": report.word(), "reasons": rows})
        })
        .collect();
    json!({"version": 1, "units": units})
}

fn painted(report: &Report, text: String, paint: Paint) -> String {
    match report.exposure {
        0.0..3.0 => paint.green(text).to_string(),
        3.0..6.0 => paint.yellow(text).to_string(),
        _ => paint.red(text).to_string(),
    }
}

fn overview(reports: &[Report], paint: Paint) -> String {
    if reports.is_empty() {
        return "no connector and no engine takes part\n".to_owned();
    }
    let wide = reports.iter().map(|report| report.unit.chars().count()).max().unwrap_or(0).clamp(4, 40);
    let mut out = format!("{}\n", paint.bold(format!("{:wide$}  EXPOSURE  JUDGEMENT", "UNIT")));
    for report in reports {
        let judged = format!("{:>8.1}  {}", report.exposure, report.word());
        let _ = writeln!(out, "{:wide$}  {}", line(&report.unit, wide), painted(report, judged, paint));
    }
    out.push_str("\nThe reasons: workagent analyze security UNIT\n");
    out
}

fn closely(report: &Report, paint: Paint, columns: usize) -> String {
    let mut out = format!("{}\n\n", paint.bold(&report.unit));
    for row in &report.rows {
        let (mark, points) = if row.points > 0.0 {
            (paint.red("✗").to_string(), format!("{:4.1}", row.points))
        } else {
            (paint.green("✓").to_string(), "    ".to_owned())
        };
        let _ = writeln!(
            out,
            "{mark} {points}  {} {}",
            row.weight.title,
            paint.dim(format!("({})", row.weight.code))
        );
        out.push_str(&block(&row.reason, "        ", columns, 6));
        if row.points > 0.0 {
            out.push_str(&block(&format!("→ {}", row.weight.lower), "        ", columns, 6));
        }
    }
    let verdict = format!("{:.1} of 10, {}", report.exposure, report.word());
    let _ = writeln!(out, "\nExposure: {}", painted(report, verdict, paint));
    out
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::{HOUSE, compile};
    use super::*;

    #[test]
    fn the_reasons_are_told_one_by_one() {
        let reports = judge(&compile(HOUSE).plan);
        let shown: String =
            reports.iter().map(|report| closely(report, Paint { colour: false }, 80)).collect();
        insta::assert_snapshot!(shown, @r#"
        inbox.connector

        ✗  1.5  Text by others comes in (foreign-text)
                anybody who can write to this imap account or source
                → let its routes take only authors you know, `[match] author`, or read a
                narrower place
        ✓       Replies leave without a look at them (unreviewed)
                each draft waits for you
        ✓       A send cannot be taken back (no-undo)
                it is held for 30s
        ✓       Text goes to a model on another machine (leaves-machine)
                it stays on this machine
        ✓       A program with your rights works on it (runs-program)
                no engine on its way starts a program
        ✓       Secrets stand in the environment of a program (secrets-in-env)
                none
        ✓       Foreign text, something private and a way out come together (open-way)
                at least one of the three is missing
        ✓       The connection is not protected (plain-transport)
                TLS, or it does not leave this machine
        ✓       All that is there already is worked on (whole-backlog)
                only what is new, or of a chosen age

        Exposure: 1.2 of 10, SAFE
        local.engine

        ✗  1.5  Text by others comes in (foreign-text)
                inbox.connector over mail.route
                → let its routes take only authors you know, `[match] author`, or read a
                narrower place
        ✓       Replies leave without a look at them (unreviewed)
                each draft waits for you
        ✓       Text goes to a model on another machine (leaves-machine)
                it stays on this machine
        ✓       A program with your rights works on it (runs-program)
                no engine on its way starts a program
        ✓       It can reach your files (files)
                it starts no program
        ✓       Secrets stand in the environment of a program (secrets-in-env)
                none
        ✓       Variables of the daemon are handed through (passed-variables)
                none
        ✓       Foreign text, something private and a way out come together (open-way)
                at least one of the three is missing
        ✗  0.2  Runs are not limited (no-budget)
                as many as there are cases, on this machine
                → set `daily_runs` in `[budget]`

        Exposure: 1.3 of 10, SAFE
        "#);
    }

    #[test]
    fn the_overview_has_one_line_a_unit() {
        let reports = judge(&compile(HOUSE).plan);
        insta::assert_snapshot!(overview(&reports, Paint { colour: false }), @r#"
        UNIT             EXPOSURE  JUDGEMENT
        inbox.connector       1.2  SAFE
        local.engine          1.3  SAFE

        The reasons: workagent analyze security UNIT
        "#);
    }
}
