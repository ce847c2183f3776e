//! The cursor: how far each stream was taken, and what lies at its edge.

use serde::{Deserialize, Serialize};

use crate::model::item::Cursor;
use crate::model::text::digest;
use crate::model::time::Timestamp;
use crate::platform::horizon::Horizon;

/// Streams are read again from so long before their floor: updates of the same moment may show one after the other.
pub const OVERLAP_MS: i64 = 60_000;

/// Marks kept for the overlap; what is beyond is read again, and the record knows it.
const MARKS_MAX: usize = 300;

/// The cursor's content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// Whose inbox it is.
    pub viewer: String,
    /// What was made before this is history.
    pub history: Option<Timestamp>,
    /// The inbox.
    pub inbox: Stream,
    /// Comments.
    pub comments: Stream,
}

/// One list, newest update first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stream {
    /// Everything updated before this was taken.
    pub floor: Option<Timestamp>,
    /// Marks of what was taken and updated within the overlap before the floor.
    pub marks: Vec<String>,
    /// Set while there are further pages above the floor.
    pub walk: Option<Walk>,
}

/// A list in the middle of its pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Walk {
    /// Where the next page begins.
    pub after: String,
    /// The newest update that the walk has met.
    pub top: Option<Timestamp>,
    /// Marks of what will lie in the overlap.
    pub marks: Vec<String>,
    /// Pages taken.
    pub pages: u32,
}

/// What the pages of one answer come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There are further pages above the floor.
    Goes,
    /// Everything above the floor was taken.
    Ended,
}

impl Position {
    /// Of a stored cursor; one that cannot be read begins anew, which makes history of what is there.
    #[must_use]
    pub fn of(cursor: Option<&Cursor>) -> Option<Self> {
        cursor.and_then(|cursor| serde_json::from_str(&cursor.0).ok())
    }

    /// For the store.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }
}

/// An item in a certain state, in few letters.
#[must_use]
pub fn mark(id: &str, updated: &str) -> String {
    digest(&[id.as_bytes(), updated.as_bytes()]).get(..10).unwrap_or_default().to_owned()
}

impl Stream {
    /// From when on the list is asked for; `None`: all of it.
    #[must_use]
    pub fn from(&self) -> Option<Timestamp> {
        self.floor.map(|floor| Timestamp(floor.0.saturating_sub(OVERLAP_MS)))
    }

    /// Where its next page begins.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        self.walk.as_ref().map(|walk| walk.after.as_str())
    }

    /// It was taken already in this state.
    #[must_use]
    pub fn knows(&self, mark: &str) -> bool {
        self.marks.iter().any(|known| known == mark)
    }

    /// Takes a page: (mark, update) of its nodes, and where the server says it goes on. The floor moves only once the
    /// walk has come below it.
    pub fn take(
        &mut self,
        nodes: &[(String, Option<Timestamp>)],
        next: Option<&str>,
        pages_max: u32,
        horizon: Horizon,
    ) -> Step {
        let from = self.from();
        // A cursor of before may have been carried away by a time stamp.
        self.floor = self.floor.map(|floor| horizon.bound(floor));
        let mut walk = self.walk.take().unwrap_or_default();
        walk.pages += 1;
        walk.top = walk.top.max(horizon.newest(nodes.iter().filter_map(|(_, at)| *at)));
        let edge = walk.top.map(|top| Timestamp(top.0.saturating_sub(OVERLAP_MS)));
        let near = nodes.iter().filter(|(_, at)| *at >= edge && at.is_some());
        walk.marks.extend(near.map(|(mark, _)| mark.clone()));
        walk.marks.truncate(MARKS_MAX);
        let below = from.is_some_and(|from| nodes.iter().any(|(_, at)| at.is_some_and(|at| at < from)));
        // A repeated place or an empty page with a place would go on without end.
        let next = next.filter(|next| *next != walk.after && !next.is_empty() && !nodes.is_empty());
        if let (Some(next), false, true) = (next, below, walk.pages < pages_max) {
            walk.after = next.to_owned();
            self.walk = Some(walk);
            return Step::Goes;
        }
        self.end(walk);
        Step::Ended
    }

    /// Leaves the rest of the list alone: it is history.
    pub fn cut_short(&mut self) {
        if let Some(walk) = self.walk.take() {
            self.end(walk);
        }
    }

    fn end(&mut self, walk: Walk) {
        if walk.top.is_some() {
            self.floor = self.floor.max(walk.top);
            self.marks = walk.marks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far() -> Horizon {
        Horizon::at(Timestamp(1_000_000))
    }

    fn nodes(from: i64, to: i64) -> Vec<(String, Option<Timestamp>)> {
        (to..=from).rev().map(|s| (format!("m{s}"), Some(Timestamp(s * 1000)))).collect()
    }

    #[test]
    fn the_floor_moves_when_the_walk_has_ended() {
        let mut stream = Stream { floor: Some(Timestamp(100_000)), ..Stream::default() };
        assert_eq!(stream.take(&nodes(500, 301), Some("a"), 9, far()), Step::Goes);
        assert_eq!((stream.floor, stream.after()), (Some(Timestamp(100_000)), Some("a")));
        assert_eq!(stream.take(&nodes(300, 101), Some("b"), 9, far()), Step::Goes);
        assert_eq!(stream.take(&nodes(100, 30), Some("c"), 9, far()), Step::Ended);
        assert_eq!((stream.floor, stream.after()), (Some(Timestamp(500_000)), None));
        assert_eq!(stream.marks.len(), 61);
        assert!(stream.knows("m440") && !stream.knows("m439"));
    }

    #[test]
    fn loops_end() {
        let mut stream = Stream::default();
        assert_eq!(stream.take(&nodes(9, 8), Some("a"), 9, far()), Step::Goes);
        assert_eq!(stream.take(&nodes(7, 6), Some("a"), 9, far()), Step::Ended);
        assert_eq!(stream.take(&[], Some("b"), 9, far()), Step::Ended);
        assert_eq!(stream.take(&nodes(9, 8), Some("a"), 1, far()), Step::Ended);
        assert_eq!(stream.floor, Some(Timestamp(9000)));
    }

    #[test]
    fn the_future_moves_no_floor_and_hides_no_neighbours() {
        let mut stream = Stream { floor: Some(Timestamp(100_000)), ..Stream::default() };
        let mut page = nodes(120, 90);
        page.insert(0, ("odd".into(), Some(Timestamp(900_000_000))));
        assert_eq!(stream.take(&page, None, 9, Horizon::at(Timestamp(121_000))), Step::Ended);
        assert_eq!(stream.floor, Some(Timestamp(120_000)));
        assert!(stream.knows("odd") && stream.knows("m90"), "nothing of the overlap is told anew");
        stream.floor = Some(Timestamp(900_000_000));
        stream.take(&[], None, 9, Horizon::at(Timestamp(121_000)));
        assert_eq!(stream.floor, Some(Timestamp(151_000)), "one that was carried away comes back");
    }
}
