//! What routes look at, and what they say: plain data, so that every room can show it.

use serde::{Deserialize, Serialize};

use super::time::Timestamp;
use super::trust::Trust;

/// What routes look at.
#[derive(Clone, Copy, Debug)]
pub struct RouteFacts<'a> {
    /// The connector unit's name.
    pub connector: &'a str,
    /// The item's kind.
    pub kind: &'a str,
    /// The platform's labels or flags.
    pub labels: &'a [String],
    /// The author's address, may be empty.
    pub author: &'a str,
    /// Something was sent to that address before.
    pub answered: bool,
    /// One of the user's timers made it.
    pub by_timer: bool,
    /// Of the text.
    pub size_bytes: u64,
    /// The text, for its language.
    pub text: &'a str,
    /// For routes that take cases only in some hours.
    pub now: Timestamp,
}

/// Where a case goes. `why` has one clause for each route that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// To this engine.
    To {
        /// The route's name.
        route: String,
        /// The engine unit.
        engine: String,
        /// The route's priority.
        priority: i64,
        /// For the journal and `route explain`; begins with "fell back from" when the first engine is off.
        why: String,
    },
    /// To none: no route matches, or the one that does has no engine that may be used now.
    Nowhere {
        /// For the user.
        why: String,
        /// A route would take it in other hours: from then on.
        until: Option<Timestamp>,
        /// A route that takes it has no engine now, or one that might is broken or rests: mending changes the answer.
        mendable: bool,
    },
}

/// What one condition of a route says about a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// What it looks at: `connector`, `kind`, `label`, `author`, `trust`, `language`, `size`, `hours`.
    pub word: String,
    /// It is met.
    pub met: bool,
    /// What the case has.
    pub given: String,
    /// What the route wants.
    pub wanted: String,
}

/// One route and what it says about a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteLook {
    /// The route's name.
    pub route: String,
    /// Higher first.
    pub priority: i64,
    /// All conditions, met or not; none takes everything.
    pub clauses: Vec<Clause>,
    /// Why it takes no part.
    pub off: Option<String>,
    /// Its engines in order, each with why it may not be used, if so.
    pub engines: Vec<(String, Option<String>)>,
    /// Failures on which the next engine is taken.
    pub on: Vec<String>,
    /// Only engines on this machine.
    pub private: bool,
}

impl RouteLook {
    /// It takes the case, if none before it does.
    #[must_use]
    pub fn takes(&self) -> bool {
        self.off.is_none() && self.clauses.iter().all(|clause| clause.met)
    }
}

/// Why a case goes where it goes, route by route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// How well its writer is known.
    pub trust: Trust,
    /// Its language, where that can be told.
    pub language: Option<String>,
    /// All routes, the first match first, those that are off last.
    pub routes: Vec<RouteLook>,
    /// Where it goes.
    pub routing: Routing,
}
