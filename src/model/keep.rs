//! How long what is over is kept, and how often all of it is copied.

use std::time::Duration;

/// `[store]`, as far as it is about time; `None`: for ever, and never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Texts of items, drafts and sends, and prompts, after their case is over. That they were there stays.
    pub texts: Option<Duration>,
    /// Lines of the journal, likewise.
    pub journal: Option<Duration>,
    /// Runs with what they cost, likewise.
    pub runs: Option<Duration>,
    /// Between two backups that the daemon makes by itself.
    pub backup_every: Option<Duration>,
    /// Of these, so many are kept.
    pub backups: usize,
}

impl Default for Keep {
    fn default() -> Self {
        Self { texts: None, journal: None, runs: None, backup_every: None, backups: 7 }
    }
}
