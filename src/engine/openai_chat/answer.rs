//! An answer put together out of chunks. Pure.

use serde_json::Value;

use crate::engine::api::openai_errors;
use crate::engine::api::talk::{Reader, Refusal, Step};
use crate::engine::api::{Failed, count};
use crate::model::limits;
use crate::model::money;
use crate::model::run::{RunFailure, Usage};
use crate::model::time::Timestamp;

/// The text of an answer: a draft, its marks, and reasoning that some servers leave in the text.
const TEXT_BYTES_MAX: usize = limits::DRAFT_BYTES_MAX * 4;

/// What has come so far.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Answer {
    text: String,
    /// The server's word for why it ended.
    finish: Option<String>,
    reasoned: bool,
    refused: bool,
    /// Events that are no JSON.
    odd: u64,
    pub(super) usage: Usage,
    /// The model that answers.
    pub(super) model: Option<String>,
}

impl Reader for Answer {
    fn event(&mut self, data: &[u8], now: Timestamp) -> Result<Step, Failed> {
        if data.trim_ascii() == b"[DONE]" {
            return Ok(Step::Done);
        }
        match serde_json::from_slice(data) {
            Ok(chunk) => self.take_chunk(&chunk, now)?,
            Err(_) => self.odd += 1,
        }
        Ok(Step::Progress)
    }

    fn whole(&mut self, body: &Value, now: Timestamp) -> Result<(), Failed> {
        self.take_chunk(body, now)
    }

    fn refusal(refusal: &Refusal<'_>) -> Failed {
        openai_errors::failed(refusal)
    }
}

