//! What a feed connector remembers between polls: its cursor.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::http::Validators;
use crate::model::item::Cursor;
use crate::model::limits;
use crate::model::text::digest;
use crate::model::time::Timestamp;

/// Letters of a name's mark: 48 bits.
const MARK_LEN: usize = 12;

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Of the last document that was read whole.
    pub validators: Validators,
    /// Digest of the last document that was read, whole or not.
    pub body: String,
    /// Something was missing in it: it must come again.
    pub partial: bool,
    /// What was wrong with it; said again while it stays the same.
    pub remark: String,
    /// Marks of known names, newest document first: to know a flood by.
    pub marks: String,
    /// Set until the first document was taken to its end: when that began.
    pub began: Option<Timestamp>,
    /// Items of the document `body` taken so far, while there are more.
    pub taken: Option<usize>,
    /// The `<ttl>` of the document, seconds.
    pub ttl_s: u64,
    /// The lasting redirect that was reported.
    pub moved: String,
}

impl Memory {
    /// Before the first poll there is no cursor. One that cannot be read is a fault of ours; what is remembered apart
    /// from it, in the ledger of items, keeps old items from being news.
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

    /// The known names, as marks.
    #[must_use]
    pub fn known(&self) -> HashSet<&str> {
        marks(&self.marks).collect()
    }

    /// Puts these names before the known ones, forgetting the oldest.
    pub fn learn<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        let mut all = String::with_capacity(limits::FEED_NAMES_MAX * MARK_LEN);
        let fresh = names.map(|name| mark(name)).collect::<Vec<_>>();
        let mut there = HashSet::new();
        for mark in fresh.iter().map(String::as_str).chain(marks(&self.marks)) {
            if there.len() == limits::FEED_NAMES_MAX {
                break;
            }
            if there.insert(mark.to_owned()) {
                all.push_str(mark);
            }
        }
        self.marks = all;
    }
}

/// A name's mark.
#[must_use]
pub fn mark(name: &str) -> String {
    digest(&[name.as_bytes()]).get(..MARK_LEN).unwrap_or_default().to_owned()
}

fn marks(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len() / MARK_LEN).filter_map(move |nth| text.get(nth * MARK_LEN..(nth + 1) * MARK_LEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memory_fits_a_cursor_and_forgets_the_oldest() {
        let mut memory = Memory::of(None, Timestamp(1));
        let names = |from: usize| (from..from + 3000).map(|n| n.to_string()).collect::<Vec<_>>();
        memory.learn(names(0).iter());
        memory.learn(names(10_000).iter());
        assert!(memory.cursor().0.len() < limits::CURSOR_BYTES_MAX);
        let known = memory.known();
        assert!(known.contains(mark("10000").as_str()) && known.contains(mark("999").as_str()));
        assert!(!known.contains(mark("1000").as_str()));
        assert_eq!(Memory::of(Some(&memory.cursor()), Timestamp(2)), memory);
    }
}
