//! Event lines of Copilot CLI. Pure.
//!
//! Refusals and cut answers look like whole ones: the prompt asks for marks.

use serde_json::{Map, Value};

use super::{Reader, Told, count, text};
use crate::engine::notices::Moment;
use crate::model::run::RunFailure;

/// Reads its events.
#[derive(Debug, Default)]
pub(super) struct Copilot {
    answer: String,
    too_long: bool,
    /// What the session says went wrong, and the status beside it.
    error: Option<(String, Option<u16>)>,
    output_tokens: u64,
}

impl Reader for Copilot {
    fn take(&mut self, kind: &str, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        let nothing = Map::new();
        let data = event.get("data").and_then(Value::as_object).unwrap_or(&nothing);
        match kind {
            "assistant.message" => {
                told.progress += 1;
                told.model(text(data, "model"));
                self.answer.clear();
                self.output_tokens = self
                    .output_tokens
                    .saturating_add(data.get("outputTokens").and_then(Value::as_u64).unwrap_or(0));
                let asks =
                    data.get("toolRequests").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
                // What is said beside a tool call is not the answer.
                if !asks {
                    let content = text(data, "content").unwrap_or_default();
                    self.too_long |= !Told::append(&mut self.answer, content);
                }
            }
            "assistant.message_delta" | "assistant.turn_start" => told.progress += 1,
            "model.call_failure" => {
                let message = text(data, "errorMessage").unwrap_or_default();
                match data.get("statusCode").and_then(Value::as_u64) {
                    Some(status) => told.stumble(&format!("status {status}: {message}")),
                    None => told.stumble(message),
                }
            }
            "session.error" => {
                let status = count(event.get("data"), "statusCode").and_then(|status| status.try_into().ok());
                let message = text(data, "message").unwrap_or_default();
                let kind = text(data, "errorType").unwrap_or_default();
                self.error = Some((format!("{kind}: {message}"), status));
            }
            "result" => {
                told.progress += 1;
                told.session(text(event, "sessionId"));
                if self.output_tokens > 0 {
                    told.usage.output_tokens = Some(self.output_tokens);
                }
                let code = event.get("exitCode").and_then(Value::as_i64);
                match (code, self.error.take()) {
                    // A retry that went well leaves no error behind.
                    (Some(0), None) if self.too_long => {
                        told.fail_as(RunFailure::Protocol, "its answer is too long");
                    }
                    (Some(0), None) => {
                        told.trouble = None;
                        told.finish(&self.answer, None, moment);
                    }
                    // The calls before say more than the sum of them.
                    (_, Some((message, status))) => {
                        let trouble = told.trouble.take().unwrap_or_default();
                        let all = format!("{message}; {trouble}");
                        told.fail(all.trim_end_matches("; "), status, moment);
                    }
                    (Some(code), None) => {
                        told.fail(&format!("it ended with its exit code {code}"), None, moment);
                    }
                    (None, None) => {
                        told.fail_as(RunFailure::Protocol, "its final event is of an unknown kind");
                    }
                }
            }
            _ => {}
        }
    }
}
