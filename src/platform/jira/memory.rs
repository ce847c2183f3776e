//! What a Jira connector remembers between polls: its cursor.
//!
//! A search finds issues by the minute of their last change, and finds them late. So each look goes back further than the
//! last one came, and what was read already is known by its id and the moment of its change.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::item::{Cursor, Page};
use crate::model::text::digest;
use crate::model::time::Timestamp;

/// The index lags behind by seconds to minutes.
pub const LOOK_BACK: Duration = Duration::from_secs(15 * 60);

/// Issues known by their last change. More changes than this within the look-back cost requests, nothing else.
const KNOWN_MAX: usize = 1500;

/// Pages of one search.
const PAGES_MAX: usize = 200;

/// A position in a search that is kept in the cursor.
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// What came before this was there before the connector was switched on.
    pub began: Timestamp,
    /// The newest change that was read, by the server's clock; 0 reads all there is.
    pub newest: Timestamp,
    /// Issues by id, and the change up to which they were read, milliseconds since 1970.
    pub known: BTreeMap<u64, i64>,
    /// A search that is being gone through.
    pub run: Option<Run>,
}

/// One way through a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// So many minutes back; `None` is without a bound. Part of the query, so the same on all its pages.
    pub minutes: Option<u64>,
    /// The page to ask for; `None` is the first.
    pub next: Option<Next>,
    /// Marks of the positions that were asked for.
    pub asked: Vec<String>,
    /// The newest change on the pages before.
    pub newest: Timestamp,
    /// The position was refused once, and all began anew.
    pub again: bool,
}

/// A position in a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    /// Cloud: as the server gave it.
    Token(String),
    /// Data Center: so many in.
    At(u64),
}

impl Memory {
    /// Before the first poll there is no cursor: `began` is the first moment that counts. One that cannot be read is a
    /// fault of ours; then what comes from now on counts.
    #[must_use]
    pub fn of(cursor: Option<&Cursor>, began: Timestamp) -> Self {
        let fresh = Self { began, newest: began, ..Self::default() };
        cursor
            .map_or_else(|| fresh.clone(), |cursor| serde_json::from_str(&cursor.0).unwrap_or(fresh.clone()))
    }

    /// As it is stored.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    /// The search to go on with, or a new one at this moment of the server's clock.
    pub fn take_run(&mut self, server_now: Timestamp) -> Run {
        self.run.take().unwrap_or_else(|| Run { minutes: self.minutes(server_now), ..Run::default() })
    }

    /// Minutes from the newest change to now, rounded up, and the look-back. Never a date: dates in a search are read in
    /// the time zone of the account's profile.
    fn minutes(&self, server_now: Timestamp) -> Option<u64> {
        (self.newest.0 > 0).then(|| (server_now.since(self.newest) + LOOK_BACK).as_secs().div_ceil(60).max(1))
    }

    /// The issue was read at this change of it.
    #[must_use]
    pub fn knows(&self, id: u64, updated: Option<Timestamp>) -> bool {
        self.known.get(&id).copied() == Some(updated.unwrap_or_default().0)
    }

    /// Turns to the next page, or ends the search, and tells in `page` which.
    pub fn turn(&mut self, mut run: Run, next: Option<Next>, server_now: Timestamp, page: &mut Page) {
        let mark = next.as_ref().map(|next| match next {
            Next::Token(token) => digest(&[token.as_bytes()]).get(..12).unwrap_or_default().to_owned(),
            Next::At(at) => at.to_string(),
        });
        let too_long = matches!(&next, Some(Next::Token(token)) if token.len() > TOKEN_BYTES_MAX);
        match mark {
            Some(mark) if run.asked.contains(&mark) => {
                page.cut_short = true;
                page.notes.push(
                    "the server gave the same page of the search again; the rest is read later".to_owned(),
                );
            }
            Some(_) if too_long || run.asked.len() >= PAGES_MAX => {
                page.cut_short = true;
                page.notes.push("the search has no end; the rest is read later".to_owned());
            }
            Some(mark) => {
                run.asked.push(mark);
                run.next = next;
                self.run = Some(run);
                page.more = true;
                return;
            }
            None => {}
        }
        // Never past what was stored, nor past the server's own clock.
        self.newest = self.newest.max(run.newest.min(server_now));
        self.forget();
    }

