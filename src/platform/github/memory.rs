//! What is remembered between polls: the cursor.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::notice::Notice;
use crate::http::Validators;
use crate::model::item::Cursor;
use crate::model::limits;
use crate::model::time::Timestamp;

/// GitHub counts in whole seconds, and its lists lag behind what happens: so far back is looked once more.
pub(super) const OVERLAP: Duration = Duration::from_secs(120);

/// A notification may lag behind the comment it tells of.
pub(super) const TEXT_OVERLAP: Duration = Duration::from_secs(300);

/// The pass that asks for everything looks this much further back than the one before it began.
const FULL_MARGIN: Duration = Duration::from_secs(600);

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// Of the notifications, once they were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inbox: Option<Inbox>,
    /// Of repositories that are read one by one, by the name in the unit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub repositories: BTreeMap<String, Repository>,
}

/// Of the notifications. What is newer than `floor` and not among `seen` is still to be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Inbox {
    /// The query that the validators belong to.
    pub query: String,
    /// Of its last answer that was dealt with to its end.
    pub validators: Validators,
    /// When the inbox was last read without "only if it changed", by GitHub's clock.
    pub full_at: Timestamp,
    /// When it was last dealt with to its end, by GitHub's clock.
    pub looked_at: Timestamp,
    /// The newest notification up to which all were dealt with.
    pub upto: Timestamp,
    /// Everything older was dealt with, or was there before.
    pub floor: Timestamp,
    /// Threads dealt with, newer than the floor: id and seconds of their activity.
    pub seen: BTreeMap<String, i64>,
    /// Set until the backlog of the first look was worked through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First>,
}

/// The first look at a backlog.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct First {
    /// The oldest text that is work; `None`: all that the user has not read.
    pub since: Option<Timestamp>,
    /// Activity behind this is news, not backlog.
    pub until: Timestamp,
}

/// Of one repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Repository {
    /// Nothing older is work.
    pub began: Timestamp,
    /// Issues and pull requests, comments, comments on the diff.
    pub streams: [Stream; 3],
}

/// One list of a repository, oldest change first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stream {
    /// The newest change that was read.
    pub upto: Timestamp,
    /// The query that was last read to its end, and its validators.
    pub query: String,
    /// Of that query.
    pub validators: Validators,
}

impl Memory {
    /// What the cursor holds; nothing if there is none or it is another's.
    pub fn of(cursor: Option<&Cursor>) -> Self {
        cursor.and_then(|cursor| serde_json::from_str(&cursor.0).ok()).unwrap_or_default()
    }

    /// As a cursor.
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }
}

impl Inbox {
    /// The notification is still to be read.
    pub fn wants(&self, notice: &Notice) -> bool {
        notice.updated_at >= self.floor && self.seen.get(&notice.id) != Some(&(notice.updated_at.0 / 1000))
    }

    /// The notification was dealt with. They come oldest first, so everything up to it was.
    pub fn mark(&mut self, notice: &Notice) {
        self.seen.insert(notice.id.clone(), notice.updated_at.0 / 1000);
        self.upto = self.upto.max(notice.updated_at);
        if self.seen.len() > limits::GITHUB_SEEN_MAX {
            self.forget_oldest();
        }
    }

    /// Drops whole seconds from the old end, never the present one: its other threads may be still to come.
    fn forget_oldest(&mut self) {
        let mut times: Vec<i64> = self.seen.values().copied().collect();
        times.sort_unstable();
        // A quarter at once, so that this is seldom done.
        let Some(&oldest_kept) = times.get(times.len() / 4) else { return };
        let oldest_kept = oldest_kept.min(self.upto.0 / 1000);
        self.floor = self.floor.max(Timestamp::from_seconds(oldest_kept));
        self.seen.retain(|_, at| *at >= oldest_kept);
        while self.seen.len() > limits::GITHUB_SEEN_MAX + limits::GITHUB_SEEN_MAX / 4 {
            // More in one second than anybody has: read again by each look, known to the record.
            self.seen.pop_first();
        }
    }

    /// All was dealt with. `full`: everything had been asked for at `began`; `still`: the oldest that was put off.
    pub fn finish(&mut self, began: Timestamp, full: bool, still: Option<Timestamp>) {
        self.looked_at = began;
        self.first = None;
        if !full {
            return;
        }
        let before = if self.full_at.0 == 0 { began } else { self.full_at };
        let floor = before.min(self.upto.max(self.floor)).minus(FULL_MARGIN);
        self.floor = self.floor.max(still.map_or(floor, |still| floor.min(still)));
        self.full_at = began;
        let floor = self.floor.0.div_euclid(1000);
        self.seen.retain(|_, at| *at >= floor);
    }

