//! What a matrix connector remembers between polls: its cursor.

use serde::{Deserialize, Serialize};

use crate::model::item::Cursor;
use crate::model::limits;
use crate::model::text::digest;

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// The server's `next_batch`; empty before the first snapshot.
    pub since: String,
    /// Rooms of two, which the server tells of once only. At most [`limits::MATRIX_PAIRS_MAX`], oldest forgotten.
    pub pairs: Vec<String>,
    /// Marks of what was told once: encrypted rooms, invitations.
    pub told: Vec<String>,
}

impl Position {
    /// Before the first poll there is no cursor. One that cannot be read is a fault of ours: the next poll is a silent
    /// snapshot again.
    #[must_use]
    pub fn of(cursor: Option<&Cursor>) -> Self {
        cursor.and_then(|cursor| serde_json::from_str(&cursor.0).ok()).unwrap_or_default()
    }

    /// As it is stored.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    /// True the first time; then it counts as told.
    pub fn tell(&mut self, what: &str) -> bool {
        let mark = digest(&[what.as_bytes()]).get(..12).unwrap_or_default().to_owned();
        let fresh = !self.told.contains(&mark);
        if fresh {
            push_bounded(&mut self.told, mark, limits::MATRIX_TOLD_MAX);
        }
        fresh
    }

    /// A room has two members, or no longer.
    pub fn pair(&mut self, room: &str, pair: bool) {
        if !pair {
            self.pairs.retain(|known| known != room);
        } else if !self.is_pair(room) {
            push_bounded(&mut self.pairs, room.to_owned(), limits::MATRIX_PAIRS_MAX);
        }
    }

    /// The room has two members.
    #[must_use]
    pub fn is_pair(&self, room: &str) -> bool {
        self.pairs.iter().any(|known| known == room)
    }
}

fn push_bounded(list: &mut Vec<String>, entry: String, len_max: usize) {
    if list.len() >= len_max {
        list.remove(0);
    }
    list.push(entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memory_fits_a_cursor() {
        let mut position = Position { since: "s".repeat(1000), ..Position::default() };
        for number in 0..3000 {
            position.tell(&number.to_string());
            position.pair(&format!("!{number:0>43}:a.long.server.example.org"), true);
        }
        assert!(position.cursor().0.len() < limits::CURSOR_BYTES_MAX, "{}", position.cursor().0.len());
        assert!(!position.tell("2999") && position.tell("0"));
        assert_eq!(Position::of(Some(&position.cursor())), position);
    }

    #[test]
    fn rooms_of_two_grow() {
        let mut position = Position::default();
        position.pair("!a", true);
        position.pair("!a", true);
        assert_eq!(position.pairs, ["!a"]);
        position.pair("!a", false);
        assert!(!position.is_pair("!a"));
    }
}