    /// What lies further back than any look goes is not found again.
    fn forget(&mut self) {
        let border = self.newest.minus(LOOK_BACK.saturating_mul(2)).0;
        self.known.retain(|_, updated| *updated == 0 || *updated >= border);
        if self.known.len() > KNOWN_MAX {
            let mut times: Vec<i64> = self.known.values().copied().collect();
            times.sort_unstable_by(|a, b| b.cmp(a));
            let border = times.get(KNOWN_MAX - 1).copied().unwrap_or_default();
            self.known.retain(|_, updated| *updated >= border);
        }
        while self.known.len() > KNOWN_MAX {
            self.known.pop_first();
        }
    }

    /// Notes that an issue was read.
    pub fn learn(&mut self, id: u64, updated: Option<Timestamp>) {
        self.known.insert(id, updated.unwrap_or_default().0);
        if self.known.len() > KNOWN_MAX {
            self.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_full_memory_fits_a_cursor() {
        let mut memory = Memory::of(None, Timestamp(1));
        for id in 0..5000 {
            memory.learn(9_000_000_000 + id, Some(Timestamp(1_796_025_600_000)));
        }
        let asked = (0..PAGES_MAX).map(|nth| format!("{nth:012}")).collect();
        let next = Some(Next::Token("x".repeat(TOKEN_BYTES_MAX)));
        memory.run = Some(Run { next, asked, ..Run::default() });
        assert!(memory.cursor().0.len() < limits::CURSOR_BYTES_MAX, "{}", memory.cursor().0.len());
        assert_eq!(Memory::of(Some(&memory.cursor()), Timestamp(2)), memory);
    }

    #[test]
    fn minutes_are_rounded_up_and_go_back_further() {
        let check = |newest: i64, now: i64, expected: Option<u64>| {
            let memory = Memory { newest: Timestamp(newest), ..Memory::default() };
            assert_eq!(memory.minutes(Timestamp(now)), expected);
        };
        check(0, 100 * MINUTE, None);
        check(100 * MINUTE, 100 * MINUTE, Some(15));
        check(100 * MINUTE, 100 * MINUTE + 1, Some(15));
        check(100 * MINUTE, 100 * MINUTE + 1000, Some(16));
        check(100 * MINUTE, 160 * MINUTE, Some(75));
        // A clock that was set back.
        check(100 * MINUTE, 90 * MINUTE, Some(15));
    }

    #[test]
    fn the_same_position_twice_is_the_end() {
        let (mut memory, mut page) = (Memory::default(), Page::default());
        let now = Timestamp(1000 * MINUTE);
        let token = || Some(Next::Token("t".into()));
        let run = Run { newest: Timestamp(5 * MINUTE), ..Run::default() };
        memory.turn(run, token(), now, &mut page);
        assert_eq!((page.more, page.cut_short), (true, false));
        let (run, mut page) = (memory.take_run(now), Page::default());
        memory.turn(run, token(), now, &mut page);
        assert_eq!((page.more, page.cut_short), (false, true));
        assert_eq!((memory.newest, page.notes.len(), memory.run), (Timestamp(5 * MINUTE), 1, None));
    }

    #[test]
    fn what_lies_behind_the_look_back_is_forgotten() {
        let mut memory = Memory::default();
        memory.learn(1, Some(Timestamp(10 * MINUTE)));
        memory.learn(2, Some(Timestamp(90 * MINUTE)));
        let run = Run { newest: Timestamp(100 * MINUTE), ..Run::default() };
        memory.turn(run, None, Timestamp(200 * MINUTE), &mut Page::default());
        assert_eq!(memory.known.keys().copied().collect::<Vec<_>>(), [2]);
        assert!(
            memory.knows(2, Some(Timestamp(90 * MINUTE))) && !memory.knows(2, Some(Timestamp(91 * MINUTE)))
        );
    }
}
