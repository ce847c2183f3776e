//! `workagent explain`: what a finding means, from the rule's own words.

use std::fmt::Write as _;

use clap::Args;
use serde_json::json;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, block, table};
use crate::daemon::exit;
use crate::diag::Check;
use crate::unit::{CHECKS, explain};

/// `workagent explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The code of a finding, as it stands in brackets: `unknown-key`; without one, all are listed
    code: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no such rule.
pub fn command(args: &ExplainArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    match &args.code {
        Some(code) => one(code, args.json, context),
        None => all(args.json, context),
    }
}

/// Explains one rule.
///
/// # Errors
/// There is no such rule.
pub fn one(code: &str, json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    // As pasted: `error[unknown-key]`.
    let bare = code.rsplit('[').next().unwrap_or(code).trim_end_matches(']');
    let Some(check) = explain(bare) else {
        let error = CliError::usage(format!("there is no rule {}", super::look::line(bare, 60)));
        return Err(error.hint("workagent explain lists them"));
    };
    let paint = Paint { colour: context.colour() };
    let text = if json { pretty(&as_json(check)) } else { told(check, paint, context.width().min(100)) };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn all(json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let text = if json {
        let rules: Vec<_> = CHECKS.iter().map(|check| as_json(check)).collect();
        pretty(&json!({"version": 1, "rules": rules}))
    } else {
        let row = |check: &Check| {
            vec![check.code.to_owned(), check.severity.word().to_owned(), check.summary.to_owned()]
        };
        table(&CHECKS.iter().map(|check| row(check)).collect::<Vec<_>>())
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn as_json(check: &Check) -> serde_json::Value {
    let example = check
        .example
        .map(|example| json!({"file": example.file, "before": example.before, "after": example.after}));
    json!({"code": check.code, "severity": check.severity.word(), "summary": check.summary, "why": check.why,
           "example": example})
}

fn told(check: &Check, paint: Paint, width: usize) -> String {
    let mut out = format!("{} ({})\n\n", paint.bold(check.code), check.severity.word());
    out.push_str(&block(&format!("{}.", check.summary), "", width, 20));
    out.push('\n');
    out.push_str(&block(check.why, "", width, 20));
    if let Some(example) = check.example {
        for (word, text) in [("Wrong", example.before), ("Right", example.after)] {
            let _ = writeln!(out, "\n{word}, in {}:\n", paint.dim(example.file));
            out.push_str(&block(text, "    ", width, 40));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_explains_itself() {
        for check in CHECKS {
            let text = told(check, Paint { colour: false }, 80);
            assert!(text.contains(check.summary) && text.lines().count() > 3, "{text}");
        }
    }
}
