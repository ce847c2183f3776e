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
                // A name that was cut names something else.
                OfferedValue::Text(_) => {
                    !effect.value.is_empty() && effect.to_string().len() <= limits::EFFECT_BYTES_MAX
                }
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
        let text = one_line(text, limits::EFFECT_BYTES_MAX * 2);
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

/// What of the wanted effects becomes part of a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Offered, each once, at most [`limits::EFFECTS_MAX`].
    pub kept: Vec<Effect>,
    /// Not offered, as they were written.
    pub refused: Vec<String>,
    /// Offered, and more than anybody reads, as they were written.
    pub beyond: Vec<String>,
}

impl Chosen {
    /// What a person must be told of those that were left out.
    #[must_use]
    pub fn remarks(&self, who: &str) -> Vec<String> {
        let refused = (!self.refused.is_empty())
            .then(|| format!("{who} also proposed what is not offered here: {}", self.refused.join(", ")));
        let beyond = (!self.beyond.is_empty()).then(|| {
            let most = limits::EFFECTS_MAX;
            format!(
                "{who} proposed more than the {most} effects that are taken; left out: {}",
                self.beyond.join(", ")
            )
        });
        refused.into_iter().chain(beyond).collect()
    }
}

/// The wanted effects that are offered.
#[must_use]
pub fn chosen(wanted: &[Effect], offers: &[Offer]) -> Chosen {
    let mut chosen = Chosen::default();
    for effect in wanted {
        if chosen.kept.contains(effect) {
            continue;
        }
        if !offers.iter().any(|offer| offer.takes(effect)) {
            chosen.refused.push(effect.to_string());
        } else if chosen.kept.len() < limits::EFFECTS_MAX {
            chosen.kept.push(effect.clone());
        } else {
            chosen.beyond.push(effect.to_string());
        }
    }
    chosen
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
        let Chosen { kept: found, refused: others, .. } = chosen(&wanted, &offers);
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
    fn a_name_is_never_cut_into_another() {
        let long = format!("label: {}", "x".repeat(limits::EFFECT_BYTES_MAX));
        check(&[&long], &[], &[&long]);
    }

    #[test]
    fn no_more_than_anybody_reads() {
        let many: Vec<Effect> = (0..50).map(|n| Effect::with("label", &n.to_string())).collect();
        let chosen = chosen(&many, &[Offer::text("label", "Set a label", "its name")]);
        assert_eq!((chosen.kept.len(), chosen.beyond.len()), (limits::EFFECTS_MAX, 50 - limits::EFFECTS_MAX));
        let remarks = chosen.remarks("the engine");
        assert!(remarks[0].starts_with(
            "the engine proposed more than the 16 effects that are taken; left out: label: 16,"
        ));
    }

    #[test]
    fn an_envelope_without_effects_is_written_as_before() {
        let envelope = super::super::draft::Envelope::default();
        assert!(!serde_json::to_string(&envelope).unwrap().contains("effects"));
    }
}
