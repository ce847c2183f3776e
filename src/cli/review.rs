//! `workagent review`: drafts, one after another, and a decision on each. The same decisions as commands of one line.

mod card;
mod edit;
mod full;
mod walk;

use clap::{Args, Subcommand};

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, ago, line, table};
use super::screen::can_draw;
use super::span::span;
use crate::control::wire::{ApproveBody, Approved, DeferBody, RejectBody, ReviewView};
use crate::daemon::exit;
use crate::model::ids::DraftId;
use crate::model::time::{Timestamp, short_span};

pub(super) use card::card;
pub(super) use walk::{Console, Walked, walk};

/// `workagent review …`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// Ask line by line, as where there is no terminal to draw on
    #[arg(long)]
    plain: bool,
    #[command(subcommand)]
    command: Option<ReviewCommand>,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// List drafts that wait for you, oldest first
    List {
        /// Deferred ones too
        #[arg(long)]
        deferred: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a draft: what it answers with hidden parts, who gets it, and why it went to its engine
    Show {
        /// The draft, `d12` or `12`
        draft: DraftId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Edit a draft in $VISUAL or $EDITOR, and show the difference
    Edit {
        /// The draft
        draft: DraftId,
        /// Take the new text from this file, or from standard input with `-`
        #[arg(long, value_name = "FILE")]
        file: Option<std::path::PathBuf>,
        #[command(flatten)]
        effects: edit::EffectChange,
    },
    /// Approve drafts: they are sent after the undo window
    Approve {
        /// The drafts
        #[arg(required = true)]
        drafts: Vec<DraftId>,
        /// Only if the draft still has this hash (or a beginning of it of at least 8 digits)
        #[arg(long)]
        hash: Option<String>,
        /// Although the thread moved on after the draft was made
        #[arg(long)]
        stale_ok: bool,
    },
    /// Reject a draft
    Reject {
        /// The draft
        draft: DraftId,
        /// Why; with --retry the engine gets to read it
        #[arg(long, short = 'm', default_value = "")]
        note: String,
        /// Have the engine try again
        #[arg(long)]
        retry: bool,
    },
    /// Put a draft away for a while
    Defer {
        /// The draft
        draft: DraftId,
        /// For how long, `2h`, `3d`
        #[arg(default_value = "1d", value_parser = |text: &str| span(text, "90s, 2h, 3d"))]
        span: std::time::Duration,
    },
}

/// Runs the command; without a subcommand, shows the open drafts on a full screen, or walks through them.
pub async fn command(args: ReviewArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let result = run(args, context, &backend).await;
    backend.close().await;
    result
}

async fn run(args: ReviewArgs, context: &mut Context<'_>, backend: &Backend) -> Result<u8, CliError> {
    let (now, width) = (context.clock.now(), context.width());
    let paint = Paint { colour: context.colour() };
    let text = match args.command {
        None if !args.plain && can_draw(context) => full::full(backend, context).await?,
        None => {
            let mut console = Console::terminal();
            let walked = walk(backend, context, &mut console).await?;
            walked.to_string()
        }
        Some(ReviewCommand::List { deferred, json }) => {
            let views: Vec<ReviewView> = backend.get(&format!("/v1/reviews?deferred={deferred}")).await?;
            if json { pretty(&views) } else { list(&views, now, width) }
        }
        Some(ReviewCommand::Show { draft, json }) => {
            let view: ReviewView = backend.get(&format!("/v1/reviews/{draft}")).await?;
            if json { pretty(&view) } else { card(&view, now, width, paint) }
        }
        Some(ReviewCommand::Edit { draft, file, effects }) => {
            let view: ReviewView = backend.get(&format!("/v1/reviews/{draft}")).await?;
            edit::edit(backend, context, &view, file.as_deref(), &effects).await?
        }
        Some(ReviewCommand::Approve { drafts, hash, stale_ok }) => {
            approve(backend, context, &drafts, hash.as_deref(), stale_ok).await?;
            String::new()
        }
        Some(ReviewCommand::Reject { draft, note, retry }) => {
            let body = RejectBody { note, retry };
            backend.post::<_, ()>(&format!("/v1/reviews/{draft}/reject"), &body).await?;
            let then = if retry { "the engine tries again" } else { "its case is dismissed" };
            format!("{draft} is rejected, {then}\n")
        }
        Some(ReviewCommand::Defer { draft, span }) => {
            let body = DeferBody { until: now.plus(span) };
            backend.post::<_, ()>(&format!("/v1/reviews/{draft}/defer"), &body).await?;
            format!("{draft} comes back in {}\n", short_span(span))
        }
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// Shortest beginning of a hash that is taken for it.
const HASH_PREFIX_LEN_MIN: usize = 8;

async fn approve(
    backend: &Backend,
    context: &mut Context<'_>,
    drafts: &[DraftId],
    hash: Option<&str>,
    stale_ok: bool,
) -> Result<(), CliError> {
    if hash.is_some() && drafts.len() > 1 {
        return Err(CliError::usage("--hash goes with one draft"));
    }
    for draft in drafts {
        let view: ReviewView = backend.get(&format!("/v1/reviews/{draft}")).await?;
        let seen = view.draft.hash.as_str();
        if hash.is_some_and(|wanted| wanted.len() < HASH_PREFIX_LEN_MIN || !seen.starts_with(wanted)) {
            let error = CliError::new(exit::FAILURE, format!("the draft {draft} changed: it is {seen} now"));
            return Err(error.hint(format!("look at it again: workagent review show {draft}")));
        }
        // Said at once: a later one that fails must not hide how to take this one back.
        let done = approve_one(backend, &view, stale_ok).await?;
        context.out.write_all(done.as_bytes())?;
    }
    Ok(())
}

/// Approves what a person saw.
pub(super) async fn approve_one(
    backend: &Backend,
    view: &ReviewView,
    stale_ok: bool,
) -> Result<String, CliError> {
    let draft = &view.draft;
    let body = ApproveBody { hash: draft.hash.clone(), by: "terminal".into(), stale_ok };
    let approved: Approved = backend.post(&format!("/v1/reviews/{}/approve", draft.id), &body).await?;
    let to = line(&draft.envelope.told(), 60);
    let action = approved.action;
    let when = match view.hold {
        _ if approved.paused => {
            format!("leaves after `workagent resume` (undo: workagent outbox cancel {action})")
        }
        Some(hold) if !hold.is_zero() => {
            format!("leaves in {} (undo: workagent outbox cancel {action})", short_span(hold))
        }
        _ => "leaves now".to_owned(),
    };
    let way = match draft.destination.as_str() {
        "" => String::new(),
        destination => format!(" by way of {}", line(destination, 80)),
    };
    Ok(format!("{} is approved: {action} to {to}{way} {when}\n", draft.id))
}

fn list(views: &[ReviewView], now: Timestamp, width: usize) -> String {
    if views.is_empty() {
        return "no drafts wait for you\n".to_owned();
    }
    let head = ["DRAFT", "CASE", "AGE", "BY", "TO", "SUBJECT"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for view in views {
        let draft = &view.draft;
        let mut subject = line(&draft.envelope.subject, width.saturating_sub(70).max(24));
        if draft.stale {
            subject.push_str("  (the thread moved on)");
        }
        rows.push(vec![
            draft.id.to_string(),
            draft.case.to_string(),
            ago(draft.made_at, now),
            line(&draft.made_by, 20),
            line(&draft.envelope.told(), 36),
            subject,
        ]);
    }
    table(&rows)
}
