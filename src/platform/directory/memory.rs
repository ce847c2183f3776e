//! What a directory connector remembers between polls: its cursor.

use serde::{Deserialize, Serialize};

use crate::model::item::Cursor;
use crate::model::limits;
use crate::model::time::Timestamp;

/// Letters of a baseline file's digest that are remembered.
const MARK_LEN: usize = 12;

/// The cursor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Set until the first look was taken to its end: when it began.
    pub began: Option<Timestamp>,
    /// The last name taken while there are more, in hexadecimal.
    pub after: Option<String>,
    /// The files as they were: digest of the listing.
    pub listing: String,
    /// Files that were not complete: digest of name and stamp, first seen like this.
    pub restless: Vec<(String, Timestamp)>,
    /// Digests of files that were there before, `MARK_LEN` letters each: not to be moved.
    pub baseline: String,
}

impl Memory {
    pub fn of(cursor: Option<&Cursor>, now: Timestamp) -> Self {
        match cursor {
            None => Self { began: Some(now), ..Self::default() },
            Some(cursor) => serde_json::from_str(&cursor.0).unwrap_or_default(),
        }
    }

    pub fn cursor(&self) -> Cursor {
        Cursor(serde_json::to_string(self).unwrap_or_default())
    }

    pub fn is_baseline(&self, key: &str) -> bool {
        let mark = mark(key);
        let nth = |nth: usize| self.baseline.get(nth * MARK_LEN..(nth + 1) * MARK_LEN);
        (0..self.baseline.len() / MARK_LEN).any(|at| nth(at) == Some(mark))
    }

    pub fn add_baseline(&mut self, key: &str) {
        if self.baseline.len() < limits::DIRECTORY_BASELINE_MAX * MARK_LEN {
            self.baseline.push_str(mark(key));
        }
    }
}

/// The start of a key's digest.
pub fn mark(key: &str) -> &str {
    let digest = key.split_once(':').map_or(key, |(_, digest)| digest);
    digest.get(..MARK_LEN).unwrap_or_default()
}
