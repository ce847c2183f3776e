//! `workagent analyze calendar`: when a calendar expression comes round.

use std::fmt::Write as _;

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::line;
use crate::daemon::exit;
use crate::model::schedule::Calendar;
use crate::model::time::{Timestamp, short_span};

/// `workagent analyze calendar`
#[derive(Debug, Args)]
pub struct CalendarArgs {
    /// Times to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    iterations: u32,
    /// Count from this moment instead of now: `2026-03-28T00:00:00Z`, `2026-03-28`, "2026-03-28 12:00"
    #[arg(long, value_name = "TIME", value_parser = moment)]
    base_time: Option<Timestamp>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Expressions in systemd's grammar: "Mon..Fri 09:00 Europe/Berlin"
    #[arg(value_name = "EXPR", required = true)]
    expressions: Vec<String>,
}

/// With an offset, or by the clock of this machine.
fn moment(text: &str) -> Result<Timestamp, String> {
    if let Some(at) = Timestamp::from_rfc3339(text) {
        return Ok(at);
    }
    let civil: jiff::civil::DateTime = text.trim().parse().map_err(|_| "not a date or time".to_owned())?;
    let at = civil.to_zoned_datetime(TimeZone::system()).map_err(|error| error.to_string())?;
    Ok(Timestamp(at.timestamp().as_millisecond()))
}

/// Runs the command. Exit code 1 if an expression is none.
///
/// # Errors
/// The output.
pub fn command(args: &CalendarArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let base = args.base_time.unwrap_or_else(|| context.clock.now());
    let mut code = exit::OK;
    let mut all = Vec::new();
    for (at, expression) in args.expressions.iter().enumerate() {
        let shown = line(expression, 120);
        match expression.parse::<Calendar>() {
            Err(error) => {
                code = exit::FAILURE;
                let error = error.to_string();
                context.note(&format!("error: {shown}: {error}\n"));
                all.push(json!({"expression": expression, "error": error}));
            }
            Ok(calendar) => {
                let times = times(&calendar, base, args.iterations);
                if args.json {
                    let times: Vec<String> = times.iter().map(ToString::to_string).collect();
                    let normal = calendar.to_string();
                    all.push(json!({"expression": expression, "normal": normal, "next": times}));
                    continue;
                }
                let gap = if at > 0 { "\n" } else { "" };
                write!(context.out, "{gap}{}", told(&shown, &calendar, &times, base))?;
            }
        }
    }
    if args.json {
        let text = pretty(&json!({"version": 1, "calendars": all}));
        context.out.write_all(text.as_bytes())?;
    }
    Ok(code)
}

fn times(calendar: &Calendar, base: Timestamp, count: u32) -> Vec<Timestamp> {
    let mut from = base;
    let mut found = Vec::new();
    for _ in 0..count {
        let Some(next) = calendar.next(from) else { break };
        found.push(next);
        from = next;
    }
    found
}

fn told(shown: &str, calendar: &Calendar, times: &[Timestamp], base: Timestamp) -> String {
    let zone = match calendar.zone().name() {
        Some(name) => TimeZone::get(name).unwrap_or(TimeZone::UTC),
        None => TimeZone::system(),
    };
    let mut out = format!("  Original form: {shown}\nNormalized form: {calendar}\n");
    if times.is_empty() {
        out.push_str("    Next elapse: never\n");
    }
    for (at, time) in times.iter().enumerate() {
        let head = if at == 0 { "Next elapse".to_owned() } else { format!("Iteration #{}", at + 1) };
        let there =
            jiff::Timestamp::from_millisecond(time.0).unwrap_or_default().to_zoned_datetime(zone.clone());
        let _ = writeln!(
            out,
            "{head:>15}: {}  in {}",
            there.strftime("%a %Y-%m-%d %H:%M:%S %Z"),
            short_span(time.since(base))
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_ones_go_over_the_change_of_the_clock() {
        let base = moment("2026-03-27T00:00:00Z").unwrap();
        let calendar: Calendar = "09:00 Europe/Berlin".parse().unwrap();
        let shown = told("09:00 Europe/Berlin", &calendar, &times(&calendar, base, 4), base);
        insta::assert_snapshot!(shown, @r#"
          Original form: 09:00 Europe/Berlin
        Normalized form: *-*-* 09:00:00 Europe/Berlin
            Next elapse: Fri 2026-03-27 09:00:00 CET  in 8h
           Iteration #2: Sat 2026-03-28 09:00:00 CET  in 32h
           Iteration #3: Sun 2026-03-29 09:00:00 CEST  in 2d
           Iteration #4: Mon 2026-03-30 09:00:00 CEST  in 3d
        "#);
    }

    #[test]
    fn what_never_comes_is_said() {
        let calendar: Calendar = "1999-01-01 UTC".parse().unwrap();
        let base = moment("2026-03-27T00:00:00Z").unwrap();
        let shown = told("x", &calendar, &times(&calendar, base, 3), base);
        assert!(shown.ends_with("Next elapse: never\n"), "{shown}");
    }

    #[test]
    fn moments() {
        assert_eq!(moment("1970-01-01T00:00:01Z"), Ok(Timestamp(1000)));
        assert!(moment("1970-01-02").is_ok() && moment("soon").is_err());
    }
}
