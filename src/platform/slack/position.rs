//! The cursor: how far each conversation and each watched thread was read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ts::Ts;
use crate::model::item::Cursor;
use crate::platform::horizon::Horizon;

/// Threads watched at once, the liveliest: each costs a call a round.
pub const THREADS_MAX: usize = 100;

/// A thread without a word for so long is watched no more.
const THREAD_SECONDS_MAX: u64 = 14 * 86_400;

/// Conversations read by one unit; 500 places of 50 letters fit a cursor.
pub const CHANNELS_MAX: usize = 500;

/// Read again from so long before the newest message: edits change a message where it stands.
pub const OVERLAP_SECONDS: u64 = 15 * 60;

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// Whose token it is.
    pub user: String,
    /// What was written before is history.
    pub began: Ts,
    /// When the conversations were last listed: a new one is read from there.
    pub listed: Ts,
    /// By id.
    pub channels: BTreeMap<String, Reach>,
    /// Watched.
    pub threads: Vec<Thread>,
}

/// How far a list was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reach {
    /// The newest message that was taken.
    pub ts: Ts,
    /// Set while there are further pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
}

/// A list in the middle of its pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Walk {
    /// Where the next page begins.
    pub cursor: String,
    /// The newest message that the walk has met.
    pub top: Ts,
}

/// A thread that the account takes part in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Thread {
    /// Its conversation.
    pub channel: String,
    /// Its first message.
    pub root: Ts,
    /// How far it was read.
    pub reach: Reach,
}

impl Position {
    /// Of a stored cursor.
    #[must_use]
    pub fn of(cursor: Option<&Cursor>) -> Option<Self> {
        cursor.and_then(|cursor| serde_json::from_str(&cursor.0).ok())
    }

    /// For the store.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    /// Is watched?
    #[must_use]
    pub fn watches(&self, channel: &str, root: Ts) -> bool {
        self.threads.iter().any(|thread| thread.channel == channel && thread.root == root)
    }

    /// Watches a thread; answers behind `from` are new.
    pub fn watch(&mut self, channel: &str, root: Ts, from: Ts) {
        if self.watches(channel, root) {
            return;
        }
        let reach = Reach { ts: from.max(self.began), walk: None };
        self.threads.push(Thread { channel: channel.to_owned(), root, reach });
        if self.threads.len() > THREADS_MAX {
            self.threads.sort_by_key(|thread| std::cmp::Reverse(thread.reach.ts));
            self.threads.truncate(THREADS_MAX);
        }
    }

    /// Forgets a thread.
    pub fn leave(&mut self, channel: &str, root: Ts) {
        self.threads.retain(|thread| thread.channel != channel || thread.root != root);
    }

    /// Forgets threads in which nothing happens any more.
    pub fn tidy(&mut self, now: Ts) {
        let edge = now.before(THREAD_SECONDS_MAX);
        self.threads.retain(|thread| thread.reach.ts >= edge || thread.reach.walk.is_some());
    }

    /// A thread's or a conversation's reach.
    pub fn reach(&mut self, channel: &str, root: Option<Ts>) -> Option<&mut Reach> {
        match root {
            None => self.channels.get_mut(channel),
            Some(root) => self
                .threads
                .iter_mut()
                .find(|thread| thread.channel == channel && thread.root == root)
                .map(|thread| &mut thread.reach),
        }
    }
}

impl Reach {
    /// From where on the list is asked for.
    #[must_use]
    pub fn from(&self, began: Ts) -> Ts {
        self.ts.before(OVERLAP_SECONDS).max(began).min(self.ts)
    }

    /// A cursor of before may have been carried away by a time stamp.
    pub fn draw_back(&mut self, horizon: Horizon) {
        self.ts = self.ts.min(Ts::at(horizon.bound(self.ts.moment())));
    }

    /// Takes a page; the place moves only once the list came to its end. `true`: it goes on.
    pub fn take(&mut self, newest: Option<Ts>, count: usize, next: Option<String>) -> bool {
        let walk = self.walk.take().unwrap_or_default();
        let top = walk.top.max(newest.unwrap_or_default());
        // A repeated place or an empty page with a place would go on without end.
        match next.filter(|next| *next != walk.cursor && count > 0) {
            Some(cursor) => {
                self.walk = Some(Walk { cursor, top });
                true
            }
            None => {
                self.ts = self.ts.max(top);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ts(text: &str) -> Ts {
        text.parse().unwrap()
    }

    #[test]
    fn the_place_moves_at_the_end_of_the_pages() {
        let mut reach = Reach { ts: ts("1000.5"), walk: None };
        assert!(reach.take(Some(ts("3000.1")), 2, Some("a".into())));
        assert_eq!(reach.ts, ts("1000.5"));
        assert!(reach.take(Some(ts("2000.1")), 2, Some("b".into())));
        assert!(!reach.take(Some(ts("1500.1")), 2, None));
        assert_eq!((reach.ts, reach.walk.is_none()), (ts("3000.1"), true));
        assert!(reach.take(Some(ts("4000.1")), 1, Some("a".into())));
        assert!(!reach.take(Some(ts("3500.1")), 1, Some("a".into())), "a repeated place");
        assert!(!reach.take(None, 0, Some("z".into())), "an empty page");
    }

    #[test]
    fn nothing_before_the_beginning_is_asked_for() {
        let reach = Reach { ts: ts("10000.5"), walk: None };
        assert_eq!(reach.from(Ts::ZERO), ts("9100.5"));
        assert_eq!(reach.from(ts("9999.0")), ts("9999.0"));
    }

    #[test]
    fn the_liveliest_threads_are_watched() {
        let mut position = Position::default();
        for n in 0..THREADS_MAX + 5 {
            let root = ts(&format!("{}.0", 1000 + n));
            position.watch("C1", root, root);
        }
        assert_eq!(position.threads.len(), THREADS_MAX);
        assert!(!position.watches("C1", ts("1000.0")) && position.watches("C1", ts("1104.0")));
        position.tidy(ts("1211000.0"));
        assert_eq!(position.threads.len(), 0);
    }
}
