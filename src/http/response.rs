//! One answer: what its status means for the next step.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED, LOCATION};
use serde::de::DeserializeOwned;
use url::Url;

use super::hint::retry_hint;
use super::request::{Effect, Validators};
use super::{header, masked};
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
            Some(_) if self.is_somebody_elses_no() => {
                let why = format!("{}, by a web page that is not the API's", status_text(self.status));
                Err(PortError::caused(ErrorClass::Uncertain, self.doing, why))
            }
            Some(class) => {
                let mut why = status_text(self.status);
                if let (300..=399, Some(target)) = (self.status, header(&self.headers, LOCATION)) {
                    let target = self.final_url.join(target).map(|url| masked(&url));
                    why =
                        format!("{why}: it has moved to {}", target.unwrap_or_else(|_| "no URL".to_owned()));
                }
                Err(PortError::caused(class, self.doing, why))
            }
        }
    }

    /// A write was refused by a web page: that is the word of whatever stands between us and the API, and says nothing of
    /// what the API did. What is refused for its login, its pace or its size was not looked at any further.
    fn is_somebody_elses_no(&self) -> bool {
        let of_the_door = matches!(self.status, 401 | 407 | 413 | 414 | 429 | 431);
        self.effect == Effect::Write && matches!(self.status, 400..=499) && !of_the_door && self.is_html()
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
/// A write after which the far side may have acted (408, all of 5xx) is `Uncertain`, also where it comes with a time: "come
/// back later" is said by proxies that have passed the request on. Only 4xx says that nothing was done, and 429 that it
/// may be asked again. A redirect that keeps the method was no act either; "see other" is what follows one.
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
        403 if hint.is_some() => limited(),
        503 | 529 if hint.is_some() && effect == Effect::Read => limited(),
        408 | 500..=599 => network(),
        401 => ErrorClass::Auth,
        302 | 303 if effect == Effect::Write => ErrorClass::Uncertain,
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
        302 uncertain
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
    fn a_time_makes_no_definite_no_of_what_may_have_happened() {
        for status in [500, 502, 503, 504, 529] {
            assert_eq!(class(status, Some("20"), Effect::Write), "uncertain", "{status}");
        }
        assert_eq!(class(503, Some("20"), Effect::Read), "rate-limit 20s");
        assert_eq!(class(403, Some("90"), Effect::Write), "rate-limit 90s");
        assert_eq!(class(429, Some("90"), Effect::Write), "rate-limit 90s");
        assert_eq!(class(429, Some("90"), Effect::Read), "rate-limit 90s");
    }

    fn refused(status: u16, media_type: &str, effect: Effect) -> &'static str {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
        let url: Url = "https://api.example/".parse().unwrap();
        let (doing, body) = (String::new(), Vec::new());
        let answer = HttpResponse { status, headers, final_url: url, moved_to: None, body, effect, doing };
        answer.into_ok(NOW).unwrap_err().class.word()
    }

    #[test]
    fn a_web_page_does_not_say_what_the_api_did() {
        let check = |status, expected| {
            assert_eq!(refused(status, "text/html; charset=utf-8", Effect::Write), expected, "{status}");
        };
        check(400, "uncertain");
        check(403, "uncertain");
        check(404, "uncertain");
        check(401, "auth");
        check(413, "permanent");
        check(429, "rate-limit");
        assert_eq!(refused(403, "application/json", Effect::Write), "permanent");
        assert_eq!(refused(404, "text/html", Effect::Read), "permanent");
    }

    #[test]
    fn a_hint_of_an_overloaded_server_is_kept() {
        assert_eq!(class(500, Some("30"), Effect::Read), "network 30s");
    }
}
