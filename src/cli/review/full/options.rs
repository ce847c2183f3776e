//! What an answer can do besides its text, as a list to be checked.

use crate::control::wire::{EffectView, ReviewView};
use crate::model::effect::{Effect, Offer, OfferedValue};
use crate::model::item::Item;

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// An effect, and whether the draft does it.
    Effect { effect: Effect, chosen: bool },
    /// One whose value is to be typed, and what it is: "its name".
    Typed { verb: String, what: String },
}

impl Choice {
    /// "close", "label: <its name>".
    pub(super) fn name(&self) -> String {
        match self {
            Self::Effect { effect, .. } => effect.to_string(),
            Self::Typed { verb, what } => format!("{verb}: <{what}>"),
        }
    }

    /// The draft does it.
    pub(super) fn is_chosen(&self) -> bool {
        matches!(self, Self::Effect { chosen: true, .. })
    }
}

/// What the draft does, then what it could do.
pub(super) fn choices(view: &ReviewView) -> Vec<Choice> {
    let choice = |one: &EffectView| match &one.free_value {
        Some(what) => Choice::Typed { verb: one.effect.clone(), what: what.clone() },
        None => Choice::Effect { effect: Effect::parse(&one.effect), chosen: one.chosen },
    };
    // Of the draft as it is here, which an edit may have changed since the view was made.
    EffectView::all(&view.draft.envelope.effects, Item::offered(&view.items)).iter().map(choice).collect()
}

/// The effects of the draft with this one turned around, as they are written. Of values that exclude each other, the
/// last one stays.
pub(super) fn toggled(view: &ReviewView, effect: &Effect) -> Vec<String> {
    let now = &view.draft.envelope.effects;
    if now.contains(effect) {
        return now.iter().filter(|other| *other != effect).map(ToString::to_string).collect();
    }
    let excludes =
        |offer: &&Offer| offer.verb == effect.verb && matches!(offer.value, OfferedValue::OneOf(_));
    let one_of = Item::offered(&view.items).iter().any(|offer| excludes(&offer));
    let kept = now.iter().filter(|other| !(one_of && other.verb == effect.verb));
    kept.map(ToString::to_string).chain([effect.to_string()]).collect()
}
