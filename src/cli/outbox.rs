//! `workagent outbox`: what was approved, and whether it arrived.

use clap::{Args, Subcommand};

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Cell, Paint, Table, ago, line};
use crate::control::wire::{ListQuery, ReleaseBody};
use crate::daemon::exit;
use crate::model::ids::ActionId;
use crate::model::outbound::{ActionState, OutboundAction};
use crate::model::time::{Timestamp, short_span};

/// `workagent outbox …`
#[derive(Debug, Args)]
pub struct OutboxArgs {
    #[command(subcommand)]
    command: Option<OutboxCommand>,
}

#[derive(Debug, Subcommand)]
enum OutboxCommand {
    /// List sends, newest first
    List {
        /// Only in this state: approved, sending, sent, uncertain, held, dead, cancelled
        #[arg(long)]
        state: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take back a send that has not left yet
    Cancel {
        /// The send, `a12` or `12`
        action: ActionId,
    },
    /// Take note of a send that was given up: it is no news any more, and its case is dismissed
    Dismiss {
        /// The sends
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        actions: Vec<ActionId>,
        /// All that were given up
        #[arg(long)]
        all: bool,
    },
    /// Decide about a held send: send it (again)
    Release {
        /// The send
        action: ActionId,
        /// It did arrive: record it as sent instead of sending it
        #[arg(long)]
        was_sent: bool,
    },
}

/// Runs the command.
pub async fn command(args: OutboxArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let command = args.command.unwrap_or(OutboxCommand::List { state: None, limit: 50, json: false });
    let text = match command {
        OutboxCommand::List { state, limit, json } => {
            let query = ListQuery { state, limit: Some(limit), label: None };
            let actions: Vec<OutboundAction> = backend.get(&query.path("/v1/outbox")).await?;
            if json {
                pretty(&actions)
            } else if let (Some(state), true) = (&query.state, actions.is_empty()) {
                format!("no send is in the state `{state}`\n")
            } else {
                list(&actions, context.clock.now(), context.paint(), context.width())
            }
        }
        OutboxCommand::Cancel { action } => {
            backend.post::<(), ()>(&format!("/v1/outbox/{action}/cancel"), &()).await?;
            format!(
                "{action} is taken back and its case dismissed; `workagent case retry CASE` has it drafted anew\n"
            )
        }
        OutboxCommand::Dismiss { actions, all } => {
            let given_up = if all { dead(&backend).await? } else { actions };
            for action in &given_up {
                backend.post::<(), ()>(&format!("/v1/outbox/{action}/dismiss"), &()).await?;
            }
            let names: Vec<String> = given_up.iter().map(ToString::to_string).collect();
            match names.as_slice() {
                [] => "no send was given up\n".to_owned(),
                [one] => format!("{one} is noted; `workagent case retry CASE` has its case drafted anew\n"),
                more => format!(
                    "{} are noted; `workagent case retry CASE` has a case drafted anew\n",
                    more.join(", ")
                ),
            }
        }
        OutboxCommand::Release { action, was_sent } => {
            let body = ReleaseBody { was_sent };
            backend.post::<_, ()>(&format!("/v1/outbox/{action}/release"), &body).await?;
            let what = if was_sent { "is recorded as sent" } else { "goes out now" };
            format!("{action} {what}\n")
        }
    };
    backend.close().await;
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// The sends that were given up.
async fn dead(backend: &Backend) -> Result<Vec<ActionId>, CliError> {
    let query =
        ListQuery { state: Some(ActionState::Dead.word().to_owned()), limit: Some(1000), label: None };
    let actions: Vec<OutboundAction> = backend.get(&query.path("/v1/outbox")).await?;
    Ok(actions.iter().map(|action| action.id).collect())
}

fn list(actions: &[OutboundAction], now: Timestamp, paint: Paint, width: usize) -> String {
    if actions.is_empty() {
        return "nothing was approved yet\n".to_owned();
    }
    let mut table = Table::new(&["SEND", "CASE", "STATE", "APPROVED", "TO"]);
    for action in actions {
        let colour = match action.state {
            ActionState::Held | ActionState::Dead => "31",
            ActionState::Uncertain => "33",
            _ => "",
        };
        table.row([
            action.id.to_string().into(),
            action.case.to_string().into(),
            Cell::painted(colour, action.state.word()),
            ago(action.approved_at, now).into(),
            line(&action.envelope.told(), 200).into(),
        ]);
        let remark = match (action.state, &action.receipt, &action.last_error) {
            (ActionState::Approved, _, None) if action.not_before > now => {
                format!("leaves in {}", short_span(action.not_before.since(now)))
            }
            (_, Some(receipt), _) => receipt.remote_id.clone(),
            (_, None, Some(error)) => error.clone(),
            (_, None, None) => continue,
        };
        // Whole: what it says to do stands at its end.
        for piece in lines_of(&line(&remark, 1000), width.saturating_sub(NOTE_INDENT).max(40)) {
            table.note(piece.into());
        }
        if let Some(next) = next_step(action) {
            table.note(format!("next: {next}").into());
        }
    }
    table.render(paint, width)
}

/// What a person can do about one that waits for them.
fn next_step(action: &OutboundAction) -> Option<String> {
    let (id, case) = (action.id, action.case);
    match action.state {
        ActionState::Held => Some(format!("workagent outbox release {id}, or outbox cancel {id}")),
        ActionState::Dead => Some(format!("workagent case retry {case}, or outbox dismiss {id}")),
        _ => None,
    }
}

/// Columns that a note below a row is set in by.
const NOTE_INDENT: usize = 3;

/// One line of text in lines of at most `width` columns, broken at blanks; a longer word stands by itself.
fn lines_of(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::draft::Envelope;
    use crate::model::ids::{CaseId, DraftId};

    #[test]
    fn a_long_error_is_whole_and_fits_the_screen() {
        let now = Timestamp(1_796_025_600_000);
        let action = OutboundAction {
            id: ActionId(1),
            case: CaseId(12),
            draft: DraftId(1),
            connector: "inbox".into(),
            destination: String::new(),
            envelope: Envelope { to: vec!["acme/application#1234".into()], ..Envelope::default() },
            body: String::new(),
            key: String::new(),
            hash: String::new(),
            state: ActionState::Held,
            not_before: now,
            attempts: 0,
            payload: None,
            receipt: None,
            last_error: Some(
                "something came or changed at its source after the approval; look at the case, then release or cancel it"
                    .into(),
            ),
            approved_at: now,
            sending_at: None,
        };
        insta::assert_snapshot!(list(&[action], now, Paint { colour: false }, 80), @r"
        SEND  CASE  STATE  APPROVED  TO
        a1    c12   held   0s ago    acme/application#1234
           something came or changed at its source after the approval; look at the case,
           then release or cancel it
           next: workagent outbox release a1, or outbox cancel a1
        ");
    }
}
