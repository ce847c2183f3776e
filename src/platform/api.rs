//! One account of a JSON API over HTTP: its address, who we are, its pace. What every such platform needs alike; each
//! platform adds its own endpoints and types.
//!
//! All requests stay with the origin of the unit's base URL: links that a server gives ("the next page") are followed
//! only there, and so are redirects of requests that carry the account's credentials.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderName, LINK};
use serde_json::Value;
use url::Url;

use super::ConnectorContext;
use super::horizon::Horizon;
use super::oauth::renew::Asker;
use crate::http::{
    Credentials, Effect, HttpRequest, HttpResponse, HttpRoom, Pace, header, masked, retry_hint,
};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::secret_ref::SecretRef;
use crate::model::text::one_line;
use crate::model::time::{Clock, Timestamp, short_span};
use crate::secret::{SecretStore, Token};

/// A server's own words in an error, for people.
const SAID_BYTES_MAX: usize = 200;

/// How the account shows itself.
#[derive(Clone, Debug)]
pub enum Login {
    /// Not at all.
    Nobody,
    /// `Authorization: Bearer <secret>`.
    Bearer(SecretRef),
    /// `Authorization: <secret>`, as it is.
    Plain(SecretRef),
    /// `Authorization: Basic`.
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: SecretRef,
    },
}

/// One account of an API. Clones share connections and pace.
#[derive(Clone)]
pub struct ApiClient {
    http: HttpRoom,
    secrets: Arc<dyn SecretStore>,
    clock: Clock,
    unit: String,
    base: Url,
    login: Login,
    headers: Vec<(HeaderName, String)>,
    pace: Pace,
    write_gap: Duration,
    /// The server's clock minus ours, milliseconds, by its last answer.
    ahead_ms: Arc<AtomicI64>,
}

impl ApiClient {
    /// An account at `base`, whose path may hold a prefix (`https://host/api/v3`).
    ///
    /// # Errors
    /// `Config`: not a URL that can hold a path.
    pub fn new(context: &ConnectorContext, base: &str, login: Login) -> Result<Self, PortError> {
        let config = |why: &str| PortError::new(ErrorClass::Config, format!("the base URL {why}"));
        let base = Url::parse(base).map_err(|error| config(&format!("is not a URL: {error}")))?;
        if base.cannot_be_a_base() || !matches!(base.scheme(), "http" | "https") {
            return Err(config("is not http or https"));
        }
        let who = match &login {
            Login::Nobody => String::new(),
            Login::Bearer(secret) | Login::Plain(secret) => secret.to_string(),
            Login::Basic { user, password } => format!("{user} {password}"),
        };
        let pace = context.http.pace(&format!("{} {who}", base.origin().ascii_serialization()));
        Ok(Self {
            http: context.http.clone(),
            secrets: Arc::clone(&context.secrets),
            clock: context.clock.clone(),
            unit: context.unit.clone(),
            base,
            login,
            headers: Vec::new(),
            pace,
            write_gap: Duration::ZERO,
            ahead_ms: Arc::default(),
        })
    }

    /// A header of every request, not secret.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The least time between two writes of this account.
    #[must_use]
    pub fn write_gap(mut self, gap: Duration) -> Self {
        self.write_gap = gap;
        self
    }

    /// The base URL.
    #[must_use]
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A moment of ours as the server's clock shows it, by the `Date` of its last answer; ours until there was one.
    #[must_use]
    pub fn on_its_clock(&self, at: Timestamp) -> Timestamp {
        Timestamp(at.0.saturating_add(self.ahead_ms()))
    }

    /// Now by the server's clock.
    #[must_use]
    pub fn its_now(&self) -> Timestamp {
        self.on_its_clock(self.now())
    }

