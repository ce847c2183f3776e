//! News: a stream that says "something changed" and nothing else. What changed, the page asks for itself.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{Page, Shared};
use crate::control::wire::StatusView;
use crate::model::limits::WEB_STREAMS_MAX;
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

/// The streams that are open, oldest first. A browser that goes from view to view leaves streams behind whose end is seen
/// only when something is written to them: the newest is the one that somebody looks at, so the oldest gives way.
#[derive(Debug, Default)]
pub(super) struct Streams(Mutex<VecDeque<CancellationToken>>);

/// One stream's place; ends with it.
struct Slot(CancellationToken);

impl Streams {
    fn open(&self) -> Slot {
        let token = CancellationToken::new();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| !other.is_cancelled());
        while open.len() >= WEB_STREAMS_MAX {
            if let Some(oldest) = open.pop_front() {
                oldest.cancel();
            }
        }
        open.push_back(token.clone());
        Slot(token)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What a view knew when it was put together.
#[derive(Debug, Deserialize)]
pub(super) struct Known {
    seen: Option<u64>,
}

/// `GET /news`: of what changed since the view was put together, not only since the stream began.
pub(super) async fn stream(State(page): Shared, Query(known): Query<Known>) -> Response {
    let slot = page.streams.open();
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
                () = slot.0.cancelled() => return None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stream_always_finds_room_and_the_oldest_gives_way() {
        let streams = Streams::default();
        let mut slots: Vec<Slot> = (0..WEB_STREAMS_MAX).map(|_| streams.open()).collect();
        assert!(slots.iter().all(|slot| !slot.0.is_cancelled()));
        // One that ended by itself makes room, and nobody has to give way.
        drop(slots.remove(3));
        let next = streams.open();
        assert!(slots.iter().chain([&next]).all(|slot| !slot.0.is_cancelled()));
        let last = streams.open();
        let ended: Vec<bool> = slots.iter().map(|slot| slot.0.is_cancelled()).collect();
        assert!(
            ended.first() == Some(&true) && ended.iter().filter(|ended| **ended).count() == 1,
            "{ended:?}"
        );
        assert!(!next.0.is_cancelled() && !last.0.is_cancelled());
    }
}
