//! `workagent case replay`: a case run once more by another engine or with another prompt, beside the draft it has.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, line};
use crate::control::wire::ReplayBody;
use crate::daemon::exit;
use crate::model::ids::CaseId;
use crate::model::limits;
use crate::model::text::visible;
use crate::store::{CaseRecord, Replay};

/// Between two looks at whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// `workagent case replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The case, `c12` or `12`
    case: CaseId,
    /// The engine that runs it; by default the one that it is routed to
    #[arg(long)]
    engine: Option<String>,
    /// A file with a prompt in place of the route's
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `case replay --json`.
#[derive(Serialize)]
struct ReplayView<'a> {
    replay: &'a Replay,
    /// What the engine of the newest draft wrote, before anybody edited it.
    before: Option<&'a str>,
    /// Who made it.
    made_by: Option<&'a str>,
}

/// Asks for a replay, waits for it, shows both texts.
pub(super) async fn command(args: ReplayArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let prompt = args.prompt.as_deref().map(read).transpose()?;
    let backend = Backend::daemon(context).await?;
    let case = args.case;
    let record: CaseRecord = backend.get(&format!("/v1/cases/{case}")).await?;
    let body = ReplayBody { engine: args.engine, prompt };
    let mut replay: Replay = backend.post(&format!("/v1/cases/{case}/replay"), &body).await?;
    if !args.json {
        context
            .note(&format!("{} runs {case}; nothing of it is sent and no draft is touched\n", replay.engine));
    }
    // The engine's own time limits end it.
    while replay.state != "done" {
        tokio::time::sleep(LOOK_EVERY).await;
        replay = backend.get(&format!("/v1/replays/{}", replay.id)).await?;
    }
    let draft = record.drafts.last();
    let before = draft.map(|draft| draft.engine_body.as_str());
    let made_by = draft.map(|draft| draft.made_by.as_str());
    let text = if args.json {
        pretty(&ReplayView { replay: &replay, before, made_by })
    } else {
        shown(&replay, before.zip(made_by), context.width(), Paint { colour: context.colour() })
    };
    context.out.write_all(text.as_bytes())?;
    let answered = matches!(replay.outcome.as_str(), "reply" | "nothing-to-do" | "question");
    Ok(if answered { exit::OK } else { exit::FAILURE })
}

fn read(file: &std::path::Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| CliError::doing(&format!("read {}", file.display()), &error))?;
    if text.len() > limits::INSTRUCTION_BYTES_MAX {
        let most = limits::INSTRUCTION_BYTES_MAX;
        return Err(CliError::usage(format!("{} is longer than {most} bytes", file.display())));
    }
    Ok(text)
}

/// The old text and the new one as a diff, or the new one alone.
fn shown(replay: &Replay, before: Option<(&str, &str)>, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    let run = replay.run.map(|run| format!(" · {run}")).unwrap_or_default();
    if replay.outcome != "reply" {
        let _ = writeln!(out, "{}: {}{run}", paint.bold(line(&replay.engine, 60)), replay.outcome);
        let _ = writeln!(out, "  {}", line(&replay.body, width.saturating_sub(2)));
        return out;
    }
    let new = visible(&replay.body);
    match before {
        Some((old, made_by)) => {
            let old = visible(old);
            let _ = writeln!(out, "{} {}", paint.red("---"), line(made_by, width.saturating_sub(4)));
            let _ = writeln!(
                out,
                "{} {}{run}",
                paint.green("+++"),
                line(&replay.engine, width.saturating_sub(12))
            );
            if old.trim() == new.trim() {
                out.push_str("  the same text\n");
            } else {
                diff(&mut out, &old, &new, paint);
            }
        }
        None => {
            let _ = writeln!(
                out,
                "{}{run}, there is no draft to compare it with",
                paint.bold(line(&replay.engine, 60))
            );
            let _ = writeln!(out, "{}", new.trim_end());
        }
    }
    for remark in &replay.remarks {
        let _ = writeln!(out, "  {} {}", paint.yellow("note"), line(remark, width.saturating_sub(7)));
    }
    out
}

fn diff(out: &mut String, old: &str, new: &str, paint: Paint) {
    let (old, new) = (format!("{}\n", old.trim_end()), format!("{}\n", new.trim_end()));
    for change in TextDiff::from_lines(&old, &new).iter_all_changes() {
        let text = change.value().trim_end_matches('\n');
        let _ = match change.tag() {
            ChangeTag::Delete => writeln!(out, "{}", paint.red(format!("-{text}"))),
            ChangeTag::Insert => writeln!(out, "{}", paint.green(format!("+{text}"))),
            ChangeTag::Equal => writeln!(out, " {text}"),
        };
    }
}