    /// How far the server's clock is ahead of ours, milliseconds.
    #[must_use]
    pub fn ahead_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }

    /// How far a place by time may go now.
    #[must_use]
    pub fn horizon(&self) -> Horizon {
        Horizon::at(self.its_now())
    }

    /// The URL of a resource: each segment is one part of the path, whatever characters it holds (`group/project` too).
    #[must_use]
    pub fn at(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments.iter().map(|segment| plain(segment)));
        }
        url
    }

    /// The same with a query.
    #[must_use]
    pub fn query(&self, segments: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.at(segments);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// A URL that the server gave, if it lies at our own origin.
    ///
    /// # Errors
    /// `Config`: it lies elsewhere, or is none. A proxy or an enterprise server that names another host must be told
    /// apart from an attack by a person: it is not followed.
    pub fn pinned(&self, given: &str) -> Result<Url, PortError> {
        let doing = || format!("follow a link of {}", masked(&self.base));
        let Ok(url) = self.base.join(given) else {
            return Err(PortError::caused(ErrorClass::Config, doing(), "it is not a URL"));
        };
        if url.origin() == self.base.origin() {
            return Ok(url);
        }
        let why = format!("it leads to another host, {}; it was not followed", masked(&url));
        Err(PortError::caused(ErrorClass::Config, doing(), why))
    }

    /// The next page by the answer's `Link: <…>; rel="next"` (RFC 8288).
    ///
    /// # Errors
    /// As [`pinned`](Self::pinned).
    pub fn next_link(&self, response: &HttpResponse) -> Result<Option<Url>, PortError> {
        let links = response.headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
        links.flat_map(split_links).find_map(next_of).map(|url| self.pinned(url)).transpose()
    }

    /// Sends a request in the account's name, once. The answer has any status; see [`checked`](Self::checked).
    ///
    /// # Errors
    /// `RateLimited` without a request while the account rests; those of the secret store and of [`HttpRoom::send`].
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        if let Some(until) = self.pace.resting(self.now()) {
            let why = "the server asked this account to wait";
            return Err(PortError::caused(ErrorClass::RateLimited { until }, request.doing(), why));
        }
        let token = self.token().await?;
        let mut request = request.credentials(self.credentials(token.as_ref())).same_origin();
        for (name, value) in &self.headers {
            request = request.header_if_absent(name.clone(), value);
        }
        if request.effect() == Effect::Write && !self.write_gap.is_zero() {
            self.pace.before_write(self.write_gap).await;
        }
        let (Some(token), Some(reference)) = (token, self.reference()) else {
            return self.once(request).await;
        };
        let answer = self.once(request.clone()).await?;
        if answer.status != 401 {
            return Ok(answer);
        }
        // Ended before its time, or replaced. The request was refused, so that it may be asked once more, writes too.
        match self.asker().after_refusal(reference, &token).await? {
            Some(renewed) => self.once(request.credentials(self.credentials(Some(&renewed)))).await,
            None => Ok(answer),
        }
    }

    async fn once(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        let answer = self.http.send(request).await?;
        if let Some(at) = header(&answer.headers, "date").and_then(Timestamp::from_http_date) {
            // A date is cut to the second; half of one is the better guess.
            let ahead = at.0.saturating_add(500).saturating_sub(self.now().0);
            self.ahead_ms.store(ahead, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// The account rests: nothing is asked in its name before then.
    pub fn rest(&self, until: Timestamp) {
        self.pace.rest(until);
    }

    /// The server asked to slow down without a time: the account rests, longer each time in a row. Gives the end.
    #[must_use]
    pub fn rest_longer(&self) -> Timestamp {
        self.pace.rest_longer(self.now())
    }

    /// The server takes requests again.
    pub fn rested(&self) {
        self.pace.rested();
    }

    /// The answer, if its status is a success or "not modified"; a named limit makes the account rest. `said` finds the
    /// server's own words in its error body.
    ///
    /// # Errors
    /// Classed by the status (see [`crate::http::status_class`]), with the server's words.
    pub fn checked(
        &self,
        response: HttpResponse,
        said: impl FnOnce(&Value) -> Option<String>,
    ) -> Result<HttpResponse, PortError> {
        let words = serde_json::from_slice::<Value>(&response.body).ok().as_ref().and_then(said);
        let hint = retry_hint(&response.headers, self.now());
        response.into_ok(self.now()).map_err(|mut error| {
            match (error.class, hint) {
                (ErrorClass::RateLimited { until }, _) => self.rest(until),
                // Whether it happened is asked once the server wants to be asked again.
                (ErrorClass::Uncertain, Some(wait)) => self.rest(self.now().plus(wait)),
                _ => {}
            }
            if let Some(words) = words
                && let Some(status) = error.source.take()
            {
                error.source = Some(format!("{status}: {}", one_line(&words, SAID_BYTES_MAX)).into());
            }
            error
        })
    }

    /// `GET` of JSON.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`checked`](Self::checked).
    pub async fn get(
        &self,
        url: Url,
        said: impl FnOnce(&Value) -> Option<String>,
    ) -> Result<HttpResponse, PortError> {
        let answer = self.send(HttpRequest::get(url)).await?;
        self.checked(answer, said)
    }

    /// A write with a JSON body: `POST`, `PUT`, `PATCH`, `DELETE`.
    ///
    /// # Errors
    /// As [`send`](Self::send) and [`checked`](Self::checked); anything but a definite no is `Uncertain`.
    pub async fn write(
        &self,
        method: Method,
        url: Url,
        body: &Value,
        said: impl FnOnce(&Value) -> Option<String>,
    ) -> Result<HttpResponse, PortError> {
        let answer = self.send(HttpRequest::writing(method, url).json(body)).await?;
        self.checked(answer, said)
    }

    fn reference(&self) -> Option<&SecretRef> {
        match &self.login {
            Login::Nobody => None,
            Login::Bearer(secret) | Login::Plain(secret) | Login::Basic { password: secret, .. } => {
                Some(secret)
            }
        }
    }

    fn asker(&self) -> Asker<'_> {
        Asker { http: &self.http, secrets: self.secrets.as_ref(), clock: &self.clock, unit: &self.unit }
    }

    /// A digest of the present token, never the token: whose it is, is asked anew when it changes.
    ///
    /// # Errors
    /// Those of the secret store.
    pub async fn token_mark(&self) -> Result<String, PortError> {
        let token = self.token().await?;
        Ok(token.map(|token| token.value.fingerprint()).unwrap_or_default())
    }

    async fn token(&self) -> Result<Option<Token>, PortError> {
        let Some(reference) = self.reference() else { return Ok(None) };
        self.asker().token(reference).await.map(Some)
    }

    fn credentials(&self, token: Option<&Token>) -> Option<Credentials> {
        let token = token?;
        let value = token.value.clone();
        Some(match &self.login {
            Login::Nobody => return None,
            // A key may stand there alone; what a login gave is always a bearer's.
            Login::Plain(_) if token.grant.is_none() => Credentials::Header(AUTHORIZATION, value),
            Login::Bearer(_) | Login::Plain(_) => Credentials::Bearer(value),
            Login::Basic { user, .. } => Credentials::Basic { user: user.clone(), password: value },
        })
    }
}

/// What is known of the account behind a token; it goes with the token.
#[derive(Debug)]
pub struct Known<T>(Mutex<Option<(String, T)>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Known<T> {
    /// What was learnt under this token.
    pub fn under(&self, mark: &str) -> Option<T> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(under, _)| under == mark).map(|(_, known)| known.clone())
    }

    /// What was learnt last, whatever the token.
    pub fn last(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(_, known)| known.clone())
    }

    /// It was learnt under this token.
    pub fn learn(&self, mark: String, what: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((mark, what));
    }

    /// It may be otherwise now.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A part of a path that stays one: `..` and the like would name another resource ("all labels" in place of one), so it
