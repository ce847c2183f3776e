//! What waits, why, and until when: parked cases, deferred drafts, held sends.

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::ids::{ActionId, DraftId};
use super::time::Timestamp;

/// What something waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// An engine has a question to the user.
    Question,
    /// The engine's account does not take what it is logged in with.
    NeedsAuth,
    /// The engine's account is used up; it has a time when it is not.
    Quota,
    /// A cap of the user's own on runs or money.
    Budget,
    /// Somebody else's answer in the thread.
    Answer,
    /// A person said "later".
    Deferred,
    /// A send of which nobody can tell whether it arrived.
    HeldSend,
    /// No route or engine took it, or nobody could be answered.
    Unrouted,
    /// Runs failed.
    Failed,
    /// Parked before reasons had types.
    Other,
}

impl Waits {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Question,
        Self::NeedsAuth,
        Self::Quota,
        Self::Budget,
        Self::Answer,
        Self::Deferred,
        Self::HeldSend,
        Self::Unrouted,
        Self::Failed,
        Self::Other,
    ];

    /// The stable word for tables, SQL and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::NeedsAuth => "needs-auth",
            Self::Quota => "quota",
            Self::Budget => "budget",
            Self::Answer => "answer",
            Self::Deferred => "deferred",
            Self::HeldSend => "held-send",
            Self::Unrouted => "unrouted",
            Self::Failed => "failed",
            Self::Other => "other",
        }
    }

    /// From the stored word; one that this program does not know is [`Waits::Other`].
    #[must_use]
    pub fn of(word: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|waits| Some(waits.word()) == word).unwrap_or(Self::Other)
    }

    /// What a case waits for after a run failed with this word.
    #[must_use]
    pub fn after_failure(word: &str) -> Self {
        match word {
            "usage-limit" | "rate-limited" | "billing" => Self::Quota,
            "auth" => Self::NeedsAuth,
            "budget-limit" => Self::Budget,
            _ => Self::Failed,
        }
    }
}

/// Between "rehearsal" or "shadow" and who would have got it, in the reason of a send that was held for that alone.
pub const REHEARSED: &str = ": would have gone to ";

/// Something that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parked {
    /// The case it belongs to.
    pub case: Case,
    /// What it waits for.
    pub waits: Waits,
    /// For people: the question, the error, "deferred".
    pub reason: String,
    /// When it goes on by itself; `None` waits for a person.
    pub until: Option<Timestamp>,
    /// Since when it waits.
    pub since: Timestamp,
    /// The deferred draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<DraftId>,
    /// The held send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionId>,
}

impl Parked {
    /// A send that was only rehearsed: nobody has to decide about it.
    #[must_use]
    pub fn is_rehearsed(&self) -> bool {
        let rehearsed =
            |how: &str| self.reason.strip_prefix(how).is_some_and(|rest| rest.starts_with(REHEARSED));
        self.action.is_some() && (rehearsed("rehearsal") || rehearsed("shadow"))
    }

    /// The command that has it go on.
    #[must_use]
    pub fn command(&self) -> String {
        let case = self.case.id;
        match (self.waits, self.draft, self.action) {
            (_, _, Some(action)) => format!("workagent outbox release {action}"),
            (_, Some(draft), _) => format!("workagent review show {draft}"),
            (Waits::Question, ..) => format!("workagent case answer {case} TEXT"),
            _ => format!("workagent case retry {case}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for waits in Waits::ALL {
            assert_eq!(Waits::of(Some(waits.word())), waits);
            assert_eq!(serde_json::to_value(waits).unwrap(), waits.word());
        }
        assert_eq!(Waits::of(None), Waits::Other);
        assert_eq!(Waits::of(Some("from the future")), Waits::Other);
    }

    #[test]
    fn failures_are_told_apart() {
        assert_eq!(Waits::after_failure("usage-limit"), Waits::Quota);
        assert_eq!(Waits::after_failure("auth"), Waits::NeedsAuth);
        assert_eq!(Waits::after_failure("exit"), Waits::Failed);
    }
}
