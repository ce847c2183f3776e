//! How well the writer of an item is known, for routes.

use serde::{Deserialize, Serialize};

/// How well the writer of an item is known. An address is a claim: where a platform does not vouch for it, a stranger
/// can write under a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The user: an address of `[trust] own` of the daemon's unit, or one of the user's timers.
    Own,
    /// Something was sent to the address before, or it is listed in `[trust] known`.
    Known,
    /// Anybody else, and whoever has no address.
    Stranger,
}

impl Trust {
    /// Words a route may name.
    pub const WORDS: [&'static str; 3] = ["own", "known", "stranger"];

    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Known => "known",
            Self::Stranger => "stranger",
        }
    }

    /// The one with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Own, Self::Known, Self::Stranger].into_iter().find(|trust| trust.word() == word)
    }
}
