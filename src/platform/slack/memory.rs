//! What is known beside the cursor, while the process lives. All of it may be forgotten: it saves calls, or says where
//! to look first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::ts::Ts;
use crate::model::time::Timestamp;

/// Names of people, and revisions taken: enough for a busy day.
const KNOWN_MAX: usize = 5000;

/// Hints from the socket that wait for the next look.
const HINTS_MAX: usize = 200;

/// Who we are, by `auth.test`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Me {
    /// Our user id.
    pub user: String,
    /// Our bot id, empty for a person's token.
    pub bot: String,
    /// For people.
    pub name: String,
    /// The workspace, for people.
    pub workspace: String,
    /// Its web address.
    pub url: String,
}

/// A conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Channel {
    pub id: String,
    /// For people: a channel's name, a person's.
    pub name: String,
    /// `im`, `mpim`, or a channel.
    pub kind: String,
}

impl Channel {
    /// Everything in it is said to us.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        matches!(self.kind.as_str(), "im" | "mpim")
    }

    /// `#general`, `@Pat`.
    #[must_use]
    pub fn shown(&self) -> String {
        let sign = if self.kind == "im" { "@" } else { "#" };
        format!("{sign}{}", if self.name.is_empty() { &self.id } else { &self.name })
    }
}

/// A list that can be read: a conversation, or a thread in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    pub channel: String,
    pub root: Option<Ts>,
}

/// Everything.
#[derive(Debug, Default)]
pub struct Memory {
    pub me: Option<(Me, Timestamp)>,
    /// The token under which all this was learnt.
    pub mark: String,
    pub channels: BTreeMap<String, Channel>,
    pub listed_at: Option<Timestamp>,
    /// When a list had its turn, in turns.
    pub asked: HashMap<Target, u64>,
    pub turn: u64,
    pub names: HashMap<String, String>,
    /// The app may not see who people are.
    pub nameless: bool,
    /// Revisions of messages whose page was committed.
    taken: HashMap<String, String>,
    /// Of the page that was given last.
    given: HashMap<String, String>,
    /// Lists in which something happened, with the message it happened to.
    pub hints: BTreeMap<Target, Ts>,
    /// Deleted messages, as they were, and where.
    pub gone: Vec<(String, Value)>,
    /// Slack gives this app little: one call a minute, 15 messages.
    pub slow_until: Option<Timestamp>,
    /// To be said with the next page.
    pub notes: BTreeSet<String>,
}

impl Memory {
    /// What is known under another token: nothing.
    #[must_use]
    pub fn under(mark: String) -> Self {
        Self { mark, ..Self::default() }
    }

    /// It was taken in this state.
    #[must_use]
    pub fn took(&self, key: &str, revision: &str) -> bool {
        self.taken.get(key).is_some_and(|known| known == revision)
    }

    /// The items of a page that is about to be given.
    pub fn give<'a>(&mut self, items: impl Iterator<Item = (&'a str, &'a str)>) {
        self.given = items.map(|(key, revision)| (key.to_owned(), revision.to_owned())).collect();
    }

    /// They are in the record.
    pub fn committed(&mut self, keys: &[String]) {
        if self.taken.len() > KNOWN_MAX {
            self.taken.clear();
        }
        let given = std::mem::take(&mut self.given);
        self.taken.extend(given.into_iter().filter(|(key, _)| keys.contains(key)));
    }

    /// Something happened there.
    pub fn hint(&mut self, target: Target, at: Ts) {
        if self.hints.len() < HINTS_MAX {
            let known = self.hints.entry(target).or_insert(at);
            *known = (*known).min(at);
        }
    }

    /// A message was deleted.
    pub fn lost(&mut self, channel: String, message: Value) {
        if self.gone.len() < HINTS_MAX {
            self.gone.push((channel, message));
        }
    }

    /// A user's name.
    pub fn learn(&mut self, user: String, name: String) {
        if self.names.len() > KNOWN_MAX {
            self.names.clear();
        }
        self.names.insert(user, name);
    }
}
