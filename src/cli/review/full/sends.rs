//! The line about sends: what leaves when, and what has left.

use std::time::Duration;

use super::model::Model;
use crate::cli::screen::{fit, harmless_line};
use crate::model::outbound::{ActionState, OutboundAction};
use crate::model::time::{Timestamp, short_span};

/// What has left is news for so long.
const NEWS_FOR: Duration = Duration::from_secs(120);

impl Model {
    /// There is something to tell of sends.
    pub(super) fn has_sends(&self, now: Timestamp) -> bool {
        self.sends.iter().any(|action| is_news(action, now))
    }
}

/// Under way, waiting for the person, or gone just now.
fn is_news(action: &OutboundAction, now: Timestamp) -> bool {
    match action.state {
        ActionState::Approved | ActionState::Sending | ActionState::Uncertain | ActionState::Held => true,
        ActionState::Sent | ActionState::Dead => now < action.not_before.plus(NEWS_FOR),
        ActionState::Cancelled => false,
    }
}

/// The line, newest first.
pub(super) fn line(model: &Model, now: Timestamp, width: usize) -> String {
    let undoable = model.undoable(now).map(|action| action.id);
    let mut news: Vec<&OutboundAction> = model.sends.iter().filter(|action| is_news(action, now)).collect();
    // The one that something can be done about is never cut off.
    news.sort_by_key(|action| undoable != Some(action.id));
    let all_sent = news.iter().filter(|action| action.state == ActionState::Sent).count();
    let mut sent = 0;
    let told = news.into_iter().filter_map(|action| {
        let to = fit(&harmless_line(&action.envelope.recipients()), 28);
        let id = action.id;
        Some(match action.state {
            ActionState::Approved if model.is_paused() => format!("{id} to {to} waits: nothing leaves now"),
            ActionState::Approved if undoable == Some(id) => {
                format!("{id} to {to} leaves in {} (u takes it back)", countdown(action, now))
            }
            ActionState::Approved if action.not_before > now => {
                format!("{id} leaves in {}", countdown(action, now))
            }
            ActionState::Approved => format!("{id} to {to} leaves now"),
            ActionState::Sending => format!("{id} to {to} is being sent"),
            ActionState::Sent if sent > 0 => {
                sent += 1;
                return None;
            }
            ActionState::Sent => {
                sent += 1;
                match &action.receipt {
                    Some(receipt) if all_sent == 1 && undoable.is_none() => {
                        format!("{id} to {to} is sent: {}", harmless_line(&receipt.remote_id))
                    }
                    _ => format!("{id} to {to} is sent"),
                }
            }
            ActionState::Uncertain => format!("{id} may be sent, being looked for"),
            ActionState::Held => format!("{id} is held for you: workagent outbox list"),
            ActionState::Dead => format!("{id} was given up: workagent outbox list"),
            ActionState::Cancelled => return None,
        })
    });
    let mut told: Vec<String> = told.collect();
    if sent > 1 {
        told.push(format!("{} more sent", sent - 1));
    }
    fit(&told.join(" · "), width)
}

/// The second in which it leaves counts as one.
fn countdown(action: &OutboundAction, now: Timestamp) -> String {
    let rest = action.not_before.since(now);
    short_span(Duration::from_secs(rest.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)))
}
