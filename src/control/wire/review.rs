//! What travels of drafts, and of decisions on drafts and sends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::draft::Draft;
use crate::model::effect::{Effect, Offer, OfferedValue};
use crate::model::ids::{ActionId, DraftId};
use crate::model::item::{Attachment, HiddenPart, Item};
use crate::model::run::Run;
use crate::model::time::Timestamp;

/// `?deferred=true`
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ReviewQuery {
    /// Deferred ones too.
    #[serde(default)]
    pub deferred: bool,
    /// At most so many, those that wait longest; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A draft with what a person needs to decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewView {
    /// The draft. Recipients, place and effects are those of its envelope; the age is that of `made_at`.
    pub draft: Draft,
    /// The thread, oldest first; hidden parts, warnings and attachments stand in each item.
    pub items: Vec<Item>,
    /// Why it went to this engine.
    pub route: Option<String>,
    /// Undo window after approval; `None` when the connector is off.
    pub hold: Option<Duration>,
    /// Why it cannot be approved now.
    pub blocked: Option<String>,
    /// From which account it leaves, for people: "me@example.org", "api.github.com as me". Empty: nobody knows.
    #[serde(default)]
    pub account: String,
    /// The run that made it: engine, model, time, tokens, cost.
    #[serde(default)]
    pub run: Option<Run>,
    /// What an edit changed against the engine's text, as a unified diff; `None`: nobody changed it.
    #[serde(default)]
    pub diff: Option<String>,
    /// Older items of the thread that are not among `items`.
    #[serde(default)]
    pub items_left_out: usize,
    /// How many of `items`, at their end, came after the engine had looked. More than 0 only where the draft is stale.
    #[serde(default)]
    pub items_since: usize,
    /// What can happen beside the text, and whether it will: those of the draft first, then what else is offered.
    #[serde(default)]
    pub effects: Vec<EffectView>,
    /// The files that came with the thread, newest item first.
    #[serde(default)]
    pub attachments: Vec<AttachmentView>,
    /// What a person would not have seen in the original, newest item first.
    #[serde(default)]
    pub hidden: Vec<HiddenView>,
}

/// Something that can happen at the far side beside the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectView {
    /// As it is written in [`EditBody::effects`]: `close`, `respond: accepted`; with `free_value` what stands before the
    /// colon: `label`.
    pub effect: String,
    /// What it does, for people: "Close the issue".
    pub what: String,
    /// It stands in the draft: it will happen.
    pub chosen: bool,
    /// It takes a value in free words, and this says which: "the label's name". Such a row is never `chosen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_value: Option<String>,
}

impl EffectView {
    /// Those of a draft, then what else is offered, each once.
    #[must_use]
    pub fn all(chosen: &[Effect], offers: &[Offer]) -> Vec<Self> {
        let what_of = |effect: &Effect| {
            let offer = offers.iter().find(|offer| offer.verb == effect.verb);
            offer.map_or_else(|| effect.to_string(), |offer| offer.what.clone())
        };
        let mut views: Vec<Self> = chosen
            .iter()
            .map(|effect| Self {
                effect: effect.to_string(),
                what: what_of(effect),
                chosen: true,
                free_value: None,
            })
            .collect();
        for offer in offers {
            let (values, free_value) = match &offer.value {
                OfferedValue::None => (vec![Effect::plain(&offer.verb)], None),
                OfferedValue::OneOf(values) => {
                    (values.iter().map(|value| Effect::with(&offer.verb, value)).collect(), None)
                }
                OfferedValue::Text(what) => (vec![Effect::plain(&offer.verb)], Some(what.clone())),
            };
            for effect in values.iter().filter(|effect| free_value.is_some() || !chosen.contains(effect)) {
                let (effect, what) = (effect.to_string(), offer.what.clone());
                views.push(Self { effect, what, chosen: false, free_value: free_value.clone() });
            }
        }
        views
    }
}

