//! Lines of the program's answers. Tolerant: unknown types and members are passed over, numbers do for texts.

use std::time::Duration;

use serde_json::Value;

use crate::model::class::ErrorClass;
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::record::text;

/// One line of standard output.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// Something read.
    Item(Value),
    /// The position behind all items before it.
    State(Value),
    /// For people.
    Log(String),
    /// Why the program cannot go on.
    Error(Fault),
    /// All is said.
    Done {
        /// There is more to fetch right now.
        more: bool,
        /// Not to be asked again before.
        wait: Option<Duration>,
    },
    /// It was sent.
    Sent {
        /// The place's own id of it.
        remote_id: String,
    },
    /// It was surely not sent.
    NotSent(Fault),
    /// It may have been sent.
    Unknown(String),
    /// It is there.
    Found {
        /// The place's own id of it.
        remote_id: String,
    },
    /// It is not there.
    Absent,
    /// The program cannot look.
    Unsupported,
    /// A type that this protocol does not know.
    Other,
}

/// What went wrong, in the program's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    class: String,
    message: String,
    wait: Option<Duration>,
}

impl Fault {
    /// Of a program that says it in other words.
    #[must_use]
    pub fn new(class: &str, message: &str) -> Self {
        Self { class: class.to_owned(), message: one_line(message, 400), wait: None }
    }

    /// What it means for us; an unknown or missing class is "later".
    #[must_use]
    pub fn class(&self, now: Timestamp) -> ErrorClass {
        match (self.class.as_str(), self.wait) {
            ("credentials", _) => ErrorClass::Auth,
            ("permanent", _) => ErrorClass::Permanent,
            ("config", _) => ErrorClass::Config,
            ("limited", wait) => ErrorClass::RateLimited {
                until: now.plus(wait.unwrap_or(crate::model::limits::RATE_LIMIT_WAIT)),
            },
            (_, wait) => ErrorClass::Network { retry_after: wait },
        }
    }

    /// For people, one line.
    #[must_use]
    pub fn message(&self) -> &str {
        if self.message.is_empty() { "it gives no reason" } else { &self.message }
    }
}

/// Reads one line, `None` if it is no JSON object with a type.
#[must_use]
pub fn read(line: &str) -> Option<Line> {
    let value: Value = serde_json::from_str(line).ok()?;
    let kind = text(&value, "type")?.to_ascii_lowercase();
    let remote_id = || text(&value, "remote_id").unwrap_or_default();
    Some(match kind.as_str() {
        "item" => Line::Item(value),
        "state" => Line::State(value.get("value").cloned().unwrap_or(Value::Null)),
        "log" => Line::Log(one_line(&text(&value, "message").unwrap_or_default(), 400)),
        "error" => Line::Error(fault(&value)),
        "done" => Line::Done { more: value.get("more") == Some(&Value::Bool(true)), wait: wait(&value) },
        "sent" => Line::Sent { remote_id: remote_id() },
        "not_sent" => Line::NotSent(fault(&value)),
        "unknown" => Line::Unknown(one_line(&text(&value, "message").unwrap_or_default(), 400)),
        "found" => Line::Found { remote_id: remote_id() },
        "absent" => Line::Absent,
        "unsupported" => Line::Unsupported,
        _ => Line::Other,
    })
}

fn fault(value: &Value) -> Fault {
    Fault {
        class: text(value, "class").unwrap_or_default().to_ascii_lowercase(),
        message: one_line(&text(value, "message").unwrap_or_default(), 400),
        wait: wait(value),
    }
}

/// `retry_after_s`; a day at most is believed.
fn wait(value: &Value) -> Option<Duration> {
    use crate::model::limits::{RETRY_HINT_ABSURD, RETRY_HINT_MAX};
    let seconds = value.get("retry_after_s")?.as_f64()?;
    let span = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Some(if span > RETRY_HINT_MAX { RETRY_HINT_ABSURD } else { span })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn class(line: &str) -> ErrorClass {
        match read(line) {
            Some(Line::Error(fault) | Line::NotSent(fault)) => fault.class(NOW),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn classes() {
        assert_eq!(class(r#"{"type":"ERROR","class":"credentials"}"#), ErrorClass::Auth);
        assert_eq!(class(r#"{"type":"error"}"#), ErrorClass::NETWORK);
        let wait = Some(Duration::from_secs(90));
        assert_eq!(
            class(r#"{"type":"error","retry_after_s":90}"#),
            ErrorClass::Network { retry_after: wait }
        );
        assert_eq!(
            class(r#"{"type":"not_sent","class":"limited","retry_after_s":-1}"#),
            ErrorClass::RateLimited { until: NOW.plus(Duration::from_secs(3600)) }
        );
    }

    #[test]
    fn numbers_do_for_texts_and_nonsense_is_nothing() {
        assert_eq!(read(r#"{"type":"sent","remote_id":701}"#), Some(Line::Sent { remote_id: "701".into() }));
        assert_eq!(read(r#"{"type":"schema"}"#), Some(Line::Other));
        for line in ["", "hello", "[]", "{}", "{\"type\":", "null"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
