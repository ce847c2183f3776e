//! The answer as a JSON object: the one schema that engines with schema output are given, and what is read out of the
//! object they return. Pure.
//!
//! The schema keeps to what all vendors' strict modes take: one object, all keys required, none besides, no choice
//! between shapes.

use serde_json::{Value, json};

use super::failed;
use crate::model::effect::Effect;
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineResult, RunFailure};
use crate::model::text::{one_line, short_size};

/// Labels taken from one answer; a model that gives more is listing, not labelling.
const LABELS_MAX: usize = 10;

/// One label.
const LABEL_BYTES_MAX: usize = 64;

/// Remarks taken from one answer.
const REMARKS_MAX: usize = 10;

/// One remark: a sentence or two beside the draft.
const REMARK_BYTES_MAX: usize = 400;

/// The JSON schema of an answer: `outcome` says what `text` is.
#[must_use]
pub fn schema() -> Value {
    let texts = |doc: &str| json!({ "type": "array", "items": { "type": "string" }, "description": doc });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["outcome", "text", "labels", "effects", "remarks"],
        "properties": {
            "outcome": {
                "type": "string",
                "enum": ["reply", "nothing_to_do", "question"],
                "description": "reply: text is the reply. nothing_to_do: no reply is called for, text is the reason. \
                                question: text is a question to the user that must be settled first.",
            },
            "text": {
                "type": "string",
                "description": "The whole text of the reply and nothing else of it; or the reason; or the question.",
            },
            "labels": texts("Labels for the case, a word each; empty if none fits."),
            "effects": texts(
                "What else shall happen, out of the effects that the task lists, each as it is written there; empty if none.",
            ),
            "remarks": texts("What the reviewer should know beside the text, a sentence each; usually empty."),
        },
    })
}

/// An outcome out of an object that should follow [`schema`]. Usage and facts are left for the caller to fill in.
///
/// # Errors
/// `Protocol` for another shape, `Empty` for a reply or question without text.
pub fn read(answer: &Value) -> Result<EngineOutcome, EngineError> {
    let Some(fields) = answer.as_object() else {
        return Err(failed(RunFailure::Protocol, "its structured answer is not an object"));
    };
    let said = |key: &str| fields.get(key).and_then(Value::as_str).map(str::trim);
    let Some(text) = said("text") else {
        return Err(failed(RunFailure::Protocol, "its structured answer has no `text`"));
    };
    let effects = texts(fields.get("effects"), limits::EFFECTS_READ_MAX, limits::EFFECT_BYTES_MAX * 2);
    let effects: Vec<Effect> = effects.iter().map(|text| Effect::parse(text)).collect();
    let result = match said("outcome") {
        Some("reply") if text.is_empty() && !effects.is_empty() => EngineResult::Reply(String::new()),
        Some("reply" | "question") if text.is_empty() => {
            return Err(failed(RunFailure::Empty, "the text of its structured answer is empty"));
        }
        Some("reply") => EngineResult::Reply(text.to_owned()),
        Some("question") => EngineResult::Question(text.to_owned()),
        Some("nothing_to_do") if text.is_empty() => EngineResult::NothingToDo("no reason given".to_owned()),
        Some("nothing_to_do") => EngineResult::NothingToDo(text.to_owned()),
        Some(other) => {
            let other = one_line(other, LABEL_BYTES_MAX);
            return Err(failed(
                RunFailure::Protocol,
                format!("its structured answer has the outcome `{other}`"),
            ));
        }
        None => return Err(failed(RunFailure::Protocol, "its structured answer has no `outcome`")),
    };
    Ok(EngineOutcome {
        labels: texts(fields.get("labels"), LABELS_MAX, LABEL_BYTES_MAX),
        effects,
        remarks: texts(fields.get("remarks"), REMARKS_MAX, REMARK_BYTES_MAX),
        ..EngineOutcome::of(result)
    })
}

/// The same out of a text that is nothing but the object.
///
/// # Errors
/// As [`read`]; `Empty` for no text, `Protocol` for a text that is not one JSON object.
pub fn read_text(text: &str) -> Result<EngineOutcome, EngineError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(failed(RunFailure::Empty, "its answer was empty"));
    }
    if text.len() > BYTES_MAX {
        let most = short_size(BYTES_MAX as u64);
        return Err(failed(RunFailure::Protocol, format!("its answer is longer than {most}")));
    }
    match serde_json::from_str(text) {
        Ok(answer) => read(&answer),
        Err(_) => Err(failed(RunFailure::Protocol, "its answer is not the JSON object that was asked for")),
    }
}

/// A draft in which each byte is escaped, with labels and remarks.
pub const BYTES_MAX: usize = limits::DRAFT_BYTES_MAX * 8;

/// Texts on one line each, empty and repeated ones left out; no list counts as an empty one.
fn texts(list: Option<&Value>, most: usize, bytes_max: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let text = one_line(text, bytes_max).trim().to_owned();
        if !text.is_empty() && !kept.contains(&text) {
            kept.push(text);
        }
        if kept.len() == most {
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match read_text(text) {
            Ok(outcome) => format!("{:?} {:?} {:?}", outcome.result, outcome.labels, outcome.remarks),
            Err(error) => format!("{}: {error}", error.failure.word()),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_three_outcomes() {
        check(
            r#"{"outcome":"reply","text":" Dear Pat,\nyes. ","labels":["vip","vip",""],"remarks":["a\nb"]}"#,
            r#"Reply("Dear Pat,\nyes.") ["vip"] ["a b"]"#,
        );
        check(
            r#"{"outcome":"nothing_to_do","text":"","labels":[],"remarks":[]}"#,
            r#"NothingToDo("no reason given") [] []"#,
        );
        check(r#"{"outcome":"question","text":"when?"}"#, r#"Question("when?") [] []"#);
    }

    #[test]
    fn other_shapes_are_no_answer() {
        check("", "empty: its answer was empty");
        check("Dear Pat", "protocol: its answer is not the JSON object that was asked for");
        check("[]", "protocol: its structured answer is not an object");
        check(r#"{"outcome":"reply"}"#, "protocol: its structured answer has no `text`");
        check(r#"{"text":"hi"}"#, "protocol: its structured answer has no `outcome`");
        check(r#"{"outcome":"send","text":"hi"}"#, "protocol: its structured answer has the outcome `send`");
        check(
            r#"{"outcome":"reply","text":" ","labels":7}"#,
            "empty: the text of its structured answer is empty",
        );
        check(&"x".repeat(BYTES_MAX + 1), "protocol: its answer is longer than 2 MB");
    }

    #[test]
    fn lists_are_bounded() {
        let many: Vec<String> = (0..100).map(|number| format!("{number} {}", "x".repeat(1000))).collect();
        let answer = json!({ "outcome": "reply", "text": "hi", "labels": many, "remarks": many });
        let outcome = read(&answer).unwrap();
        assert_eq!((outcome.labels.len(), outcome.remarks.len()), (LABELS_MAX, REMARKS_MAX));
        assert!(outcome.labels.iter().all(|label| label.len() <= LABEL_BYTES_MAX + 3));
    }

    #[test]
    fn strict_modes_take_the_schema() {
        let schema = schema();
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(keys.len(), required.len());
        assert!(keys.iter().all(|key| required.contains(&key.as_str())));
        assert_eq!(schema["additionalProperties"], false);
    }
}
