//! Events as the server gives them: tolerant of everything but a missing id.

use serde_json::Value;

/// One event of a room.
#[derive(Clone, Debug, Default)]
pub struct Event {
    /// `$…`.
    pub id: String,
    /// `m.room.message`.
    pub kind: String,
    /// `@…`; empty where it is missing.
    pub sender: String,
    /// Set for state events.
    pub state_key: Option<String>,
    /// By the sender's server, milliseconds; nobody vouches for it.
    pub at: i64,
    /// What it says.
    pub content: Value,
    /// The event that a redaction removes, in its old and its new place.
    pub redacts: Option<String>,
    /// Our transaction id: this device sent it.
    pub transaction: Option<String>,
    /// The sender's membership before a membership event.
    pub was: Option<String>,
    /// Its content was removed.
    pub redacted: bool,
}

/// What an event says of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relation {
    /// It replaces this one.
    pub replaces: Option<String>,
    /// It answers this one. In a thread it may be only the message before, for clients that know no threads.
    pub answers: Option<String>,
    /// It stands in the thread of this one.
    pub thread: Option<String>,
}

impl Event {
    /// The event, unless it has no id or no type.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let own = |name: &str| text(value.get(name)).map(str::to_owned);
        let unsigned = value.get("unsigned");
        let inside =
            |name: &str| unsigned.and_then(|unsigned| unsigned.get(name)).filter(|found| !found.is_null());
        let content = value.get("content").cloned().unwrap_or_default();
        Some(Self {
            id: own("event_id").filter(|id| !id.is_empty())?,
            kind: own("type")?,
            sender: own("sender").unwrap_or_default(),
            state_key: own("state_key"),
            at: value.get("origin_server_ts").and_then(Value::as_i64).unwrap_or(0),
            redacts: text(content.get("redacts")).map(str::to_owned).or_else(|| own("redacts")),
            transaction: text(inside("transaction_id")).map(str::to_owned),
            was: text(inside("prev_content").and_then(|before| before.get("membership"))).map(str::to_owned),
            redacted: inside("redacted_because").is_some(),
            content,
        })
    }

    /// A text of its content.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        text(self.content.get(name))
    }

    /// What it says of others.
    #[must_use]
    pub fn relation(&self) -> Relation {
        let Some(relates) = self.content.get("m.relates_to") else { return Relation::default() };
        let target = text(relates.get("event_id")).map(str::to_owned);
        let answers = relates.get("m.in_reply_to").and_then(|reply| text(reply.get("event_id")));
        let kind = text(relates.get("rel_type"));
        Relation {
            replaces: target.clone().filter(|_| kind == Some("m.replace")),
            answers: answers.map(str::to_owned),
            thread: target.filter(|_| kind == Some("m.thread")),
        }
    }

    /// The own membership begins here: an invitation, or a join without one. What was said before was not said to us.
    #[must_use]
    pub fn begins(&self, me: &str) -> bool {
        self.kind == "m.room.member"
            && self.state_key.as_deref() == Some(me)
            && match self.text("membership") {
                Some("invite") => true,
                Some("join") => !matches!(self.was.as_deref(), Some("join" | "invite")),
                _ => false,
            }
    }
}

/// A text, if it is one.
#[must_use]
pub fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_but_an_id_and_a_type_is_needed() {
        for broken in [
            json!(null),
            json!([]),
            json!({"type": "x"}),
            json!({"event_id": "", "type": "x"}),
            json!({"event_id": "$a"}),
        ] {
            assert!(Event::read(&broken).is_none(), "{broken}");
        }
        let odd = json!({"event_id": "$a", "type": "m.room.message", "sender": 5, "origin_server_ts": "x",
            "content": [1], "unsigned": "no"});
        let event = Event::read(&odd).unwrap();
        assert_eq!((event.sender.as_str(), event.at, event.relation()), ("", 0, Relation::default()));
    }

    #[test]
    fn a_redaction_names_its_target_in_two_places() {
        let old = json!({"event_id": "$r", "type": "m.room.redaction", "redacts": "$a", "content": {}});
        let new = json!({"event_id": "$r", "type": "m.room.redaction", "content": {"redacts": "$a"}});
        for redaction in [old, new] {
            assert_eq!(Event::read(&redaction).unwrap().redacts.as_deref(), Some("$a"));
        }
    }

    #[test]
    fn relations() {
        let relation = |relates: Value| {
            let event = json!({"event_id": "$e", "type": "m", "content": {"m.relates_to": relates}});
            Event::read(&event).unwrap().relation()
        };
        let some = |id: &str| Some(id.to_owned());
        assert_eq!(relation(json!({"rel_type": "m.replace", "event_id": "$a"})).replaces, some("$a"));
        assert_eq!(relation(json!({"m.in_reply_to": {"event_id": "$a"}})).answers, some("$a"));
        let thread = json!({"rel_type": "m.thread", "event_id": "$r", "m.in_reply_to": {"event_id": "$a"}});
        assert_eq!(relation(thread), Relation { replaces: None, answers: some("$a"), thread: some("$r") });
        assert_eq!(relation(json!("nonsense")), Relation::default());
    }

    #[test]
    fn an_own_membership_begins_once() {
        let member = |membership: &str, was: Option<&str>, who: &str| {
            let before = was.map(|was| json!({"membership": was}));
            let event = json!({"event_id": "$e", "type": "m.room.member", "state_key": who,
                "content": {"membership": membership}, "unsigned": {"prev_content": before}});
            Event::read(&event).unwrap().begins("@me:x")
        };
        assert!(member("invite", None, "@me:x") && member("join", None, "@me:x"));
        assert!(member("join", Some("leave"), "@me:x"));
        // The join after an invitation, and a new display name.
        assert!(!member("join", Some("invite"), "@me:x") && !member("join", Some("join"), "@me:x"));
        assert!(!member("leave", None, "@me:x") && !member("join", None, "@you:x"));
    }
}
