//! `workagent analyze condition`: each condition and whether it holds here and now.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use super::{compiled, no_such_unit};
use crate::cli::backend::present_environment;
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, line};
use crate::daemon::exit;
use crate::daemon::facts::Answers;
use crate::daemon::secrets::Around;
use crate::unit::condition::{Facts as _, unmet};
use crate::unit::plan::{Condition, ConditionTest, Off, Plan, UnitName};

/// `workagent analyze condition`
#[derive(Debug, Args)]
pub struct ConditionArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only this unit: `inbox.connector`
    unit: Option<String>,
}

/// Runs the command. Exit code 1 if one does not hold.
///
/// # Errors
/// There is no such unit, or no place for the state.
pub fn command(args: &ConditionArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let plan = compiled(context).plan;
    let names: Vec<String> = plan.standings().iter().map(|(name, _)| name.to_string()).collect();
    if let Some(unit) = args.unit.as_ref().filter(|unit| !names.contains(unit)) {
        return Err(no_such_unit(unit, &names));
    }
    let paths = context.paths()?;
    let answers = crate::cli::threads(1)?.block_on(async {
        let environment = present_environment(context, &paths).await;
        let around = Around {
            environment: environment.clone(),
            scrubber: context.scrubber.clone(),
            clock: context.clock.clone(),
            ask: false,
        };
        let secrets = crate::daemon::secrets::open(&paths, &plan, around);
        Answers::ask(&plan, &environment, &secrets).await
    });
    let off = unmet(&plan, &answers);
    let rows = rows(&plan, &answers, &off, args.unit.as_deref());
    let text = if args.json {
        let all: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({"unit": row.unit.to_string(), "condition": row.condition.to_string(),
                       "assert": row.condition.assert, "holds": row.holds,
                       "place": row.condition.place.to_string()})
            })
            .collect();
        pretty(&json!({"version": 1, "conditions": all}))
    } else {
        shown(&rows, Paint { colour: context.colour() })
    };
    context.out.write_all(text.as_bytes())?;
    Ok(if rows.iter().all(|row| row.holds) { exit::OK } else { exit::FAILURE })
}

struct Row<'a> {
    unit: &'a UnitName,
    condition: &'a Condition,
    holds: bool,
}

fn rows<'a>(
    plan: &'a Plan,
    answers: &Answers,
    off: &BTreeMap<UnitName, Off>,
    wanted: Option<&str>,
) -> Vec<Row<'a>> {
    let on: Vec<UnitName> =
        plan.standings().into_iter().filter(|(_, why)| why.is_none()).map(|(name, _)| name).collect();
    let mut rows = Vec::new();
    for (unit, conditions) in &plan.conditions {
        if wanted.is_some_and(|wanted| unit.to_string() != wanted) {
            continue;
        }
        for condition in conditions {
            let bare = match &condition.test {
                ConditionTest::Active(other) => Ok(on.contains(other) && !off.contains_key(other)),
                test => answers.holds(test),
            };
            let holds = bare.is_ok_and(|holds| holds != condition.negated);
            rows.push(Row { unit, condition, holds });
        }
    }
    rows
}

fn shown(rows: &[Row<'_>], paint: Paint) -> String {
    if rows.is_empty() {
        return "no condition, nothing to hold\n".to_owned();
    }
    let mut out = String::new();
    let mut last = None;
    for row in rows {
        if last != Some(row.unit) {
            out.push_str(&format!("{}\n", paint.bold(line(&row.unit.to_string(), 80))));
            last = Some(row.unit);
        }
        let mark = if row.holds { paint.green("holds      ") } else { paint.red("does not   ") };
        let table = if row.condition.assert { "assert" } else { "condition" };
        out.push_str(&format!("  {mark} [{table}] {}\n", line(&row.condition.to_string(), 100)));
        if !row.holds {
            out.push_str(&format!("              {}\n", paint.dim(row.condition.place.to_string())));
        }
    }
    out
}
