//! The position in a mailbox, as pure arithmetic.

use serde::{Deserialize, Serialize};

use super::session::Mailbox;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::{Backlog, Cursor};
use crate::model::time::Timestamp;

/// Where reading stands. UIDs mean something only together with the UIDVALIDITY they came with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The mailbox's UIDVALIDITY.
    pub uidvalidity: u32,
    /// The highest UID handled.
    pub last_uid: u32,
    /// UIDNEXT when everything had been handled: nothing is new until it grows.
    #[serde(default)]
    pub uid_next: u32,
    /// HIGHESTMODSEQ then, where the server keeps it.
    #[serde(default)]
    pub highestmodseq: Option<u64>,
    /// Mail older than this was there before the connector was switched on; `None`: all mail is wanted.
    #[serde(default)]
    pub baseline_at: Option<Timestamp>,
    /// UIDs up to this one are a list of what was there before, in which `baseline_at` counts; behind it all is new.
    #[serde(default)]
    pub old_to: u32,
    /// The list is of a renumbered mailbox: INTERNALDATE means nothing in it.
    #[serde(default)]
    pub renumbered: bool,
}

/// What the position says about one mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Fetch it; it is an item.
    Yes,
    /// Fetch it; if its date lies before this moment it is a baseline item.
    YesIfSince(Timestamp),
    /// It is not even fetched.
    No,
}

impl Position {
    /// Takes the stored position up in the mailbox as it is now, or makes the first one. A note says when the mailbox
    /// was renumbered.
    ///
    /// # Errors
    /// Class `Bug`: the cursor is not one of ours.
    pub fn resume(
        cursor: Option<&Cursor>,
        backlog: Backlog,
        now: Timestamp,
        mailbox: &Mailbox,
        uid_next: u32,
    ) -> Result<(Self, Option<String>), PortError> {
        let last_now = uid_next.saturating_sub(1);
        let Some(cursor) = cursor else {
            return Ok((Self::first(backlog, now, mailbox.uid_validity, last_now), None));
        };
        let stored: Self = serde_json::from_str(&cursor.0).map_err(|error| {
            PortError::caused(ErrorClass::Bug, "read the stored position in the mailbox", error)
        })?;
        if stored.uidvalidity == mailbox.uid_validity {
            return Ok((stored, None));
        }
        let note = format!("mailbox was renumbered ({} → {})", stored.uidvalidity, mailbox.uid_validity);
        let renumbered = Self {
            uidvalidity: mailbox.uid_validity,
            last_uid: 0,
            uid_next: 0,
            highestmodseq: None,
            baseline_at: stored.baseline_at,
            old_to: last_now,
            renumbered: true,
        };
        Ok((renumbered, Some(note)))
    }

    fn first(backlog: Backlog, now: Timestamp, uidvalidity: u32, last_now: u32) -> Self {
        let base = Self { uidvalidity, ..Self::default() };
        match backlog {
            Backlog::New => Self { last_uid: last_now, old_to: last_now, baseline_at: Some(now), ..base },
            Backlog::Since(span) => Self { old_to: last_now, baseline_at: Some(now.minus(span)), ..base },
            Backlog::All => base,
        }
    }

    /// Nothing was added since the position was stored.
    #[must_use]
    pub fn nothing_new(&self, mailbox: &Mailbox, uid_next: u32) -> bool {
        let unchanged = self.highestmodseq.is_some()
            && self.highestmodseq == mailbox.highest_modseq
            && self.uid_next == uid_next;
        unchanged || self.last_uid >= uid_next.saturating_sub(1)
    }

    /// The position once all is handled that the mailbox held.
    #[must_use]
    pub fn drained(self, mailbox: &Mailbox, uid_next: u32) -> Self {
        Self { uid_next, highestmodseq: mailbox.highest_modseq, ..self }
    }

    /// What to do with a mail, by its UID and the date at which the server got it.
    #[must_use]
    pub fn wanted(&self, uid: u32, received_at: Option<Timestamp>) -> Wanted {
        match self.baseline_at {
            Some(baseline_at) if uid <= self.old_to => {
                if self.renumbered {
                    Wanted::YesIfSince(baseline_at)
                } else if received_at.is_some_and(|at| at < baseline_at) {
                    Wanted::No
                } else {
                    Wanted::Yes
                }
            }
            _ => Wanted::Yes,
        }
    }

