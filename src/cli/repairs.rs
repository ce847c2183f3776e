//! `workagent repairs`: everything that needs the user, each with the one command that mends it.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, ago, block, line};
use crate::daemon::exit;
use crate::model::repair::Repair;
use crate::model::time::{Timestamp, short_span};

/// `workagent repairs`
#[derive(Debug, Args)]
pub struct RepairsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Of what the far side said.
const WHY_LINES_MAX: usize = 3;

/// Runs the command.
pub async fn command(args: RepairsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let repairs: Vec<Repair> = backend.get("/v1/repairs").await?;
    backend.close().await;
    let text = if args.json {
        pretty(&repairs)
    } else {
        shown(&repairs, context.clock.now(), context.paint(), context.width())
    };
    context.page(&text);
    Ok(exit::OK)
}

/// Pure: what it is, why, the command.
fn shown(repairs: &[Repair], now: Timestamp, paint: Paint, width: usize) -> String {
    if repairs.is_empty() {
        return "nothing needs you\n".to_owned();
    }
    let mut out = String::new();
    for repair in repairs {
        let mut what = repair.what.clone();
        if let Some(since) = repair.since {
            what.push_str(&format!(", {}", ago(since, now)));
        }
        if let Some(until) = repair.until.filter(|until| *until > now) {
            what.push_str(&format!(", passes in {}", short_span(until.since(now))));
        }
        let what = line(&what, width.saturating_sub(2));
        out.push_str(&format!("{} {}\n", paint.yellow("!"), paint.bold(what)));
        if let Some(why) = &repair.why {
            out.push_str(&block(why, "  ", width, WHY_LINES_MAX));
        }
        out.push_str(&format!("  {} {}\n", paint.dim("→"), paint.cyan(&repair.command)));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::repair::RepairKind;

    #[test]
    fn what_why_and_the_command() {
        let now = Timestamp(1_800_000_000_000);
        let quota = Repair::new(
            RepairKind::Quota,
            "main.engine",
            "main.engine is used up for now",
            "workagent kick main.engine",
        );
        let repairs = [
            Repair {
                since: Some(now.minus(Duration::from_secs(7200))),
                why: Some("NO [AUTHENTICATIONFAILED] \u{1b}[31minvalid credentials".into()),
                ..Repair::new(
                    RepairKind::Auth,
                    "inbox.connector",
                    "inbox.connector is not let in",
                    "workagent init inbox",
                )
            },
            Repair { until: Some(now.plus(Duration::from_secs(3600))), ..quota },
        ];
        insta::assert_snapshot!(shown(&repairs, now, Paint { colour: false }, 80), @r#"
        ! inbox.connector is not let in, 2h ago
          NO [AUTHENTICATIONFAILED] [31minvalid credentials
          → workagent init inbox
        ! main.engine is used up for now, passes in 1h
          → workagent kick main.engine
        "#);
        assert_eq!(shown(&[], now, Paint { colour: false }, 80), "nothing needs you\n");
    }
}
