//! What servers answer about tokens. Pure.

use std::time::Duration;

use serde_json::Value;

use crate::model::class::ErrorClass;
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::secret::SecretValue;

/// A token, and what comes with it.
#[derive(Clone, Debug)]
pub struct Granted {
    /// For requests.
    pub access: SecretValue,
    /// For a new token.
    pub refresh: Option<SecretValue>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The protocol's word: `authorization_pending`.
    pub word: String,
    /// The server's own words; may be empty.
    pub said: String,
    /// The pause it wants between two questions.
    pub interval: Option<Duration>,
}

impl Refused {
    /// What it means: only words that say that the server itself is not well are worth another try.
    pub fn class(&self) -> ErrorClass {
        match self.word.as_str() {
            "temporarily_unavailable" | "server_error" | "slow_down" | "ratelimited" | "internal_error" => {
                ErrorClass::NETWORK
            }
            _ => ErrorClass::Auth,
        }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.said.is_empty() { f.write_str(&self.word) } else { write!(f, "{}: {}", self.word, self.said) }
    }
}

impl std::error::Error for Refused {}

/// An error, whatever the status it came with.
pub fn refused(value: &Value) -> Option<Refused> {
    let word = value.get("error").and_then(Value::as_str).map(|word| one_line(word, 60))?;
    let said = value.get("error_description").and_then(Value::as_str).unwrap_or_default();
    Some(Refused { word, said: one_line(said, 200), interval: seconds(value, "interval") })
}

/// A token. Slack gives that of a person one level deeper.
pub fn granted(value: &Value, now: Timestamp) -> Option<Granted> {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let of = if text(value, "access_token").is_some() { value } else { value.get("authed_user")? };
    Some(Granted {
        access: SecretValue::new(text(of, "access_token")?),
        refresh: text(of, "refresh_token").map(SecretValue::new),
        expires_at: seconds(of, "expires_in").filter(|span| !span.is_zero()).map(|span| now.plus(span)),
    })
}

/// A number of seconds; some servers write it as a text. A year at most is believed.
pub fn seconds(value: &Value, name: &str) -> Option<Duration> {
    let seconds = match value.get(name)? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    let span = Duration::try_from_secs_f64(seconds).ok()?;
    Some(span.min(limits::OAUTH_LIFE_MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    #[test]
    fn tokens_of_several_servers() {
        let plain =
            granted(&json!({ "access_token": "a", "token_type": "bearer", "scope": "repo" }), NOW).unwrap();
        assert!(plain.refresh.is_none() && plain.expires_at.is_none());
        let whole = json!({ "access_token": "a", "refresh_token": "r", "expires_in": "28800" });
        let whole = granted(&whole, NOW).unwrap();
        assert_eq!(whole.expires_at, Some(NOW.plus(Duration::from_secs(28_800))));
        assert_eq!(whole.refresh.unwrap().expose_to_the_wire(), "r");
        let slack = json!({ "ok": true, "authed_user": { "access_token": "xoxp", "expires_in": 0 } });
        let slack = granted(&slack, NOW).unwrap();
        assert_eq!((slack.access.expose_to_the_wire(), slack.expires_at), ("xoxp", None));
        for odd in [json!({}), json!({ "access_token": "" }), json!({ "access_token": 7 })] {
            assert!(granted(&odd, NOW).is_none(), "{odd}");
        }
    }

    #[test]
    fn refusals_under_any_status() {
        let slow = refused(&json!({ "error": "slow_down", "interval": 10 })).unwrap();
        assert_eq!((slow.interval, slow.class()), (Some(Duration::from_secs(10)), ErrorClass::NETWORK));
        let gone =
            refused(&json!({ "error": "invalid_grant", "error_description": "revoked\u{7}" })).unwrap();
        assert_eq!((gone.to_string().as_str(), gone.class()), ("invalid_grant: revoked", ErrorClass::Auth));
        assert_eq!(refused(&json!({ "access_token": "a" })), None);
    }
}
