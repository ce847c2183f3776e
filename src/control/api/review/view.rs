//! A draft as surfaces show it: made in one place, so that terminal, page and channels cannot differ in what they say.

use similar::TextDiff;

use super::super::ApiState;
use crate::control::wire::{AttachmentView, EffectView, HiddenView, ReviewView};
use crate::model::draft::Draft;
use crate::model::effect::{Effect, Offer, OfferedValue};
use crate::model::item::Item;
use crate::model::limits;
use crate::store::{Around, StoreError};

/// Lines around a change that are shown with it.
const DIFF_CONTEXT_LINES: usize = 3;

/// The drafts with all that a person needs to decide on them, in their order.
pub(super) async fn views(state: &ApiState, drafts: Vec<Draft>) -> Result<Vec<ReviewView>, StoreError> {
    let around = state.store.around(&drafts, limits::CASE_ITEMS_PROMPT_MAX).await?;
    Ok(drafts.into_iter().zip(around).map(|(draft, around)| view(state, draft, around)).collect())
}

fn view(state: &ApiState, draft: Draft, around: Around) -> ReviewView {
    let Around { items, items_left_out, items_since, run, route } = around;
    let rule = state.desk.rule(&draft.connector);
    let place = || {
        if draft.destination.is_empty() {
            rule.as_ref().map(|rule| rule.destination.to_string()).unwrap_or_default()
        } else {
            draft.destination.clone()
        }
    };
    let account = if draft.envelope.from.is_empty() { place() } else { draft.envelope.from.clone() };
    ReviewView {
        hold: rule.as_ref().map(|rule| rule.hold),
        blocked: state.desk.blocked(&draft),
        account,
        diff: diff(&draft),
        effects: effects(&draft.envelope.effects, Item::offered(&items)),
        attachments: attachments(&items),
        hidden: hidden(&items),
        draft,
        items,
        route,
        run,
        items_left_out,
        items_since,
    }
}

/// What an edit changed, as a unified diff.
fn diff(draft: &Draft) -> Option<String> {
    (draft.body != draft.engine_body).then(|| {
        TextDiff::from_lines(&draft.engine_body, &draft.body)
            .unified_diff()
            .context_radius(DIFF_CONTEXT_LINES)
            .missing_newline_hint(false)
            .header("engine", "draft")
            .to_string()
    })
}

/// Those of the draft, then what else is offered, each once.
fn effects(chosen: &[Effect], offers: &[Offer]) -> Vec<EffectView> {
    let what_of = |effect: &Effect| {
        let offer = offers.iter().find(|offer| offer.verb == effect.verb);
        offer.map_or_else(|| effect.to_string(), |offer| offer.what.clone())
    };
    let mut views: Vec<EffectView> = chosen
        .iter()
        .map(|effect| EffectView {
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
            views.push(EffectView { effect, what, chosen: false, free_value: free_value.clone() });
        }
    }
    views
}

fn attachments(items: &[Item]) -> Vec<AttachmentView> {
    let newest_first = items.iter().enumerate().rev();
    newest_first
        .flat_map(|(item, of)| {
            of.attachments.iter().map(move |file| AttachmentView { item, file: file.clone() })
        })
        .collect()
}

fn hidden(items: &[Item]) -> Vec<HiddenView> {
    let newest_first = items.iter().enumerate().rev();
    newest_first
        .flat_map(|(item, of)| of.hidden.iter().map(move |part| HiddenView { item, part: part.clone() }))
        .collect()
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
        let found: Vec<String> = effects(&chosen, &offers).into_iter().map(told).collect();
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
        let views = effects(&[Effect::plain("reopen")], &[]);
        assert_eq!(
            (views[0].effect.as_str(), views[0].what.as_str(), views[0].chosen),
            ("reopen", "reopen", true)
        );
    }
}
