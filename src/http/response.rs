//! One answer: what its status means for the next step.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED};
use serde::de::DeserializeOwned;
use url::Url;

use super::header;
use super::hint::retry_hint;
use super::request::{Effect, Validators};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::time::Timestamp;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Where it came from, after redirects.
    pub final_url: Url,
    /// Where the server says it lives for good: set when the redirects began with permanent ones.
    pub moved_to: Option<Url>,
    /// Decompressed.
    pub body: Vec<u8>,
    pub(super) effect: Effect,
    pub(super) doing: String,
}

impl HttpResponse {
    /// Its validators, for the next request of the same thing.
    #[must_use]
    pub fn validators(&self) -> Validators {
        let text = |name| header(&self.headers, name).map(str::to_owned);
        Validators { etag: text(ETAG), last_modified: text(LAST_MODIFIED) }
    }

    /// Says that it is a web page. From an API that is a captive portal, a login page or a proxy.
    #[must_use]
    pub fn is_html(&self) -> bool {
        header(&self.headers, CONTENT_TYPE).is_some_and(|kind| {
            let kind = kind.trim_start().to_ascii_lowercase();
            kind.starts_with("text/html") || kind.starts_with("application/xhtml")
        })
    }

    /// The answer, if its status is a success.
    ///
    /// # Errors
    /// Classed by [`status_class`]. The body is not in the text: it may repeat what we sent.
    pub fn into_ok(self, now: Timestamp) -> Result<Self, PortError> {
        match status_class(self.status, &self.headers, self.effect, now) {
            None => Ok(self),
            Some(class) => Err(PortError::caused(class, self.doing, status_text(self.status))),
        }
    }

    /// The body as JSON, once the status is a success.
    ///
    /// # Errors
    /// A web page instead of JSON: something stands between us and the API, `Network` (`Uncertain` for a write).
    /// Other text: `Permanent` (`Uncertain` for a write: it was taken, we cannot tell how).
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, PortError> {
        let class = |read| if self.effect == Effect::Write { ErrorClass::Uncertain } else { read };
        if self.is_html() {
            return Err(PortError::caused(
                class(ErrorClass::NETWORK),
                self.doing.clone(),
                "a web page came instead of JSON: a login page of the network, or a proxy",
            ));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            // serde_json's text may quote the value; place and kind are enough.
            let (line, column) = (error.line(), error.column());
            PortError::caused(
                class(ErrorClass::Permanent),
                self.doing.clone(),
                format!("the answer is not the expected JSON (line {line}, column {column})"),
            )
        })
    }
}

/// `429 Too Many Requests`.
fn status_text(status: u16) -> String {
    let reason =
        StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()).unwrap_or_default();
    format!("the server answered {status} {reason}").trim_end().to_owned()
}

/// What a status means, `None` for a success and for "not modified".
///
/// A write after which the far side may have acted (408, most of 5xx) is `Uncertain`; a refusal that comes
/// with a time (429, 503 with a hint) happened before it acted.
#[must_use]
pub fn status_class(status: u16, headers: &HeaderMap, effect: Effect, now: Timestamp) -> Option<ErrorClass> {
    let hint = retry_hint(headers, now);
    let limited = || ErrorClass::RateLimited { until: now.plus(hint.unwrap_or(limits::RATE_LIMIT_WAIT)) };
    let network = || match effect {
        Effect::Read => ErrorClass::Network { retry_after: hint },
        Effect::Write => ErrorClass::Uncertain,
    };
    Some(match status {
        200..=299 | 304 => return None,
        429 => limited(),
        503 | 529 | 403 if hint.is_some() => limited(),
        408 | 500..=599 => network(),
        401 => ErrorClass::Auth,
        // A redirect that was not followed: of a write, or one without a target.
        300..=399 => ErrorClass::Config,
        407 => ErrorClass::Config,
        421 | 425 => ErrorClass::Network { retry_after: hint },
        _ => ErrorClass::Permanent,
    })
}

#[cfg(test)]
mod tests {
    use reqwest::header::RETRY_AFTER;

    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn class(status: u16, retry_after: Option<&str>, effect: Effect) -> String {
        let mut headers = HeaderMap::new();
        if let Some(text) = retry_after {
            headers.insert(RETRY_AFTER, text.parse().unwrap());
        }
        match status_class(status, &headers, effect, NOW) {
            None => "ok".into(),
            Some(ErrorClass::RateLimited { until }) => {
                format!("rate-limit {}s", until.since(NOW).as_secs())
            }
            Some(ErrorClass::Network { retry_after: Some(span) }) => format!("network {}s", span.as_secs()),
            Some(class) => class.word().into(),
        }
    }

    #[test]
    fn reads() {
        let shown = [200, 204, 304, 302, 401, 403, 404, 408, 429, 500, 502, 503, 504]
            .map(|status| format!("{status} {}", class(status, None, Effect::Read)))
            .join("\n");
        insta::assert_snapshot!(shown, @r"
        200 ok
        204 ok
        304 ok
        302 config
        401 auth
        403 permanent
        404 permanent
        408 network
        429 rate-limit 60s
        500 network
        502 network
        503 network
        504 network
        ");
    }

    #[test]
    fn writes_that_may_have_happened_are_uncertain() {
        let shown = [201, 302, 307, 400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 504]
            .map(|status| format!("{status} {}", class(status, None, Effect::Write)))
            .join("\n");
        insta::assert_snapshot!(shown, @r"
        201 ok
        302 config
        307 config
        400 permanent
        401 auth
        403 permanent
        404 permanent
        408 uncertain
        422 permanent
        429 rate-limit 60s
        500 uncertain
        502 uncertain
        503 uncertain
        504 uncertain
        ");
    }

    #[test]
    fn a_refusal_with_a_time_is_definite() {
        assert_eq!(class(503, Some("2"), Effect::Write), "rate-limit 2s");
        assert_eq!(class(403, Some("90"), Effect::Write), "rate-limit 90s");
        assert_eq!(class(429, Some("90"), Effect::Read), "rate-limit 90s");
    }

    #[test]
    fn a_hint_of_an_overloaded_server_is_kept() {
        assert_eq!(class(500, Some("30"), Effect::Read), "network 30s");
    }
}
