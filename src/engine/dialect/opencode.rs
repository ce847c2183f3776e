//! Event lines of opencode. Pure.
//!
//! It has no final event: the last finished step is its end, and its `reason` what it came to.

use serde_json::{Map, Value};

use super::{Reader, Told, count, micro_usd, text};
use crate::engine::notices::Moment;
use crate::model::run::RunFailure;

/// Reads its events.
#[derive(Debug, Default)]
pub(super) struct Opencode {
    /// Of the step that runs.
    answer: String,
    too_long: bool,
    /// Why the last step ended; `None` while one runs.
    reason: Option<String>,
    /// Millionths of a dollar.
    cost: u64,
    moment: Option<Moment>,
}

impl Opencode {
    fn finished(&mut self, part: &Value, told: &mut Told) {
        self.reason = part.get("reason").and_then(Value::as_str).map(str::to_owned);
        let tokens = part.get("tokens");
        let add = |place: &mut Option<u64>, key: &str| {
            if let Some(amount) = count(tokens, key) {
                *place = Some(place.unwrap_or_default().saturating_add(amount));
            }
        };
        add(&mut told.usage.input_tokens, "input");
        add(&mut told.usage.output_tokens, "output");
        let cost = micro_usd(part.get("cost").and_then(Value::as_f64)).unwrap_or_default();
        self.cost = self.cost.saturating_add(cost);
        // It says 0 for providers whose prices it does not know.
        if self.cost > 0 {
            told.usage.cost_micro_usd = Some(self.cost);
            "engine".clone_into(&mut told.usage.cost_source);
        }
    }
}

impl Reader for Opencode {
    fn take(&mut self, kind: &str, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        told.session(text(event, "sessionID"));
        told.progress += 1;
        let part = event.get("part").unwrap_or(&Value::Null);
        match kind {
            "step_start" => {
                self.reason = None;
                self.answer.clear();
            }
            "text" => {
                let piece = part.get("text").and_then(Value::as_str).unwrap_or_default();
                self.too_long |= !Told::append(&mut self.answer, piece);
            }
            "tool_use" => {
                let error = part.pointer("/state/error").and_then(Value::as_str).unwrap_or_default();
                if error.contains("rejected permission") || error.contains("denied") {
                    told.deny(part.get("tool").and_then(Value::as_str));
                }
            }
            "step_finish" => {
                self.moment = Some(moment.clone());
                self.finished(part, told);
            }
            "error" => {
                let error = event.get("error").unwrap_or(&Value::Null);
                let name = error.get("name").and_then(Value::as_str).unwrap_or_default();
                let data = error.get("data").unwrap_or(&Value::Null);
                let message = data.get("message").and_then(Value::as_str).unwrap_or(name);
                let status = data.get("statusCode").and_then(Value::as_u64);
                match name {
                    "ContentFilterError" => told.fail_as(RunFailure::Refused, message),
                    "ProviderAuthError" => told.fail_as(RunFailure::Auth, message),
                    "MessageOutputLengthError" => told.fail_as(RunFailure::Cut, message),
                    "MessageAbortedError" => told.fail_as(RunFailure::Cancelled, message),
                    _ => told.fail(message, status.and_then(|status| status.try_into().ok()), moment),
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, told: &mut Told) {
        // An error is the last word, whatever came beside it.
        let (None, Some(moment)) = (&told.end, &self.moment) else { return };
        match self.reason.as_deref() {
            None => {}
            _ if self.too_long => told.fail_as(RunFailure::Protocol, "its answer is too long"),
            Some("stop") if told.torn_lines > 0 => {
                told.fail_as(RunFailure::Protocol, "a line of its output is torn");
            }
            Some("stop") => told.finish(&self.answer, None, moment),
            Some("length") => told.fail_as(RunFailure::Cut, "the answer was cut by the output limit"),
            Some("content-filter") => told.fail_as(RunFailure::Refused, "the model refused"),
            // A refused tool ends a run so, with exit code 0.
            Some("tool-calls") => {
                let denied = if told.denied.is_empty() {
                    String::new()
                } else {
                    format!(": it was refused {}", told.denied.join(", "))
                };
                told.fail_as(
                    RunFailure::Empty,
                    &format!("it asked for a tool and said nothing more{denied}"),
                );
            }
            Some(_) => told.fail_as(RunFailure::Protocol, "its answer ended for an unknown reason"),
        }
    }
}
