//! What a GitLab connector remembers between polls: its cursor.
//!
//! To-do items cannot be asked for by their age, so the ids of those that were pending are kept: one that is not among
//! them is new, one that is no longer listed is done. With each goes how far the conversation was read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::item::{Backlog, Cursor};
use crate::model::time::Timestamp;

/// Most to-do items kept in mind: a cursor of about 52 KiB while the list is gone through. The list comes newest first; nobody works down the rest.
pub const TODOS_MAX: usize = 800;

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Pending to-do items by id, and when what they speak of had last changed when it was read, milliseconds since
    /// 1970. 0: nothing more is read of it. Below 0: its time stamp lay in the future; when it was read, negated.
    pub seen: BTreeMap<u64, i64>,
    /// Set until the list was gone through once: when that began.
    pub began: Option<Timestamp>,
    /// The list is being gone through, and there is more of it.
    pub run: Option<Run>,
}

/// One way through the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The page to ask for; `None` is the first.
    pub next: Option<Next>,
    /// What was on the pages before.
    pub ids: BTreeSet<u64>,
    /// Pages asked for.
    pub pages: u32,
}

/// The next page of a list, as the server names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    /// Its number.
    Page(u32),
    /// Its address.
    Link(String),
}

/// What is to be done about a to-do item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Known, and nothing happened.
    Nothing,
    /// There before the connector was switched on.
    Baseline,
    /// New.
    Fresh,
    /// The conversation went on since.
    Changed(Timestamp),
}

impl Memory {
    /// Before the first poll there is no cursor. One that cannot be read is a fault of ours; the ledger of items keeps
    /// old ones from being news.
    #[must_use]
    pub fn of(cursor: Option<&Cursor>, now: Timestamp) -> Self {
        match cursor {
            None => Self { began: Some(now), ..Self::default() },
            Some(cursor) => serde_json::from_str(&cursor.0).unwrap_or_default(),
        }
    }

    /// As it is stored.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    /// What to do about the item `id`, created and changed then.
    #[must_use]
    pub fn need(
        &self,
        id: u64,
        created_at: Option<Timestamp>,
        changed_at: Option<Timestamp>,
        backlog: Backlog,
    ) -> Need {
        match self.seen.get(&id) {
            Some(0) => Need::Nothing,
            Some(read) if *read < 0 => Need::Changed(Timestamp(-*read)),
            Some(read) if changed_at.is_some_and(|at| at.0 > *read) => Need::Changed(Timestamp(*read)),
            Some(_) => Need::Nothing,
            None => match (self.began, backlog) {
                (None, _) | (_, Backlog::All) => Need::Fresh,
                (Some(began), Backlog::New) if created_at.is_some_and(|at| at > began) => Need::Fresh,
                (Some(began), Backlog::Since(span))
                    if created_at.is_some_and(|at| at >= began.minus(span)) =>
                {
                    Need::Fresh
                }
                (Some(_), _) => Need::Baseline,
            },
        }
    }

    /// The list was gone through: what was not on it is forgotten. Gives how many that were.
    pub fn finish(&mut self, run: &Run) -> usize {
        let before = self.seen.len();
        self.seen.retain(|id, _| run.ids.contains(id));
        (self.began, self.run) = (None, None);
        before - self.seen.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::limits;

    #[test]
    fn a_full_memory_fits_a_cursor() {
        // While the list is gone through, all of it may be other ones.
        let ids = (9_000_000_000..).take(2 * TODOS_MAX);
        let run = Run {
            ids: ids.clone().take(TODOS_MAX).collect(),
            pages: 10,
            next: Some(Next::Link("x".repeat(2048))),
        };
        let memory = Memory {
            seen: ids.map(|id| (id, 1_796_025_600_000)).collect(),
            began: Some(Timestamp(1)),
            run: Some(run),
        };
        assert!(memory.cursor().0.len() < limits::CURSOR_BYTES_MAX, "{}", memory.cursor().0.len());
        assert_eq!(Memory::of(Some(&memory.cursor()), Timestamp(2)), memory);
    }

    #[test]
    fn what_is_new_and_what_was_there() {
        let at = |ms| Some(Timestamp(ms));
        let first = Memory::of(None, Timestamp(100_000));
        let week = Backlog::Since(Duration::from_secs(50));
        assert_eq!(first.need(1, at(99_000), None, Backlog::New), Need::Baseline);
        assert_eq!(first.need(1, None, None, Backlog::New), Need::Baseline);
        assert_eq!(first.need(1, at(100_001), None, Backlog::New), Need::Fresh);
        assert_eq!(first.need(1, at(60_000), None, week), Need::Fresh);
        assert_eq!(first.need(1, at(40_000), None, week), Need::Baseline);
        assert_eq!(first.need(1, None, None, Backlog::All), Need::Fresh);
        let later = Memory { seen: BTreeMap::from([(1, 500), (2, 0)]), ..Memory::default() };
        assert_eq!(later.need(1, at(1), at(500), Backlog::New), Need::Nothing);
        assert_eq!(later.need(1, at(1), None, Backlog::New), Need::Nothing);
        assert_eq!(later.need(1, at(1), at(501), Backlog::New), Need::Changed(Timestamp(500)));
        assert_eq!(later.need(2, at(1), at(501), Backlog::New), Need::Nothing);
        let odd = Memory { seen: BTreeMap::from([(1, -500)]), ..Memory::default() };
        assert_eq!(odd.need(1, at(1), at(900_000), Backlog::New), Need::Changed(Timestamp(500)));
        assert_eq!(later.need(3, at(1), at(1), Backlog::New), Need::Fresh);
    }
}