    /// From when on texts of a thread are news.
    pub fn look_back(&self, notice: &Notice) -> Option<Timestamp> {
        if let Some(first) = self.first.filter(|first| notice.updated_at <= first.until) {
            // What the user has read needs no work, unless it was read in the moment that it came.
            let read = notice.last_read_at.map(|at| at.min(notice.updated_at).minus(TEXT_OVERLAP));
            return first.since.max(read);
        }
        let from = self.looked_at.max(self.upto).min(notice.updated_at);
        Some(from.minus(TEXT_OVERLAP))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn notice(id: u64, at: i64) -> Notice {
        let at = Timestamp::from_seconds(at).to_string();
        Notice::read(&json!({"id": id.to_string(), "updated_at": at})).unwrap()
    }

    #[test]
    fn what_was_dealt_with_is_not_wanted_and_a_late_sibling_is() {
        let mut inbox = Inbox::default();
        inbox.mark(&notice(1, 1000));
        inbox.mark(&notice(2, 1010));
        assert!(!inbox.wants(&notice(1, 1000)) && inbox.wants(&notice(1, 1011)));
        assert!(inbox.wants(&notice(3, 1010)), "the same second as the newest");
        assert!(inbox.wants(&notice(4, 990)), "older, and not met before");
    }

    #[test]
    fn the_cursor_stays_small_and_ties_are_not_lost() {
        let mut inbox = Inbox::default();
        for id in 0..20_000 {
            inbox.mark(&notice(10_000_000_000 + id, 1_796_000_000 + i64::try_from(id).unwrap() / 3));
        }
        let memory = Memory { inbox: Some(inbox.clone()), ..Memory::default() };
        assert!(memory.cursor().0.len() < limits::CURSOR_BYTES_MAX);
        let newest = inbox.upto.0 / 1000;
        assert!(inbox.wants(&notice(1, newest)) && !inbox.wants(&notice(1, newest - 2000)));
        for id in 0..20_000 {
            inbox.mark(&notice(20_000_000_000 + id, newest));
        }
        let memory = Memory { inbox: Some(inbox.clone()), ..Memory::default() };
        assert!(memory.cursor().0.len() < limits::CURSOR_BYTES_MAX);
        assert!(inbox.wants(&notice(1, newest)));
    }

    #[test]
    fn the_floor_follows_a_pass_behind() {
        let at = Timestamp::from_seconds;
        let mut inbox = Inbox::default();
        inbox.mark(&notice(1, 10_000));
        inbox.finish(at(20_000), true, None);
        assert_eq!(inbox.floor, at(9_400), "never above what was seen");
        inbox.mark(&notice(2, 23_000));
        inbox.finish(at(23_600), true, None);
        assert_eq!((inbox.floor, inbox.seen.len()), (at(19_400), 1));
        inbox.mark(&notice(3, 27_000));
        inbox.finish(at(27_200), true, Some(at(20_000)));
        assert_eq!(inbox.floor, at(20_000), "what was put off is still to be read");
    }

    #[test]
    fn texts_are_news_from_the_last_look_on() {
        let at = Timestamp::from_seconds;
        let mut inbox = Inbox { looked_at: at(5_000), upto: at(4_000), ..Inbox::default() };
        assert_eq!(inbox.look_back(&notice(1, 6_000)), Some(at(4_700)));
        assert_eq!(inbox.look_back(&notice(1, 4_500)), Some(at(4_200)), "a late notification");
        inbox.first = Some(First { since: None, until: at(5_000) });
        assert_eq!(inbox.look_back(&notice(1, 4_500)), None);
        let read = Notice { last_read_at: Some(at(4_000)), ..notice(1, 4_500) };
        assert_eq!(inbox.look_back(&read), Some(at(3_700)));
        assert_eq!(inbox.look_back(&notice(1, 6_000)), Some(at(4_700)));
    }

    #[test]
    fn a_cursor_that_cannot_be_read_is_none() {
        assert_eq!(Memory::of(Some(&Cursor("oops".into()))), Memory::default());
        let memory =
            Memory { inbox: Some(Inbox { upto: Timestamp(5), ..Inbox::default() }), ..Memory::default() };
        assert_eq!(Memory::of(Some(&memory.cursor())), memory);
    }
}
