//! Drafts: proposed actions without effect, and what an approval is bound to.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::effect::Effect;
use super::ids::{CaseId, DraftId, RunId};
use super::time::Timestamp;

/// Who gets an answer, and where. Shown in review and used in sending, to the letter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// The account it leaves from, "me@example.org"; empty where the platform has none.
    pub from: String,
    /// Recipients, addresses as the platform takes them.
    pub to: Vec<String>,
    /// Copies.
    pub cc: Vec<String>,
    /// Empty where the platform has none.
    pub subject: String,
    /// Where it appears, for people: "mail", "file beside note.md".
    pub place: String,
    /// The platform's own reply handle: message ids, file name, opaque value of a program.
    pub thread: serde_json::Value,
    /// What else happens at the far side, before the text goes: shown in review, bound by the approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

impl Envelope {
    /// The recipients in one line; where there are none, the place: "file beside note.md".
    #[must_use]
    pub fn recipients(&self) -> String {
        if self.to.is_empty() { self.place.clone() } else { self.to.join(", ") }
    }

    /// The same with what else happens, in front: "[close, label: bug] comment on acme/tool#2".
    #[must_use]
    pub fn told(&self) -> String {
        if self.effects.is_empty() {
            return self.recipients();
        }
        let effects: Vec<String> = self.effects.iter().map(ToString::to_string).collect();
        format!("[{}] {}", effects.join(", "), self.recipients())
    }
}

/// State of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DraftState {
    /// Waits for a person.
    Open,
    /// Approved; an outbound action carries it.
    Approved,
    /// Refused by a person.
    Rejected,
    /// A newer draft of the same case took its place, or the case ended.
    Superseded,
}

impl DraftState {
    /// All states, for tables.
    pub const ALL: [Self; 4] = [Self::Open, Self::Approved, Self::Rejected, Self::Superseded];

    /// The stable word for tables and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        }
    }
}

/// A proposed reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Its id.
    pub id: DraftId,
    /// The case it answers.
    pub case: CaseId,
    /// The run that made it.
    pub run: RunId,
    /// The connector that would send it.
    pub connector: String,
    /// Where the connector sends, as it was when the draft was made or last looked at; empty in drafts older than that.
    #[serde(default)]
    pub destination: String,
    /// Made while the connector said `outbound = "auto"`, and for where it sends still: needs no person.
    #[serde(default)]
    pub auto: bool,
    /// Who gets it.
    pub envelope: Envelope,
    /// The text that would be sent.
    pub body: String,
    /// The engine's text, kept for the diff; equals `body` until an edit.
    pub engine_body: String,
    /// The engine that made it, and how it came to that: "template", "local (claude was down)".
    pub made_by: String,
    /// The engine's remarks for the reviewer.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// State.
    pub state: DraftState,
    /// A new item came into the thread after this draft was made.
    pub stale: bool,
    /// Not shown in the queue before this moment.
    pub deferred_until: Option<Timestamp>,
    /// When it was made.
    pub made_at: Timestamp,
    /// Bound to connector, destination, envelope and body: see [`approval_hash`].
    pub hash: String,
    /// The plan generation it was made under.
    pub generation: i64,
}

/// What an approval is bound to: the connector and where it sends, the exact recipients, thread and bytes. 64 hex digits.
#[must_use]
pub fn approval_hash(connector: &str, destination: &str, envelope: &Envelope, body: &str) -> String {
    let mut hasher = Sha256::new();
    // Lengths in front of each part: no two different drafts can run together to the same bytes.
    let envelope_text = serde_json::to_string(envelope).unwrap_or_default();
    // Drafts older than the note of destinations have none, and a hash without it.
    let destination = (!destination.is_empty()).then_some(destination);
    for part in [connector].into_iter().chain(destination).chain([envelope_text.as_str(), body]) {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    super::text::hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_changes_with_every_part() {
        let envelope = Envelope { to: vec!["pat@example.org".into()], ..Envelope::default() };
        let base = approval_hash("mail", "a", &envelope, "Hello");
        let other_to = Envelope { to: vec!["kim@example.org".into()], ..Envelope::default() };
        assert_eq!(base, approval_hash("mail", "a", &envelope, "Hello"));
        assert_ne!(base, approval_hash("mail", "a", &envelope, "Hello "));
        assert_ne!(base, approval_hash("mail", "b", &envelope, "Hello"));
        assert_ne!(base, approval_hash("mail2", "a", &envelope, "Hello"));
        assert_ne!(base, approval_hash("mail", "a", &other_to, "Hello"));
    }
}
