//! The account at GitHub: requests one after the other, each once, and what their answers say about limits and clocks.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderName};
use serde_json::Value;
use url::Url;

use super::refusal::{Refusal, refusal, said};
use crate::http::{HttpRequest, HttpResponse, Validators, header};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::time::Timestamp;
use crate::platform::api::{ApiClient, Known, Login};
use crate::platform::horizon::Horizon;
use crate::platform::{ConnectorContext, json};

/// GitHub asks for a second between two writes, or more.
const WRITE_GAP: Duration = Duration::from_secs(1);

/// This part of the hour's allowance is left to the user, whose other programs share it.
const RESERVE_PART: u64 = 10;

/// Thin: addresses, one try each, classes.
pub(super) struct Client {
    api: ApiClient,
    login: String,
    me: Known<Me>,
    allowance: Mutex<Option<Allowance>>,
}

/// The account that the token belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Me {
    /// What texts are known as ours by; a login can change hands.
    pub id: u64,
    /// As GitHub writes it.
    pub login: String,
}

/// What is left of the hour, by the last answer.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    limit: u64,
    remaining: u64,
    reset: Timestamp,
}

/// A list as it came, one page of it.
pub(super) struct Listed {
    /// Its members.
    pub values: Vec<Value>,
    /// Where it goes on.
    pub next: Option<Url>,
    /// The answer, without its body.
    pub answer: HttpResponse,
}

impl Client {
    /// From checked settings.
    pub fn new(context: &ConnectorContext) -> Result<Self, PortError> {
        let settings = &context.settings;
        let missing = |key: &str| PortError::new(ErrorClass::Config, format!("`{key}` is missing"));
        let token = settings.secret("token").ok_or_else(|| missing("token"))?;
        let login = settings.text("login").ok_or_else(|| missing("login"))?.to_owned();
        let base = settings.text("base_url").unwrap_or("https://api.github.com");
        let version = settings.text("api_version").unwrap_or("2022-11-28");
        let api = ApiClient::new(context, base, Login::Bearer(token.clone()))?
            .header(ACCEPT, "application/vnd.github+json")
            .header(HeaderName::from_static("x-github-api-version"), version)
            .write_gap(WRITE_GAP);
        Ok(Self { api, login, me: Known::default(), allowance: Mutex::default() })
    }

    /// The login of the unit.
    pub fn login(&self) -> &str {
        &self.login
    }

    /// The host and, for enterprise servers, the path of the API.
    pub fn host(&self) -> String {
        let base = self.api.base();
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", base.host_str().unwrap_or_default())
    }

    /// An address of the API.
    pub fn at(&self, segments: &[&str], query: &[(&str, &str)]) -> Url {
        self.api.query(segments, query)
    }

    /// The parts of a path of the API behind its base, of a URL that GitHub gave; `None` where it leads elsewhere.
    pub fn path_of(&self, given: &str) -> Option<Vec<String>> {
        let url = self.api.pinned(given).ok()?;
        let prefix = self.api.base().path().trim_end_matches('/');
        let rest = url.path().strip_prefix(prefix)?.strip_prefix('/')?;
        Some(rest.split('/').map(str::to_owned).collect())
    }

    /// Now, by our clock.
    pub fn now(&self) -> Timestamp {
        self.api.now()
    }

    /// A moment of ours as GitHub's clock shows it.
    pub fn on_its_clock(&self, at: Timestamp) -> Timestamp {
        self.api.on_its_clock(at)
    }

    /// How far a place by time may go now.
    pub fn horizon(&self) -> Horizon {
        self.api.horizon()
    }

    /// How far GitHub's clock is from ours.
    pub fn skew(&self) -> Duration {
        Duration::from_millis(self.api.ahead_ms().unsigned_abs())
    }

    /// So little is left of the hour that the rest is the user's: when the next hour begins, by our clock.
    pub fn spent_until(&self) -> Option<Timestamp> {
        let allowance = (*self.allowance.lock().unwrap_or_else(PoisonError::into_inner))?;
        let spent = allowance.remaining.saturating_mul(RESERVE_PART) <= allowance.limit;
        let reset = Timestamp(allowance.reset.0.saturating_sub(self.api.ahead_ms()));
        // A reset lies within the hour; what lies further off is in another unit, or nonsense.
        let reset = reset.min(self.now().plus(limits::RETRY_HINT_ABSURD));
        (spent && reset > self.now()).then_some(reset)
    }