impl Answer {
    /// Takes a chunk, or a whole answer of a server that does not stream: `message` stands for `delta` there.
    fn take_chunk(&mut self, chunk: &Value, now: Timestamp) -> Result<(), Failed> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(openai_errors::in_band(chunk, now));
        }
        self.take_usage(chunk);
        if let Some(model) = chunk.get("model").and_then(Value::as_str) {
            self.model = Some(model.to_owned());
        }
        // The chunk with the usage has no choices.
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(()) };
        let (ended, before) = (self.finish.is_some(), self.text.len());
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) else { return Ok(()) };
        match delta.get("content") {
            Some(Value::String(text)) => self.text.push_str(text),
            // Some servers give a list of parts.
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
                }
            }
            _ => {}
        }
        let has = |name: &str| delta.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        self.reasoned |= has("reasoning") || has("reasoning_content");
        self.refused |= has("refusal");
        if ended && self.text.len() > before {
            return Err((RunFailure::Protocol, "the answer went on behind its end".to_owned()));
        }
        if self.text.len() > TEXT_BYTES_MAX {
            return Err((RunFailure::Protocol, format!("the answer is longer than {TEXT_BYTES_MAX} bytes")));
        }
        Ok(())
    }

    fn take_usage(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) else { return };
        self.usage.input_tokens = count(usage, "prompt_tokens").or(self.usage.input_tokens);
        self.usage.output_tokens = count(usage, "completion_tokens").or(self.usage.output_tokens);
        let details = usage.get("prompt_tokens_details").unwrap_or(&Value::Null);
        self.usage.cache_read_tokens = count(details, "cached_tokens").or(self.usage.cache_read_tokens);
        // OpenRouter says what it took, in dollars.
        if let Some(cost) = usage.get("cost").and_then(Value::as_f64).and_then(money::from_usd) {
            self.usage.cost_micro_usd = Some(cost);
            "engine".clone_into(&mut self.usage.cost_source);
        }
    }

    /// The text, once the stream has ended in order. Only `stop` makes an answer of it: what was cut, refused or broken
    /// off is none, and is never joined to a later try.
    pub(in crate::engine) fn finish(&self) -> Result<&str, Failed> {
        let failed = |failure, text: &str| Err((failure, text.to_owned()));
        if self.refused {
            return failed(RunFailure::Refused, "the model refused");
        }
        match self.finish.as_deref() {
            Some("stop" | "eos" | "end_turn" | "stop_sequence") => {}
            Some("length" | "max_tokens" | "model_length") => {
                return failed(RunFailure::Cut, "the answer was cut by the output limit");
            }
            Some("content_filter" | "refusal") => return failed(RunFailure::Refused, "the model refused"),
            Some("error") => return failed(RunFailure::Network, "the server broke off the answer"),
            Some("tool_calls" | "function_call") => {
                return failed(RunFailure::Protocol, "the model asked for a tool that it was not given");
            }
            Some(_) => return failed(RunFailure::Protocol, "the answer ended for an unknown reason"),
            None if self.odd > 0 && self.text.is_empty() => {
                return failed(RunFailure::Protocol, "the answer is not in the form of Chat Completions");
            }
            None => return failed(RunFailure::Network, "the answer ended before its end"),
        }
        if self.odd > 0 {
            return failed(RunFailure::Protocol, "a part of the answer cannot be read");
        }
        if self.text.trim().is_empty() {
            return match self.reasoned {
                true => failed(RunFailure::Empty, "the model reasoned and then said nothing"),
                false => failed(RunFailure::Empty, "the answer was empty"),
            };
        }
        Ok(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chunks: &[&str], expected: &str) {
        let mut answer = Answer::default();
        let taken =
            chunks.iter().try_for_each(|chunk| answer.event(chunk.as_bytes(), Timestamp(0)).map(drop));
        let shown = match taken.and_then(|()| answer.finish().map(str::to_owned)) {
            Ok(text) => format!("{text:?}"),
            Err((failure, detail)) => format!("{}: {detail}", failure.word()),
        };
        assert_eq!(shown, expected);
    }

    const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}"#;
    const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

    fn ends(reason: &str) -> String {
        STOP.replace("stop", reason)
    }

    #[test]
    fn only_a_stop_makes_an_answer() {
        check(&[HI, HI, STOP, "[DONE]"], r#""HiHi""#);
        check(&[HI, &ends("length"), "[DONE]"], "cut: the answer was cut by the output limit");
        check(&[HI, &ends("content_filter"), "[DONE]"], "refused: the model refused");
        check(
            &[HI, &ends("tool_calls"), "[DONE]"],
            "protocol: the model asked for a tool that it was not given",
        );
        check(&[HI, &ends("nap"), "[DONE]"], "protocol: the answer ended for an unknown reason");
        check(&[HI, "[DONE]"], "network: the answer ended before its end");
        check(&[HI], "network: the answer ended before its end");
        check(&[], "network: the answer ended before its end");
        check(&["hello", "{"], "protocol: the answer is not in the form of Chat Completions");
    }

    #[test]
    fn an_answer_with_a_hole_is_none() {
        check(
            &[HI, "{\"choices\": [{\"delta\": {\"content\": \"th", HI, STOP],
            "protocol: a part of the answer cannot be read",
        );
        let after = "protocol: the answer went on behind its end";
        check(&[HI, STOP, HI, STOP], after);
    }

    #[test]
    fn non_answers() {
        check(&[STOP], "empty: the answer was empty");
        let reasoning = r#"{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}"#;
        check(&[reasoning, STOP], "empty: the model reasoned and then said nothing");
        let refusal = r#"{"choices":[{"delta":{"refusal":"I cannot"}}]}"#;
        check(&[refusal, STOP], "refused: the model refused");
        check(
            &[HI, r#"{"error":{"message":"overloaded","code":503}}"#, STOP],
            "overloaded: the server broke off with an error: overloaded",
        );
    }

    #[test]
    fn other_shapes() {
        check(&[r#"{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}"#], r#""whole""#);
        check(&[r#"{"choices":[{"delta":{"content":[{"type":"text","text":"part"}]}}]}"#, STOP], r#""part""#);
        check(&[r#"{"choices":[]}"#, r#"{"choices":null}"#, "[]", HI, STOP], r#""Hi""#);
    }

    #[test]
    fn usage_comes_last_and_without_choices() {
        let mut answer = Answer::default();
        for chunk in
            [HI, STOP, r#"{"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":3,"cost":0.00042}}"#]
        {
            answer.event(chunk.as_bytes(), Timestamp(0)).unwrap();
        }
        let expected = Usage {
            input_tokens: Some(21),
            output_tokens: Some(3),
            cost_micro_usd: Some(420),
            cost_source: "engine".into(),
            ..Usage::default()
        };
        assert_eq!(answer.usage, expected);
    }

    #[test]
    fn an_endless_answer_is_ended() {
        let chunk = HI.replace("Hi", &"x".repeat(TEXT_BYTES_MAX + 1));
        check(&[&chunk, STOP], "protocol: the answer is longer than 1048576 bytes");
    }
}