/// becomes a name that nothing has.
fn plain(segment: &str) -> &str {
    match segment {
        "" => "%",
        "." => "%2E",
        ".." => "%2E%2E",
        segment => segment,
    }
}

/// A server's clock differs from ours by more than a minute: said in status, since dates are compared with it.
#[must_use]
pub fn skew_note(response: &HttpResponse, now: Timestamp) -> Option<String> {
    let server = header(&response.headers, "date").and_then(Timestamp::from_http_date)?;
    let (early, late) = if server < now { (server, now) } else { (now, server) };
    let span = late.since(early);
    let side = if server < now { "behind" } else { "ahead of" };
    (span > limits::CLOCK_SKEW_MAX)
        .then(|| format!("the server's clock is {} {side} this machine's", short_span(span)))
}

/// The links of one header value; commas also stand inside `<…>`.
fn split_links(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let start = rest.find('<')?;
        let link = rest.get(start..)?;
        let close = link.find('>')?;
        let end = link.get(close..).and_then(|tail| tail.find(',')).map_or(link.len(), |comma| close + comma);
        rest = link.get(end..)?;
        link.get(..end)
    })
}

fn next_of(link: &str) -> Option<&str> {
    let (target, parameters) = link.strip_prefix('<')?.split_once('>')?;
    let is_next = parameters.split(';').any(|parameter| {
        let Some((name, value)) = parameter.split_once('=') else { return false };
        name.trim().eq_ignore_ascii_case("rel")
            && value.trim().trim_matches('"').split(' ').any(|word| word.eq_ignore_ascii_case("next"))
    });
    is_next.then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(value: &str) -> Option<&str> {
        split_links(value).find_map(next_of)
    }

    #[test]
    fn a_part_of_a_path_never_becomes_another_path() {
        let url = |segment: &str| {
            let mut url = Url::parse("https://a.example/x/labels/").unwrap();
            url.path_segments_mut().unwrap().pop_if_empty().push(plain(segment));
            url.path().to_owned()
        };
        assert_eq!(url("a/../b"), "/x/labels/a%2F..%2Fb");
        assert_eq!(url(".."), "/x/labels/%252E%252E");
        assert_eq!(url("."), "/x/labels/%252E");
        assert_eq!(url(""), "/x/labels/%25");
    }

    #[test]
    fn the_next_link_among_others() {
        let links =
            r#"<https://a.example/x?page=1,2>; rel="prev", <https://a.example/x?page=3>; rel="next last""#;
        assert_eq!(next(links), Some("https://a.example/x?page=3"));
        assert_eq!(next("<https://a.example/x>; rel=next"), Some("https://a.example/x"));
        for none in ["", "<", "<a>", "<a>; rel=last", "rel=next", "<a; rel=next"] {
            assert_eq!(next(none), None, "{none}");
        }
    }
}
