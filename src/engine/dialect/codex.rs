//! Event lines of Codex CLI. Pure.

use serde_json::{Map, Value};

use super::{Reader, Told, count, text};
use crate::engine::notices::Moment;
use crate::model::run::{RunFailure, Usage};

/// Reads its events. Its answer is the last message of a turn that ended in order.
#[derive(Debug, Default)]
pub(super) struct Codex {
    answer: String,
    reasoned: bool,
}

impl Codex {
    fn item(&mut self, event: &Map<String, Value>, told: &mut Told) {
        let Some(item) = event.get("item").and_then(Value::as_object) else { return };
        told.progress += 1;
        match text(item, "type").unwrap_or_default() {
            "agent_message" => {
                self.answer.clear();
                if !Told::append(&mut self.answer, text(item, "text").unwrap_or_default()) {
                    told.fail_as(RunFailure::Protocol, "its answer is too long");
                }
            }
            "reasoning" => self.reasoned = true,
            "command_execution" | "mcp_tool_call" | "file_change"
                if text(item, "status") == Some("declined") =>
            {
                told.deny(text(item, "command").or_else(|| text(item, "type")));
            }
            _ => {}
        }
    }
}

impl Reader for Codex {
    fn take(&mut self, kind: &str, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        match kind {
            "thread.started" => told.session(text(event, "thread_id")),
            "turn.started" => {
                told.progress += 1;
                // What was said in an earlier turn is no answer to this one.
                told.end = None;
                self.answer.clear();
            }
            "item.completed" => self.item(event, told),
            "item.started" | "item.updated" => told.progress += 1,
            // On the way only: `turn.failed` ends.
            "error" => {
                let message = without_place(text(event, "message").unwrap_or_default());
                told.stumble(message);
                // Goes on for ever.
                if message.contains("waiting for network") {
                    told.hopeless = Some((RunFailure::Network, message.to_owned()));
                }
            }
            "turn.completed" => {
                told.progress += 1;
                take_usage(event, told);
                if matches!(told.end, Some(Err(_))) {
                    return;
                }
                told.trouble = None;
                if self.answer.trim().is_empty() && self.reasoned {
                    told.fail_as(RunFailure::Empty, "it reasoned and then said nothing");
                } else {
                    told.finish(&self.answer, None, moment);
                }
            }
            "turn.failed" => {
                told.progress += 1;
                let error = event.get("error").and_then(Value::as_object);
                let message = error.and_then(|error| text(error, "message")).unwrap_or_default();
                told.trouble = None;
                told.fail(without_place(message), None, moment);
            }
            _ => {}
        }
    }
}

/// Without URL and request number, which belong into no record.
fn without_place(message: &str) -> &str {
    let end = [", url: ", ", request id: "].iter().filter_map(|mark| message.find(mark)).min();
    message.get(..end.unwrap_or(message.len())).unwrap_or(message)
}

/// Cumulative over the thread, also over earlier processes: what was used before is taken off, and without knowing it
/// nothing is said.
fn take_usage(event: &Map<String, Value>, told: &mut Told) {
    let usage = event.get("usage");
    let of_this_run = |key: &str, before: fn(&Usage) -> Option<u64>| {
        let all = count(usage, key)?;
        match &told.before {
            None => Some(all),
            Some(earlier) => all.checked_sub(before(earlier)?),
        }
    };
    let input = of_this_run("input_tokens", |before| before.input_tokens);
    let output = of_this_run("output_tokens", |before| before.output_tokens);
    told.usage.input_tokens = input;
    told.usage.output_tokens = output;
}