    /// As stored.
    ///
    /// # Errors
    /// Class `Bug`.
    pub fn to_cursor(&self) -> Result<Cursor, PortError> {
        serde_json::to_string(self)
            .map(Cursor)
            .map_err(|error| PortError::caused(ErrorClass::Bug, "write the position in the mailbox", error))
    }

    /// A mail's key: grows with UIDVALIDITY and UID, as text too.
    #[must_use]
    pub fn key(&self, uid: u32) -> String {
        format!("uid:{:010}:{uid:010}", self.uidvalidity)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn mailbox(uid_validity: u32, highest_modseq: Option<u64>) -> Mailbox {
        Mailbox { uid_validity, highest_modseq, ..Mailbox::default() }
    }

    fn first(backlog: Backlog) -> Position {
        Position::resume(None, backlog, NOW, &mailbox(1001, None), 17).unwrap().0
    }

    #[test]
    fn the_first_position_follows_the_backlog() {
        let new = first(Backlog::New);
        assert_eq!((new.last_uid, new.baseline_at), (16, Some(NOW)));
        let all = first(Backlog::All);
        assert_eq!((all.last_uid, all.baseline_at), (0, None));
        let since = first(Backlog::Since(Duration::from_millis(10)));
        assert_eq!((since.last_uid, since.old_to, since.baseline_at), (0, 16, Some(Timestamp(999_990))));
        assert_eq!(since.wanted(16, Some(Timestamp(999_989))), Wanted::No);
        assert_eq!(since.wanted(16, Some(Timestamp(999_990))), Wanted::Yes);
        assert_eq!(since.wanted(17, Some(Timestamp(0))), Wanted::Yes);
    }

    #[test]
    fn renumbering_lists_again_and_says_so_once() {
        let cursor = first(Backlog::New).to_cursor().unwrap();
        let (position, note) =
            Position::resume(Some(&cursor), Backlog::New, Timestamp(9), &mailbox(2002, None), 7).unwrap();
        assert_eq!(note.as_deref(), Some("mailbox was renumbered (1001 → 2002)"));
        assert_eq!((position.last_uid, position.old_to), (0, 6));
        assert_eq!(position.wanted(6, Some(Timestamp(i64::MAX))), Wanted::YesIfSince(NOW));
        assert_eq!(position.wanted(7, None), Wanted::Yes);
        let again = position.to_cursor().unwrap();
        let (same, note) =
            Position::resume(Some(&again), Backlog::New, Timestamp(9), &mailbox(2002, None), 7).unwrap();
        assert_eq!((same, note), (position, None));
    }

    fn check_nothing_new(
        modseqs: (Option<u64>, Option<u64>),
        uid_nexts: (u32, u32),
        last_uid: u32,
        expected: bool,
    ) {
        let position =
            Position { last_uid, highestmodseq: modseqs.0, uid_next: uid_nexts.0, ..Position::default() };
        assert_eq!(position.nothing_new(&mailbox(1, modseqs.1), uid_nexts.1), expected, "{position:?}");
    }

    #[test]
    fn work_is_skipped_when_nothing_changed() {
        check_nothing_new((None, None), (10, 10), 9, true);
        // The mails 8 and 9 are gone; without modseq it has to look.
        check_nothing_new((None, None), (10, 10), 7, false);
        check_nothing_new((Some(5), Some(5)), (10, 10), 7, true);
        check_nothing_new((Some(5), Some(6)), (10, 11), 9, false);
        // A server that forgets to raise the modseq.
        check_nothing_new((Some(5), Some(5)), (10, 11), 9, false);
    }

    #[test]
    fn keys_grow_as_text() {
        let key = |uidvalidity, uid| Position { uidvalidity, ..Position::default() }.key(uid);
        assert_eq!(key(7, 42), "uid:0000000007:0000000042");
        assert!(key(7, 9) < key(7, 10) && key(7, u32::MAX) < key(8, 1));
    }

    #[test]
    fn the_stored_form_is_stable_and_old_forms_are_read() {
        let cursor = Cursor(r#"{"uidvalidity":1,"last_uid":2}"#.into());
        let (position, _) = Position::resume(Some(&cursor), Backlog::New, NOW, &mailbox(1, None), 9).unwrap();
        assert_eq!(
            position.to_cursor().unwrap().0,
            r#"{"uidvalidity":1,"last_uid":2,"uid_next":0,"highestmodseq":null,"baseline_at":null,"old_to":0,"renumbered":false}"#
        );
        let broken = Cursor("[]".into());
        assert!(Position::resume(Some(&broken), Backlog::New, NOW, &mailbox(1, None), 9).is_err());
    }
}