/// A file that came along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentView {
    /// Which of `items` it came with, from 0.
    pub item: usize,
    /// Name, kind and size, as the sender claims.
    pub file: Attachment,
}

/// A part that a person would not have seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenView {
    /// Which of `items` it stands in, from 0.
    pub item: usize,
    /// Why it could not be seen, and its text.
    pub part: HiddenPart,
}

/// A new text for a draft.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EditBody {
    /// Of the version that was edited.
    pub hash: String,
    /// The new text.
    pub body: String,
    /// What shall happen besides, each as `close` or `label: bug`; absent: as before. Only what the item offers.
    #[serde(default)]
    pub effects: Option<Vec<String>>,
}

/// An approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApproveBody {
    /// Of the version that was seen.
    pub hash: String,
    /// Who: `terminal`, a channel's name.
    pub by: String,
    /// Although the thread moved on.
    #[serde(default)]
    pub stale_ok: bool,
}

/// What an approval made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// The outbound action.
    pub action: ActionId,
    /// It is paused, by itself or with everything: nothing leaves before `resume`.
    #[serde(default)]
    pub paused: bool,
}

/// A rejection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RejectBody {
    /// For the engine's next try, or for the record.
    pub note: String,
    /// Have the engine try again with the note; else the case is dismissed.
    pub retry: bool,
}

/// A deferral.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DeferBody {
    /// Out of the list until then.
    pub until: Timestamp,
}

/// A decision on a held action.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReleaseBody {
    /// It did arrive: record it as sent. Else: send it.
    pub was_sent: bool,
}

/// A reason for the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// For people.
    pub reason: String,
}

/// `POST /v1/cases/{id}/take-over`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TakeOverBody {
    /// Who says so, for the record: "terminal", "page".
    pub by: String,
}

/// `POST /v1/cases/{id}/answer`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnswerBody {
    /// What the engine asked for.
    pub text: String,
}

/// `POST /v1/cases/{id}/propose`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposeBody {
    /// The whole text of the reply.
    pub body: String,
    /// Who wrote it: "an agent over MCP".
    pub by: String,
    /// For the reviewer.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// The draft that waits now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// Its id.
    pub draft: DraftId,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chosen: &[&str], expected: &[&str]) {
        let offers = [
            Offer::plain("close", "Close the issue"),
            Offer::one_of("respond", "Answer the invitation", &["accepted", "declined"]),
            Offer::text("label", "Set a label", "its name"),
        ];
        let chosen: Vec<Effect> = chosen.iter().map(|text| Effect::parse(text)).collect();
        let told = |view: EffectView| {
            let mark = if view.chosen { 'x' } else { ' ' };
            let value = view.free_value.map(|what| format!(": <{what}>")).unwrap_or_default();
            format!("[{mark}] {}{value} ({})", view.effect, view.what)
        };
        let found: Vec<String> = EffectView::all(&chosen, &offers).into_iter().map(told).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_effect_is_a_box_to_tick() {
        check(
            &[],
            &[
                "[ ] close (Close the issue)",
                "[ ] respond: accepted (Answer the invitation)",
                "[ ] respond: declined (Answer the invitation)",
                "[ ] label: <its name> (Set a label)",
            ],
        );
        check(
            &["close", "label: bug", "respond: declined"],
            &[
                "[x] close (Close the issue)",
                "[x] label: bug (Set a label)",
                "[x] respond: declined (Answer the invitation)",
                "[ ] respond: accepted (Answer the invitation)",
                "[ ] label: <its name> (Set a label)",
            ],
        );
    }

    #[test]
    fn what_is_not_offered_any_more_still_shows() {
        let views = EffectView::all(&[Effect::plain("reopen")], &[]);
        assert_eq!(
            (views[0].effect.as_str(), views[0].what.as_str(), views[0].chosen),
            ("reopen", "reopen", true)
        );
    }
}
