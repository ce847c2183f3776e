//! What a program is told and what it says, in text and in JSON. Pure.

use serde_json::{Map, Value};

use super::super::prompt::{Fence, Prompt, read_answer};
use crate::model::effect::Effect;
use crate::model::limits;
use crate::model::run::{EngineOutcome, EngineRequest, EngineResult, RunFailure};
use crate::model::text::{one_line, short_size};
use crate::model::time::Timestamp;

/// What a program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// The reply itself.
    Text,
    /// A JSON object.
    Json,
}

/// Output that is kept: a draft in which each byte is escaped, and some noise around it.
const KEPT_BYTES_MAX: usize = limits::DRAFT_BYTES_MAX * 8;

/// Of a program's own error message.
const MESSAGE_BYTES_MAX: usize = 400;

/// Keys of which an answer holds one.
const KEYS: [&str; 4] = ["error", "reply", "nothing_to_do", "question"];

/// The case as JSON in one line, for programs with `output = "json"`.
pub(super) fn request(request: &EngineRequest, prompt: &Prompt) -> serde_json::Result<Vec<u8>> {
    let mut value = serde_json::to_value(request)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("prompt".into(), Value::String(prompt.text()));
    }
    let mut bytes = serde_json::to_vec(&value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Takes the lines of a program's output in bounded memory.
#[derive(Debug)]
pub(super) struct Collector {
    output: Output,
    draft: Fence,
    kept: Vec<u8>,
    over: bool,
    /// The last line that is an answer.
    last: Option<Map<String, Value>>,
}

/// What a program's output came to.
#[derive(Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, at the end of a run")]
pub(super) enum Collected {
    /// An answer.
    Result(EngineOutcome),
    /// None, or one about a failure, with a sentence for people.
    Failed(RunFailure, String),
}

impl Collector {
    pub(super) fn new(output: Output, draft: Fence) -> Self {
        Self { output, draft, kept: Vec::new(), over: false, last: None }
    }

    /// Takes a line.
    pub(super) fn take(&mut self, line: &[u8]) {
        if self.output == Output::Json
            && let Some(answer) = as_answer(line)
        {
            self.last = Some(answer);
            self.kept = Vec::new();
            return;
        }
        if self.kept.len() + line.len() < KEPT_BYTES_MAX {
            self.kept.extend_from_slice(line);
            self.kept.push(b'\n');
        } else {
            self.over = true;
        }
    }

    /// The program said itself that it failed.
    pub(super) fn holds_error(&self) -> bool {
        self.last.as_ref().is_some_and(|answer| answer.contains_key("error"))
    }

    pub(super) fn finish(self) -> Collected {
        match self.output {
            Output::Text => self.text(),
            // One object over several lines counts if there is nothing beside it.
            Output::Json => match self.last.or_else(|| as_answer(&self.kept)) {
                Some(answer) => read_object(&answer),
                None if self.over => too_long(),
                None if self.kept.trim_ascii().is_empty() => {
                    Collected::Failed(RunFailure::Empty, "it printed nothing".to_owned())
                }
                None => Collected::Failed(
                    RunFailure::Protocol,
                    "no line of its output is a JSON object with reply, nothing_to_do, question or error"
                        .to_owned(),
                ),
            },
        }
    }

    fn text(self) -> Collected {
        if self.over {
            return too_long();
        }
        let Ok(text) = String::from_utf8(self.kept) else {
            return Collected::Failed(RunFailure::Protocol, "its output is not UTF-8".to_owned());
        };
        let text = text.trim();
        if text.is_empty() {
            return Collected::Failed(RunFailure::Empty, "it printed nothing".to_owned());
        }
        // The user declared that all of the output is the reply; a program that heeds the marks is believed more.
        let answer = if self.draft.is_in(text) {
            read_answer(text, &self.draft)
        } else {
            read_answer(&self.draft.around(text), &self.draft)
        };
        match answer {
            Ok(result) => Collected::Result(EngineOutcome::of(result)),
            Err((failure, detail)) => Collected::Failed(failure, detail),
        }
    }
}

fn too_long() -> Collected {
    let most = short_size(KEPT_BYTES_MAX as u64);
    Collected::Failed(RunFailure::Protocol, format!("its output is longer than {most}"))
}

/// An object that holds one of the keys of an answer.
fn as_answer(bytes: &[u8]) -> Option<Map<String, Value>> {
    let bytes = bytes.trim_ascii();
    if bytes.first() != Some(&b'{') || bytes.len() > KEPT_BYTES_MAX {
        return None;
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) if KEYS.iter().any(|key| fields.contains_key(*key)) => Some(fields),
        _ => None,
    }
}

/// An error beside a reply wins: in the order of distrust it comes first.
fn read_object(answer: &Map<String, Value>) -> Collected {
    let said = |key: &str| answer.get(key).and_then(Value::as_str).map(str::trim);
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        return read_error(error);
    }
    let (key, result): (_, fn(String) -> EngineResult) = if answer.contains_key("reply") {
        ("reply", EngineResult::Reply)
    } else if answer.contains_key("question") {
        ("question", EngineResult::Question)
    } else {
        ("nothing_to_do", EngineResult::NothingToDo)
    };
    let effects =
        answer.get("effects").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let effects: Vec<Effect> = effects.take(limits::EFFECTS_READ_MAX).map(Effect::parse).collect();
    let took =
        |result| Collected::Result(EngineOutcome { effects: effects.clone(), ..EngineOutcome::of(result) });
    match said(key) {
        None => Collected::Failed(RunFailure::Protocol, format!("`{key}` in its answer is not a text")),
        Some("") if key == "nothing_to_do" => took(EngineResult::NothingToDo("no reason given".to_owned())),
        Some("") if key == "reply" && !effects.is_empty() => took(EngineResult::Reply(String::new())),
        Some("") => Collected::Failed(RunFailure::Empty, format!("`{key}` in its answer is empty")),
        Some(text) => took(result(text.to_owned())),
    }
}

