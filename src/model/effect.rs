//! What else an answer can do at the far side, beside its text: close the issue, set a label, accept the invitation.
//!
//! A platform *offers* effects with an item; an engine or a person *chooses* among what is offered; the chosen ones
//! stand in the envelope, are shown in review and bound by the approval. An effect may be repeated without harm: a
//! connector brings them about before the text, which may not.

use serde::{Deserialize, Serialize};

use super::limits;
use super::text::one_line;

/// An effect that the platform can bring about on the thing an item speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The platform's word for it, lower case: `close`, `label`, `assign`, `respond`.
    pub verb: String,
    /// What it does, for people and engines, beginning with a verb: "Close the issue".
    pub what: String,
    /// The value it takes.
    pub value: OfferedValue,
}

/// What an offered effect takes as its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OfferedValue {
    /// None: `close`.
    None,
    /// One of these: `accepted`, `declined`, `tentative`.
    OneOf(Vec<String>),
    /// Any one-line text, which says what: "the login of a person".
    Text(String),
}

/// A chosen effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The word of the offer.
    pub verb: String,
    /// Its value; empty where it takes none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}

impl Offer {
    /// An effect without a value.
    #[must_use]
    pub fn plain(verb: &str, what: &str) -> Self {
        Self { verb: verb.to_owned(), what: what.to_owned(), value: OfferedValue::None }
    }

    /// An effect with one of these values.
    #[must_use]
    pub fn one_of(verb: &str, what: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        Self { verb: verb.to_owned(), what: what.to_owned(), value: OfferedValue::OneOf(values) }
    }

    /// An effect with a value in free words.
    #[must_use]
    pub fn text(verb: &str, what: &str, value: &str) -> Self {
        Self { verb: verb.to_owned(), what: what.to_owned(), value: OfferedValue::Text(value.to_owned()) }
    }

    /// How it is written: `close`, `respond: accepted | declined`, `label: <the label's name>`.
    #[must_use]
    pub fn form(&self) -> String {
        match &self.value {
            OfferedValue::None => self.verb.clone(),
            OfferedValue::OneOf(values) => format!("{}: {}", self.verb, values.join(" | ")),
            OfferedValue::Text(what) => format!("{}: <{what}>", self.verb),
        }
    }

    fn takes(&self, effect: &Effect) -> bool {
        self.verb == effect.verb
            && match &self.value {
                OfferedValue::None => effect.value.is_empty(),
                OfferedValue::OneOf(values) => values.contains(&effect.value),
                OfferedValue::Text(_) => !effect.value.is_empty(),
            }
    }
}

impl Effect {
    /// An effect without a value.
    #[must_use]
    pub fn plain(verb: &str) -> Self {
        Self { verb: verb.to_owned(), value: String::new() }
    }

    /// An effect with a value.
    #[must_use]
    pub fn with(verb: &str, value: &str) -> Self {
        Self { verb: verb.to_owned(), value: value.to_owned() }
    }

    /// Read as it is written: `close`, `label: bug`. The verb is lower case, the value one line of bounded length.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = one_line(text, limits::EFFECT_BYTES_MAX);
        let (verb, value) = text.split_once(':').unwrap_or((text.as_str(), ""));
        Self { verb: verb.trim().to_lowercase(), value: value.trim().to_owned() }
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.verb)?;
        if self.value.is_empty() { Ok(()) } else { write!(f, ": {}", self.value) }
    }
}

/// The wanted effects that are offered, each once and at most [`limits::EFFECTS_MAX`], and how the others were written.
#[must_use]
pub fn chosen(wanted: &[Effect], offers: &[Offer]) -> (Vec<Effect>, Vec<String>) {
    let (mut kept, mut refused): (Vec<Effect>, Vec<String>) = (Vec::new(), Vec::new());
    for effect in wanted {
        if kept.contains(effect) {
            continue;
        }
        if kept.len() < limits::EFFECTS_MAX && offers.iter().any(|offer| offer.takes(effect)) {
            kept.push(effect.clone());
        } else {
            refused.push(effect.to_string());
        }
    }
    (kept, refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &[&str], kept: &[&str], refused: &[&str]) {
        let offers = [
            Offer::plain("close", "Close the issue"),
            Offer::one_of("respond", "Answer the invitation", &["accepted", "declined"]),
            Offer::text("label", "Set a label", "its name"),
        ];
        let wanted: Vec<Effect> = wanted.iter().map(|text| Effect::parse(text)).collect();
        let (found, others) = chosen(&wanted, &offers);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!((found, others), (texts(kept), texts(refused)));
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn only_what_is_offered() {
        check(&["close", "Close", " close "], &["close"], &[]);
        check(&["close: now", "reopen"], &[], &["close: now", "reopen"]);
        check(
            &["respond: accepted", "respond: maybe", "respond"],
            &["respond: accepted"],
            &["respond: maybe", "respond"],
        );
        check(&["label: bug: ui", "label", "label:"], &["label: bug: ui"], &["label", "label"]);
    }

    #[test]
    fn no_more_than_anybody_reads() {
        let many: Vec<Effect> = (0..50).map(|n| Effect::with("label", &n.to_string())).collect();
        let (kept, refused) = chosen(&many, &[Offer::text("label", "Set a label", "its name")]);
        assert_eq!((kept.len(), refused.len()), (limits::EFFECTS_MAX, 50 - limits::EFFECTS_MAX));
    }

    #[test]
    fn an_envelope_without_effects_is_written_as_before() {
        let envelope = super::super::draft::Envelope::default();
        assert!(!serde_json::to_string(&envelope).unwrap().contains("effects"));
    }
}
