//! An answer put together out of the events of a response. Pure.
//!
//! The last event holds the whole response again, so the text is taken from there; what came before must say the same.

use serde_json::Value;

use crate::engine::api::openai_errors;
use crate::engine::api::talk::{Reader, Refusal, Step};
use crate::engine::api::{Failed, count, event_json, push, text};
use crate::engine::structured;
use crate::model::run::{RunFailure, Usage};
use crate::model::time::Timestamp;

/// What has come so far.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Answer {
    begun: bool,
    /// What the pieces come to.
    pieces: String,
    /// The text of the whole response.
    text: String,
    /// `completed`, or why it is not.
    end: Option<Result<(), Failed>>,
    refused: bool,
    called: bool,
    reasoned: bool,
    pub(super) usage: Usage,
    /// The model that answered.
    pub model: Option<String>,
}

impl Reader for Answer {
    fn event(&mut self, data: &[u8], now: Timestamp) -> Result<Step, Failed> {
        // Gateways that make this API out of the other one leave its last word in.
        if data.trim_ascii() == b"[DONE]" {
            return Ok(Step::Alive);
        }
        let event = event_json(data)?;
        match text(&event, "type") {
            "response.created" => {
                if std::mem::replace(&mut self.begun, true) {
                    return Err((
                        RunFailure::Protocol,
                        "a second answer began inside of the first".to_owned(),
                    ));
                }
            }
            "response.output_text.delta" => {
                push(&mut self.pieces, text(&event, "delta"), structured::BYTES_MAX)?;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.take_response(event.get("response").unwrap_or(&Value::Null), now)?;
                return Ok(Step::Done);
            }
            "error" => {
                let body = if event.get("error").is_some_and(Value::is_object) {
                    event
                } else {
                    serde_json::json!({ "error": event })
                };
                return Err(openai_errors::in_band(&body, now));
            }
            kind if kind.starts_with("response.") => {}
            _ => return Ok(Step::Alive),
        }
        Ok(Step::Progress)
    }

    fn whole(&mut self, body: &Value, now: Timestamp) -> Result<(), Failed> {
        self.take_response(body, now)
    }

    fn refusal(refusal: &Refusal<'_>) -> Failed {
        openai_errors::failed(refusal)
    }
}

impl Answer {
    fn take_response(&mut self, response: &Value, now: Timestamp) -> Result<(), Failed> {
        let null = Value::Null;
        self.model = response.get("model").and_then(Value::as_str).map(str::to_owned);
        self.take_usage(response.get("usage").unwrap_or(&null));
        let output = response.get("output").and_then(Value::as_array);
        for item in output.into_iter().flatten() {
            match text(item, "type") {
                "message" => {
                    for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                        match text(part, "type") {
                            "output_text" => push(&mut self.text, text(part, "text"), structured::BYTES_MAX)?,
                            "refusal" => self.refused = true,
                            _ => {}
                        }
                    }
                }
                "reasoning" => self.reasoned = true,
                kind if kind.ends_with("_call") => self.called = true,
                _ => {}
            }
        }
        self.end = Some(match text(response, "status") {
            "completed" => Ok(()),
            "incomplete" => {
                Err(match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
                    Some("max_output_tokens" | "max_tokens") => {
                        (RunFailure::Cut, "the answer was cut by `max_tokens`".to_owned())
                    }
                    Some("content_filter") => (RunFailure::Refused, "the model refused".to_owned()),
                    _ => (RunFailure::Cut, "the answer is not complete".to_owned()),
                })
            }
            "failed" => Err(openai_errors::in_band(response, now)),
            "cancelled" => Err((RunFailure::Network, "the server broke off the answer".to_owned())),
            _ if response.get("error").is_some_and(|error| !error.is_null()) => {
                Err(openai_errors::in_band(response, now))
            }
            _ => Err((RunFailure::Protocol, "the answer ended for an unknown reason".to_owned())),
        });
        Ok(())
    }

    fn take_usage(&mut self, usage: &Value) {
        self.usage.input_tokens = count(usage, "input_tokens").or(self.usage.input_tokens);
        self.usage.output_tokens = count(usage, "output_tokens").or(self.usage.output_tokens);
        let details = usage.get("input_tokens_details").unwrap_or(&Value::Null);
        self.usage.cache_read_tokens = count(details, "cached_tokens").or(self.usage.cache_read_tokens);
        self.usage.cache_write_tokens =
            count(details, "cache_write_tokens").or(self.usage.cache_write_tokens);
    }

    /// The text, once the response has ended in order.
    pub(in crate::engine) fn finish(&self) -> Result<&str, Failed> {
        let failed = |failure, text: &str| Err((failure, text.to_owned()));
        match &self.end {
            None => return failed(RunFailure::Network, "the answer ended before its end"),
            Some(Err(failed)) => return Err(failed.clone()),
            Some(Ok(())) => {}
        }
        if self.refused {
            return failed(RunFailure::Refused, "the model refused");
        }
        if self.called {
            return failed(RunFailure::Protocol, "the model asked for a tool that it was not given");
        }
        // Some servers leave the text out of the last event.
        let whole = if self.text.is_empty() { &self.pieces } else { &self.text };
        if !self.pieces.is_empty() && self.pieces != *whole {
            return failed(RunFailure::Protocol, "the parts of the answer do not come to its whole");
        }
        if whole.trim().is_empty() {
            return match self.reasoned {
                true => failed(RunFailure::Empty, "the model reasoned and then said nothing"),
                false => failed(RunFailure::Empty, "the answer was empty"),
            };
        }
        Ok(whole)
    }
}
