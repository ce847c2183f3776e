//! What an error of a server that speaks one of `OpenAI`'s APIs means. Pure.
//!
//! `OpenAI` and compatible servers say `{"error": {"message", "type", "param", "code"}}`; some put a plain text there,
//! and `OpenRouter` a number into `code`.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::talk::Refusal;
use super::{Failed, MESSAGE_BYTES_MAX};
use crate::model::run::RunFailure;
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// The failure and a sentence for people.
pub(in crate::engine) fn failed(refusal: &Refusal<'_>) -> Failed {
    let told = Told(refusal);
    (told.failure(), refusal.detail(&told.message()))
}

/// An error inside of a stream.
pub(in crate::engine) fn in_band(event: &Value, now: Timestamp) -> Failed {
    failed(&Refusal::of(200, &HeaderMap::new(), event, now))
}

/// A server that still loads its model (llama.cpp): asking again in a moment helps.
pub(in crate::engine) fn is_loading(refusal: &Refusal<'_>) -> bool {
    refusal.status == 503 && Told(refusal).message().to_lowercase().contains("loading model")
}

struct Told<'a>(&'a Refusal<'a>);

impl Told<'_> {
    fn error(&self) -> &Value {
        self.0.body.get("error").unwrap_or(self.0.body)
    }

    fn field(&self, name: &str) -> String {
        match self.error().get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }

    /// The status, or what stands for it inside of a stream.
    fn status(&self) -> u16 {
        match self.0.status {
            200..=299 => self.field("code").parse().unwrap_or(0),
            status => status,
        }
    }

    /// What it means for the run.
    fn failure(&self) -> RunFailure {
        let (code, kind) = (self.field("code"), self.field("type"));
        let is = |word: &str| code == word || kind == word;
        let message = self.message().to_lowercase();
        // 429 with these words never gets better by waiting a minute.
        if is("insufficient_quota") || is("billing_hard_limit_reached") || is("billing_not_active") {
            return RunFailure::Billing;
        }
        if is("usage_limit_reached") || is("usage_not_included") {
            return RunFailure::UsageLimit(self.reset());
        }
        if is("content_filter") || is("content_policy_violation") {
            return RunFailure::Refused;
        }
        if is("invalid_api_key") || is("authentication_error") {
            return RunFailure::Auth;
        }
        if is("model_not_found") {
            return RunFailure::Config;
        }
        if is("context_length_exceeded") {
            return RunFailure::BadRequest;
        }
        match self.status() {
            401 | 403 => RunFailure::Auth,
            402 => RunFailure::Billing,
            // A wrong base URL, or a model that this server does not have.
            404 | 405 => RunFailure::Config,
            429 => self.0.rate_limited(),
            503 | 529 => RunFailure::Overloaded,
            300..=399 => RunFailure::Config,
            408 | 500..=599 => {
                if message.contains("overloaded") {
                    RunFailure::Overloaded
                } else {
                    RunFailure::Network
                }
            }
            400..=499 => RunFailure::BadRequest,
            _ if is("rate_limit_exceeded") => self.0.rate_limited(),
            _ if message.contains("overloaded") => RunFailure::Overloaded,
            // Inside of a stream, without a number: the far side broke off.
            _ => RunFailure::Network,
        }
    }

    fn reset(&self) -> Option<Timestamp> {
        let error = self.error();
        let number = |name: &str| error.get(name).and_then(Value::as_i64);
        if let Some(at) = number("resets_at") {
            return Some(Timestamp::from_seconds(at));
        }
        let seconds = number("resets_in_seconds").and_then(|seconds| u64::try_from(seconds).ok());
        seconds.map(Duration::from_secs).or(self.0.hint).map(|wait| self.0.now.plus(wait))
    }

    fn message(&self) -> String {
        let error = self.error();
        let text =
            error.as_str().or_else(|| error.get("message").and_then(Value::as_str)).unwrap_or_default();
        one_line(text, MESSAGE_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn shown(status: u16, body: &str) -> String {
        let body = serde_json::from_str(body).unwrap();
        let headers = HeaderMap::new();
        let refusal =
            Refusal { hint: Some(Duration::from_secs(7)), ..Refusal::of(status, &headers, &body, NOW) };
        let (failure, detail) = failed(&refusal);
        let failure = match failure {
            RunFailure::RateLimited(at) => format!("rate-limited {}s", at.since(NOW).as_secs()),
            RunFailure::UsageLimit(Some(at)) => format!("usage-limit {}s", at.since(NOW).as_secs()),
            other => other.word().to_owned(),
        };
        format!("{failure}: {detail}")
    }

    #[test]
    fn errors_of_the_vendor() {
        let error = |kind: &str, code: &str, more: &str| {
            format!(
                r#"{{"error": {{"message": "m", "type": "{kind}", "param": null, "code": {code}{more}}}}}"#
            )
        };
        let rows = [
            (400, error("invalid_request_error", "null", "")),
            (400, error("invalid_request_error", "\"context_length_exceeded\"", "")),
            (400, error("invalid_request_error", "\"content_filter\"", "")),
            (401, error("invalid_request_error", "\"invalid_api_key\"", "")),
            (402, error("", "402", "")),
            (403, error("invalid_request_error", "\"unsupported_country_region_territory\"", "")),
            (404, error("invalid_request_error", "\"model_not_found\"", "")),
            (429, error("requests", "\"rate_limit_exceeded\"", "")),
            (429, error("insufficient_quota", "\"insufficient_quota\"", "")),
            (429, error("usage_limit_reached", "null", ", \"resets_at\": 1796029200")),
            (500, error("server_error", "null", "")),
            (503, error("server_error", "null", "")),
            (200, error("", "429", "")),
            (200, error("server_error", "null", "")),
            (200, error("", "502", "")),
        ];
        let table: Vec<_> = rows.iter().map(|(status, body)| shown(*status, body)).collect();
        insta::assert_snapshot!(table.join("\n"), @r#"
        bad-request: the server answered 400: m
        bad-request: the server answered 400: m
        refused: the server answered 400: m
        auth: the server answered 401: m
        billing: the server answered 402: m
        auth: the server answered 403: m
        config: the server answered 404: m
        rate-limited 7s: the server answered 429: m
        billing: the server answered 429: m
        usage-limit 3600s: the server answered 429: m
        network: the server answered 500: m
        overloaded: the server answered 503: m
        rate-limited 7s: the server broke off with an error: m
        network: the server broke off with an error: m
        network: the server broke off with an error: m
        "#);
    }

    #[test]
    fn odd_bodies() {
        assert_eq!(
            shown(500, r#"{"error": "model\nrunner has stopped"}"#),
            "network: the server answered 500: model runner has stopped"
        );
        assert_eq!(
            shown(
                503,
                r#"{"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}"#
            ),
            "overloaded: the server answered 503: Loading model"
        );
        assert_eq!(shown(404, "null"), "config: the server answered 404");
    }
}
