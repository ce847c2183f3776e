//! Event lines of Gemini CLI. Pure.
//!
//! It does not tell why a model stopped: a cut or censored answer looks like a whole one, which is why the prompt asks for
//! marks around it.

use serde_json::{Map, Value};

use super::{Reader, Told, count, text};
use crate::engine::notices::{Moment, failure};
use crate::model::run::RunFailure;

/// Reads its events.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    answer: String,
    too_long: bool,
    /// The last error event.
    error: Option<String>,
}

impl Reader for Gemini {
    fn take(&mut self, kind: &str, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        match kind {
            "init" => {
                told.session(text(event, "session_id"));
                told.model(text(event, "model"));
            }
            "message" if text(event, "role") == Some("assistant") => {
                told.progress += 1;
                self.too_long |= !Told::append(&mut self.answer, text(event, "content").unwrap_or_default());
            }
            // What was said before a tool was used is not the answer.
            "tool_use" => {
                told.progress += 1;
                self.answer.clear();
            }
            "tool_result" => told.progress += 1,
            "error" => {
                let message = text(event, "message").unwrap_or_default();
                told.stumble(message);
                self.error = Some(message.to_owned());
            }
            "result" => {
                told.progress += 1;
                told.trouble = None;
                let stats = event.get("stats");
                told.usage.input_tokens = count(stats, "input_tokens").or(told.usage.input_tokens);
                told.usage.output_tokens = count(stats, "output_tokens").or(told.usage.output_tokens);
                self.result(event, told, moment);
            }
            _ => {}
        }
    }

    /// The HTTP status and 255, and codes of its own.
    fn of_exit(&self, code: i32, moment: &Moment) -> Option<RunFailure> {
        match code {
            41 => Some(RunFailure::Auth),
            42 => Some(RunFailure::Protocol),
            44 | 52 | 55 => Some(RunFailure::Config),
            53 => Some(RunFailure::TurnLimit),
            144..=255 => failure("", Some(u16::try_from(code).ok()? | 256), moment),
            _ => None,
        }
    }
}

impl Gemini {
    fn result(&self, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        let error = event.get("error").and_then(Value::as_object);
        let message = error.and_then(|error| text(error, "message")).or(self.error.as_deref());
        match (text(event, "status"), message) {
            _ if self.too_long => told.fail_as(RunFailure::Protocol, "its answer is too long"),
            (Some("success"), _) if told.torn_lines > 0 => {
                told.fail_as(RunFailure::Protocol, "a line of its output is torn");
            }
            (Some("success"), Some(message)) if self.answer.trim().is_empty() => {
                told.fail(message, None, moment);
            }
            (Some("success"), Some(message)) => match failure(message, None, moment) {
                Some(RunFailure::Loop) => told.fail_as(RunFailure::Loop, message),
                _ => {
                    told.remark(&format!("it said on the way: {message}"));
                    told.finish(&self.answer, None, moment);
                }
            },
            (Some("success"), None) => told.finish(&self.answer, None, moment),
            (Some("error"), message) => told.fail(message.unwrap_or_default(), None, moment),
            _ => told.fail_as(RunFailure::Protocol, "its final event is of an unknown kind"),
        }
    }
}
