//! A draft as surfaces show it: made in one place, so that terminal, page and channels cannot differ in what they say.

use similar::TextDiff;

use super::super::ApiState;
use crate::control::wire::{AttachmentView, EffectView, HiddenView, ReviewView};
use crate::model::draft::Draft;
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
        effects: EffectView::all(&draft.envelope.effects, Item::offered(&items)),
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
