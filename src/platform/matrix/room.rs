//! What is known of rooms while the daemon runs. All of it can be asked for again.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::event::{Event, text};
use crate::model::limits;
use crate::model::text::one_line;

/// Longest name shown.
const NAME_BYTES_MAX: usize = 128;

/// One room.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// `None`: not asked yet. Empty: it has none.
    pub name: Option<String>,
    /// Its encryption is switched on, for good.
    pub encrypted: bool,
    /// Display names by user id.
    pub members: BTreeMap<String, String>,
}

/// All rooms, and what spares questions.
#[derive(Debug, Default)]
pub struct Rooms {
    rooms: HashMap<String, Room>,
    /// Rooms that the account's clients mark as direct.
    pub direct: HashSet<String>,
    own: (HashSet<String>, VecDeque<String>),
}

impl Rooms {
    /// A room, known or not.
    pub fn of(&mut self, id: &str) -> &mut Room {
        self.rooms.entry(id.to_owned()).or_default()
    }

    /// Takes over the content of `m.direct`.
    pub fn mark_direct(&mut self, content: &Value) {
        let lists = content.as_object().into_iter().flat_map(|users| users.values());
        let ids = lists.filter_map(Value::as_array).flatten().filter_map(|id| text(Some(id)));
        self.direct = ids.map(str::to_owned).collect();
    }

    /// An event of ours, by id.
    pub fn remember_own(&mut self, id: &str) {
        let (set, order) = &mut self.own;
        if set.insert(id.to_owned()) {
            order.push_back(id.to_owned());
            if order.len() > limits::MATRIX_OWN_KNOWN_MAX
                && let Some(oldest) = order.pop_front()
            {
                set.remove(&oldest);
            }
        }
    }

    /// The event is one of ours, as far as is remembered.
    #[must_use]
    pub fn is_own(&self, id: &str) -> bool {
        self.own.0.contains(id)
    }
}

impl Room {
    /// Learns from an event of the room's state.
    pub fn learn(&mut self, event: &Event) {
        let Some(state_key) = &event.state_key else { return };
        match event.kind.as_str() {
            "m.room.name" => {
                self.name = Some(one_line(event.text("name").unwrap_or_default(), NAME_BYTES_MAX));
            }
            "m.room.encryption" => self.encrypted = true,
            "m.room.member" => {
                let name = one_line(event.text("displayname").unwrap_or_default(), NAME_BYTES_MAX);
                if name.is_empty() {
                    self.members.remove(state_key);
                } else if self.members.len() < limits::MATRIX_MEMBERS_KNOWN_MAX
                    || self.members.contains_key(state_key)
                {
                    self.members.insert(state_key.clone(), name);
                }
            }
            _ => {}
        }
    }

    /// For people: its name, else its id.
    #[must_use]
    pub fn title<'a>(&'a self, id: &'a str) -> &'a str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn direct_rooms_of_all_people() {
        let mut rooms = Rooms::default();
        rooms.mark_direct(&json!({"@a:x": ["!1", "!2"], "@b:x": ["!3", 5], "@c:x": "no"}));
        let mut found: Vec<_> = rooms.direct.iter().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, ["!1", "!2", "!3"]);
        rooms.mark_direct(&json!(null));
        assert!(rooms.direct.is_empty());
    }

    #[test]
    fn own_events_are_remembered_within_bounds() {
        let mut rooms = Rooms::default();
        for number in 0..=limits::MATRIX_OWN_KNOWN_MAX {
            rooms.remember_own(&number.to_string());
        }
        assert!(!rooms.is_own("0") && rooms.is_own("1"));
    }
}
