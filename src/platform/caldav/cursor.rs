//! What a CalDAV connector remembers between polls: its cursor.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::item::Cursor;
use crate::model::limits;
use crate::model::text::digest;

/// Letters of an event's mark.
const MARK_LEN: usize = 10;

/// The cursor's content: by the path of each calendar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub BTreeMap<String, Place>);

/// The position in one calendar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// The `sync-token`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// The `getctag`, where there are no tokens.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ctag: String,
    /// Marks of events and their versions, where there are no tokens.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub marks: String,
    /// Meetings to come that we are asked to: mark of the event's path → keys of its items.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub meetings: BTreeMap<String, Vec<String>>,
}

impl Position {
    /// Before the first poll there is no cursor.
    #[must_use]
    pub fn of(cursor: Option<&Cursor>) -> Self {
        cursor.and_then(|cursor| serde_json::from_str(&cursor.0).ok()).unwrap_or_default()
    }

    /// As it is stored.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    /// The place in a calendar is this now. What has no room is forgotten: meetings and versions beyond the bounds
    /// are not told apart from new ones, and the ledger of items knows them all the same.
    pub fn arrive(&mut self, calendar: &str, place: Place) {
        self.0.insert(calendar.to_owned(), place);
        let mut room = limits::CALDAV_MEETINGS_MAX;
        let mut marks = limits::CALDAV_MARKS_MAX * MARK_LEN;
        for place in self.0.values_mut() {
            while place.meetings.len() > room {
                place.meetings.pop_first();
            }
            room -= place.meetings.len();
            place.marks.truncate(marks);
            marks -= place.marks.len();
        }
    }
}

/// The mark of an event in a version; the version may be empty.
#[must_use]
pub fn mark(path: &str, etag: &str) -> String {
    digest(&[path.as_bytes(), etag.as_bytes()]).get(..MARK_LEN).unwrap_or_default().to_owned()
}

impl Place {
    /// The event is known in this version.
    #[must_use]
    pub fn knows(&self, mark: &str) -> bool {
        (0..self.marks.len() / MARK_LEN)
            .any(|nth| self.marks.get(nth * MARK_LEN..(nth + 1) * MARK_LEN) == Some(mark))
    }

    /// The items of an event are these now.
    pub fn meet(&mut self, path: &str, keys: Vec<String>) {
        let mark = mark(path, "");
        if keys.is_empty() {
            self.meetings.remove(&mark);
        } else {
            self.meetings.insert(mark, keys);
        }
    }

    /// The items that an event had, if it had any.
    #[must_use]
    pub fn met(&self, path: &str) -> &[String] {
        self.meetings.get(&mark(path, "")).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memory_fits_a_cursor() {
        let mut position = Position::default();
        for calendar in 0..3 {
            let mut place = Place { token: "t".repeat(200), ..Place::default() };
            for number in 0..2000 {
                place.meet(&format!("/{calendar}/{number}.ics"), vec!["k".repeat(27)]);
            }
            place.marks = mark("a", "1").repeat(2 * limits::CALDAV_MARKS_MAX);
            position.arrive(&format!("/calendars/me/{calendar}/"), place);
        }
        assert!(position.cursor().0.len() < limits::CURSOR_BYTES_MAX, "{}", position.cursor().0.len());
        assert_eq!(Position::of(Some(&position.cursor())), position);
    }

    #[test]
    fn a_version_is_known_by_its_mark() {
        let place = Place { marks: mark("/a", "1") + &mark("/b", "1"), ..Place::default() };
        assert!(place.knows(&mark("/b", "1")) && !place.knows(&mark("/b", "2")));
    }
}