    /// Reads; `304` comes back as it is.
    pub async fn get(&self, url: Url, validators: &Validators) -> Result<HttpResponse, PortError> {
        self.send(HttpRequest::get(url).validators(validators)).await
    }

    /// Reads one page of a list.
    pub async fn list(&self, url: Url, validators: &Validators) -> Result<Listed, PortError> {
        let doing = HttpRequest::get(url.clone()).doing();
        let mut answer = self.get(url, validators).await?;
        if answer.status == 304 {
            return Ok(Listed { values: Vec::new(), next: None, answer });
        }
        let Value::Array(values) = answer.json::<Value>()? else {
            return Err(PortError::caused(ErrorClass::Permanent, doing, "the answer is not a list"));
        };
        answer.body = Vec::new();
        Ok(Listed { values, next: self.api.next_link(&answer)?, answer })
    }

    /// Reads one thing.
    pub async fn one(&self, url: Url) -> Result<Value, PortError> {
        self.get(url, &Validators::default()).await?.json()
    }

    /// A write. `again`: a repeat does no harm, so a lost answer is no reason to ask.
    pub async fn write(
        &self,
        method: Method,
        url: Url,
        body: Option<&Value>,
        again: bool,
    ) -> Result<HttpResponse, PortError> {
        let mut request = HttpRequest::writing(method, url);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.send(if again { request.reading() } else { request }).await
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        let doing = request.doing();
        let answer = self.api.send(request).await?;
        let now = self.now();
        self.heed(&answer);
        match refusal(&answer, now) {
            Some(Refusal::LimitUntil(until)) => {
                self.api.rest(until);
                let why = "GitHub asked to wait";
                Err(PortError::caused(ErrorClass::RateLimited { until }, doing, why))
            }
            Some(Refusal::Limit) => {
                let until = self.api.rest_longer();
                let why = "GitHub asked to slow down, without a time";
                Err(PortError::caused(ErrorClass::RateLimited { until }, doing, why))
            }
            Some(Refusal::Forbidden(why)) => Err(PortError::caused(ErrorClass::Permanent, doing, why)),
            None => {
                let answer = self.api.checked(answer, said)?;
                self.api.rested();
                Ok(answer)
            }
        }
    }

    /// Takes the allowance out of an answer.
    fn heed(&self, answer: &HttpResponse) {
        let number = |name: &str| header(&answer.headers, name)?.trim().parse::<u64>().ok();
        let core = header(&answer.headers, "x-ratelimit-resource").is_none_or(|resource| resource == "core");
        let numbers =
            (number("x-ratelimit-limit"), number("x-ratelimit-remaining"), number("x-ratelimit-reset"));
        if let ((Some(limit), Some(remaining), Some(reset)), true) = (numbers, core) {
            let reset = Timestamp::from_seconds(i64::try_from(reset).unwrap_or(i64::MAX));
            *self.allowance.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Allowance { limit, remaining, reset });
        }
    }

    /// Whose token it is. Asked once for each token; it must be the account of the unit, or a cursor and marks would be another's.
    pub async fn me(&self) -> Result<Me, PortError> {
        if let Some(me) = self.me.under(&self.api.token_mark().await?) {
            return Ok(me);
        }
        let (me, _) = self.ask_who().await?;
        Ok(me)
    }

    /// Forgets whose token it is: it may have been replaced.
    pub fn forget_me(&self) {
        self.me.forget();
    }

    /// Asks whose token it is; gives also its scopes, which only classic tokens have.
    pub async fn ask_who(&self) -> Result<(Me, Option<String>), PortError> {
        let (mark, url) = (self.api.token_mark().await?, self.at(&["user"], &[]));
        let doing = HttpRequest::get(url.clone()).doing();
        let answer = self.get(url, &Validators::default()).await?;
        let user: Value = answer.json()?;
        let (Some(id), Some(login)) = (json::number(&user, "/id"), json::text(&user, "/login")) else {
            return Err(PortError::caused(ErrorClass::Permanent, doing, "the answer names no account"));
        };
        if !login.eq_ignore_ascii_case(&self.login) {
            let why = format!("the token belongs to {login}, and the unit says login = \"{}\"", self.login);
            return Err(PortError::caused(ErrorClass::Config, doing, why));
        }
        let me = Me { id, login: login.to_owned() };
        self.me.learn(mark, me.clone());
        Ok((me, header(&answer.headers, "x-oauth-scopes").map(str::to_owned)))
    }
}
