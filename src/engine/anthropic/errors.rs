//! What an error of the Messages API means: `{"type": "error", "error": {"type", "message"}, "request_id"}`. Pure.

use serde_json::Value;

use crate::engine::api::talk::Refusal;
use crate::engine::api::{Failed, MESSAGE_BYTES_MAX, text};
use crate::http::header;
use crate::model::run::RunFailure;
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// The failure and a sentence for people.
pub(super) fn failed(refusal: &Refusal<'_>) -> Failed {
    let error = refusal.body.get("error").unwrap_or(&Value::Null);
    let message = one_line(text(error, "message"), MESSAGE_BYTES_MAX);
    (failure(refusal, error, &message.to_lowercase()), refusal.detail(&message))
}

fn failure(refusal: &Refusal<'_>, error: &Value, message: &str) -> RunFailure {
    let code = error.pointer("/details/error_code").and_then(Value::as_str).unwrap_or_default();
    // The account's own monthly cap comes as 429 and as 400: waiting a minute helps with neither.
    if code == "enforced_spend_limit_reached"
        || message.contains("credit balance is too low")
        || message.contains("spend limit")
    {
        return RunFailure::Billing;
    }
    // Inside of a stream there is no status, and gateways make up their own types.
    match (text(error, "type"), refusal.status) {
        ("billing_error", _) | (_, 402) => RunFailure::Billing,
        ("authentication_error" | "permission_error", _) | (_, 401 | 403) => RunFailure::Auth,
        ("not_found_error", _) | (_, 404 | 405) => RunFailure::Config,
        ("rate_limit_error", _) | (_, 429) => limited(refusal),
        ("overloaded_error", _) | (_, 503 | 529) => RunFailure::Overloaded,
        ("request_too_large" | "invalid_request_error", _) | (_, 413) => RunFailure::BadRequest,
        ("conflict_error" | "api_error" | "timeout_error", _) | (_, 408 | 409 | 500..=599) => {
            RunFailure::Network
        }
        (_, 300..=399) => RunFailure::Config,
        (_, 400..=499) => RunFailure::BadRequest,
        // The far side broke off.
        _ => RunFailure::Network,
    }
}

/// A plan's window that is used up says so by headers of its own.
fn limited(refusal: &Refusal<'_>) -> RunFailure {
    let unified = |name: &str| header(refusal.headers, format!("anthropic-ratelimit-unified-{name}"));
    if unified("status") == Some("rejected") {
        let at = unified("reset").and_then(|text| text.trim().parse().ok()).map(Timestamp::from_seconds);
        return RunFailure::UsageLimit(at.or_else(|| refusal.hint.map(|wait| refusal.now.plus(wait))));
    }
    refusal.rate_limited()
}
