//! The walk through open drafts: one card after another, a key for each decision.

use std::fmt;
use std::io::BufRead;

use super::{approve_one, card, edit};
use crate::cli::backend::Backend;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::Paint;
use crate::control::wire::{DeferBody, RejectBody, ReviewView};
use crate::model::ids::DraftId;

/// Decisions on one draft before the walk goes on by itself: a script that answers nonsense must not loop.
const ANSWERS_MAX: usize = 100;

/// A day, for "not now".
const DEFER_SPAN: std::time::Duration = std::time::Duration::from_secs(86_400);

/// Who answers the questions.
pub enum Console {
    /// A person, line by line.
    Lines(Box<dyn BufRead>),
    /// Approves everything, for `--yes`.
    Yes,
}

impl Console {
    /// The terminal.
    #[must_use]
    pub fn terminal() -> Self {
        Self::Lines(Box::new(std::io::stdin().lock()))
    }

    /// One answer; `None` at the end of input.
    fn ask(&mut self, question: &str, out: &mut dyn std::io::Write) -> Result<Option<String>, CliError> {
        write!(out, "{question} ")?;
        out.flush()?;
        match self {
            Self::Yes => {
                writeln!(out, "a")?;
                Ok(Some("a".into()))
            }
            Self::Lines(lines) => {
                let mut text = String::new();
                let read = lines.read_line(&mut text)?;
                Ok((read > 0).then(|| text.trim().to_owned()))
            }
        }
    }
}

/// What came of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Approved.
    pub approved: usize,
    /// Rejected.
    pub rejected: usize,
    /// Put away.
    pub deferred: usize,
    /// Left as they are.
    pub left: usize,
}

impl fmt::Display for Walked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { approved, rejected, deferred, left } = self;
        if approved + rejected + deferred + left == 0 {
            return writeln!(f, "no drafts wait for you");
        }
        writeln!(f, "{approved} approved, {rejected} rejected, {deferred} put away, {left} left")
    }
}

enum Step {
    Next,
    Stop,
}

/// Walks through the open drafts.
pub async fn walk(
    backend: &Backend,
    context: &mut Context<'_>,
    console: &mut Console,
) -> Result<Walked, CliError> {
    let views: Vec<ReviewView> = backend.get("/v1/reviews?deferred=false").await?;
    let mut walked = Walked::default();
    for (index, view) in views.iter().enumerate() {
        match one(backend, context, console, view.draft.id, &mut walked).await? {
            Step::Next => {}
            Step::Stop => {
                walked.left += views.len() - index;
                break;
            }
        }
    }
    Ok(walked)
}

async fn one(
    backend: &Backend,
    context: &mut Context<'_>,
    console: &mut Console,
    draft: DraftId,
    walked: &mut Walked,
) -> Result<Step, CliError> {
    let paint = Paint { colour: context.colour() };
    for _ in 0..ANSWERS_MAX {
        // Asked for anew each time: what is approved is what is on the screen.
        let view: ReviewView = backend.get(&format!("/v1/reviews/{draft}")).await?;
        let shown = card(&view, context.clock.now(), context.width(), paint);
        writeln!(context.out, "\n{shown}")?;
        let approve = if view.draft.stale { "[approve anyway]" } else { "[a]pprove" };
        let keys =
            format!("{approve}  [e]dit  [r]eject  reject and [t]ry again  [d]efer a day  [s]kip  [q]uit:");
        let Some(answer) = console.ask(&keys, context.out)? else { return Ok(Step::Stop) };
        let outcome = match answer.as_str() {
            "approve anyway" => approve_one(backend, &view, true).await.map(|text| (text, Some(1))),
            "a" | "approve" => approve_one(backend, &view, false).await.map(|text| (text, Some(1))),
            "e" | "edit" => edit::edit(backend, context, &view, None, &edit::EffectChange::default())
                .await
                .map(|text| (text, None)),
            "r" | "reject" => {
                reject(backend, context, console, draft, false).await.map(|text| (text, Some(2)))
            }
            "t" | "try" => reject(backend, context, console, draft, true).await.map(|text| (text, Some(2))),
            "d" | "defer" => defer(backend, context, draft).await.map(|text| (text, Some(3))),
            "s" | "skip" | "" => {
                walked.left += 1;
                return Ok(Step::Next);
            }
            "q" | "quit" => return Ok(Step::Stop),
            other => Ok((format!("`{other}` is none of the keys\n"), None)),
        };
        match outcome {
            Ok((text, done)) => {
                write!(context.out, "{text}")?;
                match done {
                    Some(1) => walked.approved += 1,
                    Some(2) => walked.rejected += 1,
                    Some(_) => walked.deferred += 1,
                    None => continue,
                }
                return Ok(Step::Next);
            }
            // Refused: the draft changed or its connector is off. The person sees why and decides again.
            Err(error) => writeln!(context.out, "{}", paint.red(&error.message))?,
        }
        if matches!(console, Console::Yes) {
            walked.left += 1;
            return Ok(Step::Next);
        }
    }
    Ok(Step::Stop)
}

async fn reject(
    backend: &Backend,
    context: &mut Context<'_>,
    console: &mut Console,
    draft: DraftId,
    retry: bool,
) -> Result<String, CliError> {
    let question = if retry { "what should be different?" } else { "why (may be empty)?" };
    let note = console.ask(question, context.out)?.unwrap_or_default();
    backend.post::<_, ()>(&format!("/v1/reviews/{draft}/reject"), &RejectBody { note, retry }).await?;
    Ok(format!("{draft} is rejected\n"))
}

async fn defer(backend: &Backend, context: &Context<'_>, draft: DraftId) -> Result<String, CliError> {
    let until = context.clock.now().plus(DEFER_SPAN);
    backend.post::<_, ()>(&format!("/v1/reviews/{draft}/defer"), &DeferBody { until }).await?;
    Ok(format!("{draft} comes back tomorrow\n"))
}
