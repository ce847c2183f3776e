//! An answer put together out of chunks. Pure.
//!
//! There is no last event: the last chunk is the one that says why the answer ended, and tokens may be counted after it.

use serde_json::Value;

use super::errors;
use crate::engine::api::talk::{Reader, Refusal, Step};
use crate::engine::api::{Failed, count, event_json, push, sum};
use crate::engine::structured;
use crate::model::run::{RunFailure, Usage};
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// What has come so far.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Answer {
    text: String,
    end: Option<String>,
    /// Why the prompt was not even looked at.
    blocked: Option<String>,
    thought: bool,
    called: bool,
    pub(super) usage: Usage,
    /// The model that answers.
    pub model: Option<String>,
}

impl Reader for Answer {
    fn event(&mut self, data: &[u8], now: Timestamp) -> Result<Step, Failed> {
        self.chunk(&event_json(data)?, now)?;
        Ok(Step::Progress)
    }

    /// Without `alt=sse`, and through some gateways, it is a list of chunks.
    fn whole(&mut self, body: &Value, now: Timestamp) -> Result<(), Failed> {
        match body.as_array() {
            Some(chunks) => chunks.iter().try_for_each(|chunk| self.chunk(chunk, now)),
            None => self.chunk(body, now),
        }
    }

    fn refusal(refusal: &Refusal<'_>) -> Failed {
        errors::failed(refusal)
    }
}

impl Answer {
    fn chunk(&mut self, chunk: &Value, now: Timestamp) -> Result<(), Failed> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(errors::in_band(chunk, now));
        }
        if let Some(model) = chunk.get("modelVersion").and_then(Value::as_str) {
            self.model = Some(model.to_owned());
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            self.take_usage(usage);
        }
        if let Some(why) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.blocked = Some(one_line(why, 60));
        }
        let Some(candidate) = chunk.pointer("/candidates/0") else { return Ok(()) };
        for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
            if part.get("functionCall").is_some() {
                self.called = true;
            } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
                self.thought = true;
            } else if let Some(piece) = part.get("text").and_then(Value::as_str) {
                if self.end.is_some() && !piece.is_empty() {
                    return Err((RunFailure::Protocol, "the answer went on behind its end".to_owned()));
                }
                push(&mut self.text, piece, structured::BYTES_MAX)?;
            }
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.end = Some(reason.to_owned());
        }
        Ok(())
    }

    fn take_usage(&mut self, usage: &Value) {
        let written = sum(&[count(usage, "candidatesTokenCount"), count(usage, "thoughtsTokenCount")]);
        self.usage.input_tokens = count(usage, "promptTokenCount").or(self.usage.input_tokens);
        self.usage.output_tokens = written.or(self.usage.output_tokens);
        self.usage.cache_read_tokens =
            count(usage, "cachedContentTokenCount").or(self.usage.cache_read_tokens);
    }

    /// The text, once the answer has ended in order.
    pub(in crate::engine) fn finish(&self) -> Result<&str, Failed> {
        let failed = |failure, text: &str| Err((failure, text.to_owned()));
        if let Some(why) = &self.blocked {
            return failed(RunFailure::Refused, &format!("the prompt was blocked ({why})"));
        }
        match self.end.as_deref() {
            None => return failed(RunFailure::Network, "the answer ended before its end"),
            Some("STOP") => {}
            Some("MAX_TOKENS") => return failed(RunFailure::Cut, "the answer was cut by `max_tokens`"),
            Some(
                why @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
                | "IMAGE_SAFETY"),
            ) => return failed(RunFailure::Refused, &format!("the model refused ({why})")),
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => {
                return failed(RunFailure::Protocol, "the model asked for a tool that it was not given");
            }
            Some(_) => return failed(RunFailure::Protocol, "the answer ended for an unknown reason"),
        }
        if self.called {
            return failed(RunFailure::Protocol, "the model asked for a tool that it was not given");
        }
        if self.text.trim().is_empty() {
            return match self.thought {
                true => failed(RunFailure::Empty, "the model thought and then said nothing"),
                false => failed(RunFailure::Empty, "the answer was empty"),
            };
        }
        Ok(&self.text)
    }
}
