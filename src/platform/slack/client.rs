//! One call of the Web API. Errors come as HTTP 200 with `ok: false` and a word; limits hold for a method, not for the
//! account.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use reqwest::Method;
use serde_json::Value;

use crate::http::{Effect, HttpRequest, HttpResponse, retry_hint};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Timestamp;
use crate::platform::api::ApiClient;

/// The account's calls.
pub struct Client {
    api: ApiClient,
    /// Methods that Slack asked to leave alone for a while.
    rests: Mutex<HashMap<String, Timestamp>>,
}

/// A success.
#[derive(Debug)]
pub struct Reply {
    pub body: Value,
}

/// No success.
#[derive(Debug)]
pub struct Refusal {
    pub error: PortError,
    /// Slack's word for it, where there is one.
    pub word: String,
}

impl From<Refusal> for PortError {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

impl From<PortError> for Refusal {
    fn from(error: PortError) -> Self {
        Self { error, word: String::new() }
    }
}

impl Refusal {
    /// It is about the thing that was asked for, not about the account or the way: others can still be had.
    #[must_use]
    pub fn is_of_one_place(&self) -> bool {
        matches!(
            self.word.as_str(),
            "channel_not_found"
                | "not_in_channel"
                | "is_archived"
                | "missing_scope"
                | "no_permission"
                | "restricted_action"
                | "thread_not_found"
                | "message_not_found"
                | "user_not_found"
                | "user_not_visible"
                | "method_not_supported_for_channel_type"
                | "team_access_not_granted"
                | "ekm_access_denied"
        )
    }
}

impl Client {
    /// The calls of an account.
    #[must_use]
    pub fn new(api: ApiClient) -> Self {
        Self { api, rests: Mutex::default() }
    }

    /// The account.
    #[must_use]
    pub fn api(&self) -> &ApiClient {
        &self.api
    }

    /// A method that only reads.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub async fn read(&self, method: &str, arguments: &[(&str, &str)]) -> Result<Reply, Refusal> {
        self.send(method, HttpRequest::get(self.api.query(&[method], arguments))).await
    }

    /// A method with a JSON body.
    ///
    /// # Errors
    /// The word and what it means; `RateLimited` without a call while the method rests.
    pub async fn post(&self, method: &str, body: &Value, effect: Effect) -> Result<Reply, Refusal> {
        let request = HttpRequest::writing(Method::POST, self.api.at(&[method]))
            .body("application/json; charset=utf-8", body.to_string().into_bytes());
        let request = if effect == Effect::Read { request.reading() } else { request };
        self.send(method, request).await
    }

    async fn send(&self, method: &str, request: HttpRequest) -> Result<Reply, Refusal> {
        let (effect, doing, now) = (request.effect(), format!("ask Slack for {method}"), self.api.now());
        let resting = self.rests.lock().unwrap_or_else(PoisonError::into_inner).get(method).copied();
        if let Some(until) = resting.filter(|until| *until > now) {
            let why = "Slack asked to wait with this";
            return Err(PortError::caused(ErrorClass::RateLimited { until }, doing, why).into());
        }
        let response = self.api.send(request).await?;
        let hint = retry_hint(&response.headers, now).unwrap_or(limits::RATE_LIMIT_WAIT);
        let response = response.into_ok(now).inspect_err(|error| self.note(method, error.class))?;
        let body = answer(&response, &doing, effect)?;
        if body.get("ok").and_then(Value::as_bool) == Some(true) {
            return Ok(Reply { body });
        }
        let Some(word) = body.get("error").and_then(Value::as_str) else {
            let class = if effect == Effect::Write { ErrorClass::Uncertain } else { ErrorClass::NETWORK };
            return Err(PortError::caused(class, doing, "the answer says neither yes nor no").into());
        };
        let word = one_line(word, 80);
        let class = class_of(&word, effect, now.plus(hint));
        self.note(method, class);
        let needed = body.get("needed").and_then(Value::as_str).map(|scope| one_line(scope, 80));
        let why = match needed {
            Some(scope) if word == "missing_scope" => format!("the app has not the scope {scope}"),
            _ => format!("Slack says {word}"),
        };
        Err(Refusal { error: PortError::caused(class, doing, why), word })
    }

    fn note(&self, method: &str, class: ErrorClass) {
        if let ErrorClass::RateLimited { until } = class {
            self.rests.lock().unwrap_or_else(PoisonError::into_inner).insert(method.to_owned(), until);
        }
    }
}

fn answer(response: &HttpResponse, doing: &str, effect: Effect) -> Result<Value, PortError> {
    let body: Value = response.json()?;
    if body.is_object() {
        return Ok(body);
    }
    let class = if effect == Effect::Write { ErrorClass::Uncertain } else { ErrorClass::NETWORK };
    Err(PortError::caused(class, doing, "the answer is no object"))
}

/// What Slack's word means. "Later" words may come after parts of a write were done.
fn class_of(word: &str, effect: Effect, until: Timestamp) -> ErrorClass {
    match (word, effect) {
        (
            "invalid_auth"
            | "not_authed"
            | "token_revoked"
            | "token_expired"
            | "account_inactive"
            | "user_removed_from_team",
            _,
        ) => ErrorClass::Auth,
        (
            "ratelimited"
            | "rate_limited"
            | "service_unavailable"
            | "request_timeout"
            | "internal_error"
            | "fatal_error"
            | "team_added_to_org",
            Effect::Write,
        ) => ErrorClass::Uncertain,
        ("ratelimited" | "rate_limited", Effect::Read) => ErrorClass::RateLimited { until },
        (
            "service_unavailable"
            | "request_timeout"
            | "internal_error"
            | "fatal_error"
            | "team_added_to_org",
            Effect::Read,
        ) => ErrorClass::NETWORK,
        (
            "missing_scope"
            | "not_in_channel"
            | "channel_not_found"
            | "is_archived"
            | "no_permission"
            | "not_allowed_token_type"
            | "access_denied"
            | "ekm_access_denied"
            | "team_access_not_granted"
            | "org_login_required"
            | "enterprise_is_restricted",
            _,
        ) => ErrorClass::Config,
        (word, _) if word.starts_with("restricted_action") => ErrorClass::Config,
        _ => ErrorClass::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let check = |word: &str, read: &str, write: &str| {
            let class = |effect| class_of(word, effect, Timestamp(0)).word();
            assert_eq!((class(Effect::Read), class(Effect::Write)), (read, write), "{word}");
        };
        check("invalid_auth", "auth", "auth");
        check("token_expired", "auth", "auth");
        check("missing_scope", "config", "config");
        check("restricted_action_thread_only_channel", "config", "config");
        check("ratelimited", "rate-limit", "uncertain");
        check("fatal_error", "network", "uncertain");
        check("internal_error", "network", "uncertain");
        check("msg_too_long", "permanent", "permanent");
        check("something_new", "permanent", "permanent");
    }
}
