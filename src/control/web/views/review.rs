//! A draft with what it answers, and everything that can be decided about it.

use axum::Extension;
use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::json;
use similar::{ChangeTag, TextDiff};

use super::segment;
use crate::control::web::answer::see;
use crate::control::web::doors::Session;
use crate::control::web::{Page, Reply, Shared, Trouble};
use crate::control::wire::ReviewView;
use crate::model::draft::DraftState;
use crate::model::limits::WEB_ROWS_MAX;

/// A line of a diff.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Line {
    sign: &'static str,
    text: String,
}

/// `GET /review`: the draft that waits longest.
pub(in crate::control::web) async fn next(
    State(page): Shared,
    Extension(session): Extension<Session>,
) -> Reply {
    match open(&page).await?.first() {
        Some(first) => Ok(see(&format!("/review/{first}"))),
        None => page.view(&session, "review.html", "Review", json!({ "nothing": true })).await,
    }
}

/// `GET /review/{id}`
pub(in crate::control::web) async fn show(
    State(page): Shared,
    Extension(session): Extension<Session>,
    Path(id): Path<String>,
) -> Reply {
    let view: ReviewView = page.client.get(&format!("/v1/reviews/{}", segment(&id))).await?;
    let queue = open(&page).await?;
    let own = view.draft.id.to_string();
    let (before, after) = neighbours(&queue, &own);
    let diff = (view.draft.body != view.draft.engine_body)
        .then(|| difference(&view.draft.engine_body, &view.draft.body));
    let place = queue.iter().position(|id| *id == own).map(|at| at + 1);
    let is_open = view.draft.state == DraftState::Open;
    let hold = view.hold.map(|hold| i64::try_from(hold.as_millis()).unwrap_or(i64::MAX));
    let recipients = view.draft.envelope.recipients();
    let rows = view.draft.body.lines().count().clamp(4, 40) + 1;
    let title = view.items.last().map_or_else(|| own.clone(), |item| item.title.clone());
    let values = json!({ "draft": view.draft, "items": view.items, "route": view.route, "blocked": view.blocked, "before": before, "after": after, "effects": view.effects, "diff": diff, "place": place, "is_open": is_open, "hold": hold, "recipients": recipients, "rows": rows, "total": queue.len() });
    page.view(&session, "review.html", &title, values).await
}

/// Ids of the drafts that wait, oldest first.
async fn open(page: &Page) -> Result<Vec<String>, Trouble> {
    let reviews: Vec<ReviewView> = page.client.get(&format!("/v1/reviews?limit={WEB_ROWS_MAX}")).await?;
    Ok(reviews.iter().map(|view| view.draft.id.to_string()).collect())
}

/// The drafts before and after one; the first, where it waits no longer.
fn neighbours<'a>(queue: &'a [String], own: &str) -> (Option<&'a String>, Option<&'a String>) {
    match queue.iter().position(|id| id == own) {
        Some(at) => (at.checked_sub(1).and_then(|at| queue.get(at)), queue.get(at + 1)),
        None => (None, queue.first()),
    }
}

fn difference(before: &str, after: &str) -> Vec<Line> {
    let diff = TextDiff::from_lines(before, after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
            ChangeTag::Equal => " ",
        };
        Line { sign, text: change.value().trim_end_matches('\n').to_owned() }
    };
    diff.iter_all_changes().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_goes_on_from_a_draft_that_left_it() {
        let queue = ["d1".to_owned(), "d2".to_owned(), "d3".to_owned()];
        let [one, two, three] = &queue;
        assert_eq!(neighbours(&queue, "d1"), (None, Some(two)));
        assert_eq!(neighbours(&queue, "d2"), (Some(one), Some(three)));
        assert_eq!(neighbours(&queue, "d3"), (Some(two), None));
        assert_eq!(neighbours(&queue, "d9"), (None, Some(one)));
        assert_eq!(neighbours(&[], "d9"), (None, None));
    }
}
