//! News: a stream that says "something changed" and nothing else. What changed, the page asks for itself.

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Page, Shared};
use crate::control::wire::StatusView;
use crate::model::time::Timestamp;

/// How often a stream looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// One look serves all streams for so long.
const LOOK_KEPT: Duration = Duration::from_millis(900);

/// A connection says so often that it is alive, well within what a resting one is closed after.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// What was seen last, as a number that differs when it differs.
#[derive(Debug, Default)]
pub(super) struct News {
    at: Option<Timestamp>,
    print: u64,
}

/// What a view knew when it was put together.
#[derive(Debug, Deserialize)]
pub(super) struct Known {
    seen: Option<u64>,
}

/// `GET /news`: of what changed since the view was put together, not only since the stream began.
pub(super) async fn stream(State(page): Shared, Query(known): Query<Known>) -> Response {
    let Ok(slot) = Arc::clone(&page.streams).try_acquire_owned() else {
        return (StatusCode::TOO_MANY_REQUESTS, "too many streams\n").into_response();
    };
    let seen = match known.seen {
        Some(seen) => seen,
        None => page.print().await,
    };
    let news = futures_util::stream::unfold((page, seen, slot), |(page, seen, slot)| async move {
        loop {
            let print = page.print().await;
            if print != seen {
                let event = Event::default().event("changed").data("");
                return Some((Ok::<_, Infallible>(event), (page, print, slot)));
            }
            let stopped = page.stop.clone();
            tokio::select! {
                () = stopped.cancelled() => return None,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    });
    Sse::new(news).keep_alive(KeepAlive::new().interval(ALIVE_EVERY)).into_response()
}

impl Page {
    /// The next look is a fresh one.
    pub(super) async fn look_again(&self) {
        self.news.lock().await.at = None;
    }

    pub(super) async fn print(&self) -> u64 {
        let mut news = self.news.lock().await;
        let now = self.clock.now();
        if news.at.is_some_and(|at| at <= now && now.since(at) < LOOK_KEPT) {
            return news.print;
        }
        if let Ok(status) = self.client.get::<StatusView>("/v1/status").await {
            news.print = print(&status);
            news.at = Some(now);
        }
        news.print
    }
}

/// Not the ages and times that change with every poll.
fn print(status: &StatusView) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", status.counts).hash(&mut hasher);
    (status.generation, status.paused, status.findings, &status.notes).hash(&mut hasher);
    for unit in &status.units {
        let error = unit.last_error.as_ref().map(|error| &error.message);
        (&unit.unit, &unit.reason, error, unit.last_new_item).hash(&mut hasher);
        format!("{:?}{:?}", unit.active, unit.load).hash(&mut hasher);
    }
    hasher.finish()
}
