//! What needs the user: one list, each with the one command that mends it.

use serde::{Deserialize, Serialize};

use super::ids::{ActionId, CaseId};
use super::time::Timestamp;

/// What kind of thing needs the user, the most pressing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairKind {
    /// A store of secrets waits to be unlocked, or cannot be reached.
    NeedsUnlock,
    /// The far side does not take what a unit logs in with.
    Auth,
    /// Unit files have errors: the last reload left something out.
    Reload,
    /// A unit is left out, or runs its last good version.
    BadUnit,
    /// A unit gave up, or fails in a way that does not pass.
    FailedUnit,
    /// Nobody can tell whether a send arrived.
    HeldSend,
    /// A send was given up.
    DeadSend,
    /// An engine asks the user.
    Question,
    /// Cases wait for a person for another reason.
    Waiting,
    /// Cases were given up.
    DeadCase,
    /// An account is used up until a time.
    Quota,
    /// A cap of the user's own is reached, or nearly.
    Budget,
    /// A change that only a restart applies.
    Restart,
    /// A backup did not go well.
    Backup,
}

impl RepairKind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::NeedsUnlock,
        Self::Auth,
        Self::Reload,
        Self::BadUnit,
        Self::FailedUnit,
        Self::HeldSend,
        Self::DeadSend,
        Self::Question,
        Self::Waiting,
        Self::DeadCase,
        Self::Quota,
        Self::Budget,
        Self::Restart,
        Self::Backup,
    ];

    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NeedsUnlock => "needs-unlock",
            Self::Auth => "auth",
            Self::Reload => "reload",
            Self::BadUnit => "bad-unit",
            Self::FailedUnit => "failed-unit",
            Self::HeldSend => "held-send",
            Self::DeadSend => "dead-send",
            Self::Question => "question",
            Self::Waiting => "waiting",
            Self::DeadCase => "dead-case",
            Self::Quota => "quota",
            Self::Budget => "budget",
            Self::Restart => "restart",
            Self::Backup => "backup",
        }
    }
}

/// One thing that needs the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// The same as long as it is the same trouble: `auth:inbox.connector`, `question:c12`.
    pub key: String,
    /// What kind of thing it is.
    pub kind: RepairKind,
    /// One line for people, secrets masked.
    pub what: String,
    /// More of it, one line: what the far side said, where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The one command that mends it.
    pub command: String,
    /// Since when, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it passes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The unit it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The case it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseId>,
    /// The send it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionId>,
}

impl Repair {
    /// `subject` makes the key together with the kind.
    #[must_use]
    pub fn new(kind: RepairKind, subject: &str, what: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            key: format!("{}:{subject}", kind.word()),
            kind,
            what: what.into(),
            why: None,
            command: command.into(),
            since: None,
            until: None,
            unit: None,
            case: None,
            action: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_json_are_the_same() {
        for kind in RepairKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
        }
    }
}