fn read_error(error: &Value) -> Collected {
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let message = error.as_str().or_else(|| text("message")).unwrap_or("it reported an error");
    let until = error.get("until").and_then(read_until);
    let failure = match text("class").unwrap_or("exit") {
        "empty" => RunFailure::Empty,
        "cut" => RunFailure::Cut,
        "refused" => RunFailure::Refused,
        "auth" => RunFailure::Auth,
        "config" => RunFailure::Config,
        "billing" => RunFailure::Billing,
        "usage-limit" => RunFailure::UsageLimit(until),
        // Without a time it is a limit of unknown length.
        "rate-limited" => until.map_or(RunFailure::UsageLimit(None), RunFailure::RateLimited),
        "overloaded" => RunFailure::Overloaded,
        "network" => RunFailure::Network,
        "bad-request" => RunFailure::BadRequest,
        "timeout-idle" => RunFailure::TimeoutIdle,
        "timeout-total" => RunFailure::TimeoutTotal,
        "exit" => RunFailure::Exit,
        // `cancelled` is ours to say.
        _ => RunFailure::Protocol,
    };
    Collected::Failed(failure, one_line(message, MESSAGE_BYTES_MAX))
}

/// RFC 3339, or seconds since 1970. Absurd times count as none.
fn read_until(value: &Value) -> Option<Timestamp> {
    let at = match value {
        Value::String(text) => Timestamp::from_rfc3339(text)?,
        _ => Timestamp::from_seconds(value.as_i64()?),
    };
    // Milliseconds taken for seconds lie thousands of years ahead; 2020 to 2100 is what a limit can mean.
    let (first, last) = (Timestamp(1_577_836_800_000), Timestamp(4_102_444_800_000));
    (first <= at && at <= last).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixtures::{item, request};
    use crate::engine::prompt;

    fn check(output: Output, text: &str, expected: &str) {
        let draft = prompt::build(&request(vec![item("t", "b")])).draft;
        let text = text.replace("OPEN", draft.open()).replace("CLOSE", draft.close());
        let mut collector = Collector::new(output, draft);
        text.lines().for_each(|line| collector.take(line.as_bytes()));
        let shown = match collector.finish() {
            Collected::Result(outcome) => {
                let effects: String = outcome.effects.iter().map(|effect| format!(" +{effect}")).collect();
                match outcome.result {
                    EngineResult::Reply(text) => format!("reply {text:?}{effects}"),
                    other => format!("{other:?}{effects}"),
                }
            }
            Collected::Failed(failure, message) => format!("{failure:?}: {message}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn text_is_the_reply_or_holds_it_between_the_marks() {
        let check = |text: &str, expected: &str| check(Output::Text, text, expected);
        check("Dear Pat,\n\nyes.\n", r#"reply "Dear Pat,\n\nyes.""#);
        check("Sure:\nOPEN\nDear Pat\nCLOSE\n", r#"reply "Dear Pat""#);
        check("OPEN\nDear Pat", "Protocol: the answer has no mark at the end of the draft");
        check("NOTHING_TO_DO: an advert", r#"NothingToDo("an advert")"#);
        check("QUESTION: when?", r#"Question("when?")"#);
        check(" \n\n", "Empty: it printed nothing");
        check(&"x".repeat(KEPT_BYTES_MAX), "Protocol: its output is longer than 2 MB");
    }

    #[test]
    fn json_is_the_last_answer_among_noise() {
        let check = |text: &str, expected: &str| check(Output::Json, text, expected);
        check(r#"{"reply": "Hello ✓"}"#, r#"reply "Hello ✓""#);
        check(
            "warming up\n{\"type\":\"init\"}\n{\"reply\": \"one\"}\n{\"reply\": \"two\"}\ndone\n",
            r#"reply "two""#,
        );
        check("{\n  \"reply\": \"over lines\"\n}\n", r#"reply "over lines""#);
        check(r#"{"nothing_to_do": ""}"#, r#"NothingToDo("no reason given")"#);
        check(r#"{"question": "when?"}"#, r#"Question("when?")"#);
        check(r#"{"reply": "  "}"#, "Empty: `reply` in its answer is empty");
        check(r#"{"reply": 7}"#, "Protocol: `reply` in its answer is not a text");
        check(
            "Dear Pat,\nyes.",
            "Protocol: no line of its output is a JSON object with reply, nothing_to_do, question or error",
        );
        check("", "Empty: it printed nothing");
    }

    #[test]
    fn errors_come_with_their_class() {
        let check = |text: &str, expected: &str| check(Output::Json, text, expected);
        check(r#"{"error": {"class": "auth", "message": "log\nin first"}}"#, "Auth: log in first");
        check(r#"{"error": "broken", "reply": "x"}"#, "Exit: broken");
        check(r#"{"error": {"class": "cancelled"}}"#, "Protocol: it reported an error");
        check(r#"{"error": null, "reply": "x"}"#, r#"reply "x""#);
        check(
            r#"{"error": {"class": "usage-limit", "message": "m", "until": "2026-11-30T08:00:00Z"}}"#,
            "UsageLimit(Some(Timestamp(1796025600000))): m",
        );
        check(
            r#"{"error": {"class": "rate-limited", "message": "m", "until": 1796025600}}"#,
            "RateLimited(Timestamp(1796025600000)): m",
        );
        check(
            r#"{"error": {"class": "rate-limited", "message": "m", "until": 1796025600000}}"#,
            "UsageLimit(None): m",
        );
    }
}
