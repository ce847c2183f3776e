//! An answer put together out of the events of a message. Pure.

use serde_json::Value;

use super::errors;
use crate::engine::api::talk::{Reader, Refusal, Step};
use crate::engine::api::{Failed, count, event_json, push, sum, text};
use crate::engine::structured;
use crate::model::run::{RunFailure, Usage};
use crate::model::time::Timestamp;

/// What has come so far.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Answer {
    begun: bool,
    /// The block that is being written, and whether it is text.
    open: Option<(u64, bool)>,
    text: String,
    stop: Option<String>,
    done: bool,
    thought: bool,
    usage: Counts,
    /// The model that answers.
    pub model: Option<String>,
}

/// Tokens as the API counts them: those from and into a cache lie beside the others.
#[derive(Clone, Debug, Default)]
struct Counts {
    fresh: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
}

impl Reader for Answer {
    fn event(&mut self, data: &[u8], now: Timestamp) -> Result<Step, Failed> {
        let event = event_json(data)?;
        let null = Value::Null;
        let part = |name: &str| event.get(name).unwrap_or(&null);
        match text(&event, "type") {
            "message_start" => {
                if self.begun {
                    return Err((
                        RunFailure::Protocol,
                        "a second answer began inside of the first".to_owned(),
                    ));
                }
                self.begun = true;
                let message = part("message");
                self.model = message.get("model").and_then(Value::as_str).map(str::to_owned);
                self.usage.take(message.get("usage").unwrap_or(&null), false);
            }
            "content_block_start" => {
                let block = part("content_block");
                self.begin_block(event.get("index").and_then(Value::as_u64), text(block, "type"))?;
                self.add(text(block, "text"))?;
            }
            "content_block_delta" => {
                let index = event.get("index").and_then(Value::as_u64);
                if self.open.map(|(open, _)| open) != index {
                    return Err(out_of_order());
                }
                if text(part("delta"), "type") == "text_delta" {
                    self.add(text(part("delta"), "text"))?;
                }
            }
            "content_block_stop" => {
                let index = event.get("index").and_then(Value::as_u64);
                if self.open.take().map(|(open, _)| open) != index {
                    return Err(out_of_order());
                }
            }
            "message_delta" => {
                self.usage.take(part("usage"), true);
                if let Some(reason) = part("delta").get("stop_reason").and_then(Value::as_str) {
                    self.stop = Some(reason.to_owned());
                }
            }
            "message_stop" => {
                self.done = true;
                return Ok(Step::Done);
            }
            "error" => return Err(errors::failed(&in_band(&event, now))),
            // `ping`, and what may come: neither is a part of the answer.
            _ => return Ok(Step::Alive),
        }
        Ok(Step::Progress)
    }

    fn whole(&mut self, body: &Value, now: Timestamp) -> Result<(), Failed> {
        if text(body, "type") == "error" {
            return Err(errors::failed(&in_band(body, now)));
        }
        let null = Value::Null;
        self.model = body.get("model").and_then(Value::as_str).map(str::to_owned);
        self.usage.take(body.get("usage").unwrap_or(&null), true);
        for (index, block) in (0..).zip(body.get("content").and_then(Value::as_array).into_iter().flatten()) {
            self.begin_block(Some(index), text(block, "type"))?;
            self.add(text(block, "text"))?;
            self.open = None;
        }
        self.stop = body.get("stop_reason").and_then(Value::as_str).map(str::to_owned);
        (self.begun, self.done) = (true, true);
        Ok(())
    }

    fn refusal(refusal: &Refusal<'_>) -> Failed {
        errors::failed(refusal)
    }
}

impl Answer {
    fn begin_block(&mut self, index: Option<u64>, kind: &str) -> Result<(), Failed> {
        if self.open.is_some() || self.stop.is_some() {
            return Err(out_of_order());
        }
        self.thought |= kind == "thinking" || kind == "redacted_thinking";
        self.open = index.map(|index| (index, kind == "text"));
        Ok(())
    }

    fn add(&mut self, piece: &str) -> Result<(), Failed> {
        match self.open {
            Some((_, true)) => push(&mut self.text, piece, structured::BYTES_MAX),
            _ => Ok(()),
        }
    }

    /// The text, once the message has ended in order. The reason for its end comes first: what was cut or refused can
    /// look like an answer.
    pub(in crate::engine) fn finish(&self) -> Result<&str, Failed> {
        let failed = |failure, text: &str| Err((failure, text.to_owned()));
        match self.stop.as_deref() {
            _ if !self.done => return failed(RunFailure::Network, "the answer ended before its end"),
            _ if !self.begun || self.open.is_some() => {
                return failed(RunFailure::Protocol, "the parts of the answer do not fit together");
            }
            Some("end_turn" | "stop_sequence") => {}
            Some("max_tokens") => return failed(RunFailure::Cut, "the answer was cut by `max_tokens`"),
            Some("model_context_window_exceeded") => {
                return failed(RunFailure::Cut, "the answer was cut where the model's context ends");
            }
            Some("pause_turn") => return failed(RunFailure::Cut, "the model paused before it had answered"),
            Some("refusal") => return failed(RunFailure::Refused, "the model refused"),
            Some("tool_use") => {
                return failed(RunFailure::Protocol, "the model asked for a tool that it was not given");
            }
            Some(_) => return failed(RunFailure::Protocol, "the answer ended for an unknown reason"),
            None => return failed(RunFailure::Protocol, "the answer does not say why it ended"),
        }
        if self.text.trim().is_empty() {
            return match self.thought {
                true => failed(RunFailure::Empty, "the model thought and then said nothing"),
                false => failed(RunFailure::Empty, "the answer was empty"),
            };
        }
        Ok(&self.text)
    }

    /// Tokens so far. Those written are known only at the end: before, they are not told rather than told too small.
    pub(super) fn usage(&self) -> Usage {
        let Counts { fresh, read, written, output } = self.usage;
        Usage {
            input_tokens: sum(&[fresh, read, written]),
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: written,
            ..Usage::default()
        }
    }
}

impl Counts {
    fn take(&mut self, usage: &Value, at_end: bool) {
        self.fresh = count(usage, "input_tokens").or(self.fresh);
        self.read = count(usage, "cache_read_input_tokens").or(self.read);
        self.written = count(usage, "cache_creation_input_tokens").or(self.written);
        if at_end {
            self.output = count(usage, "output_tokens").or(self.output);
        }
    }
}

fn in_band(event: &Value, now: Timestamp) -> Refusal<'_> {
    static NONE: std::sync::LazyLock<reqwest::header::HeaderMap> = std::sync::LazyLock::new(Default::default);
    Refusal::of(200, &NONE, event, now)
}

fn out_of_order() -> Failed {
    (RunFailure::Protocol, "the parts of the answer are out of order".to_owned())
}
