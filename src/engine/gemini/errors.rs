//! What an error of the Gemini API means: `{"error": {"code", "status", "message", "details": [{"@type", …}]}}`. Pure.

use std::time::Duration;

use serde_json::Value;

use crate::engine::api::talk::Refusal;
use crate::engine::api::{Failed, MESSAGE_BYTES_MAX, text};
use crate::model::run::RunFailure;
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// The wait that comes with a day's quota is at times that of a minute's; a shorter one is not believed.
const DAY_WAIT_MIN: Duration = Duration::from_secs(600);

/// The failure and a sentence for people.
pub(super) fn failed(refusal: &Refusal<'_>) -> Failed {
    // Without `alt=sse` errors come in a list.
    let body = refusal.body.get(0).unwrap_or(refusal.body);
    let error = body.get("error").unwrap_or(&Value::Null);
    let message = one_line(text(error, "message"), MESSAGE_BYTES_MAX);
    (failure(refusal, error, &message.to_lowercase()), refusal.detail(&message))
}

/// An error inside of a stream.
pub(super) fn in_band(chunk: &Value, now: Timestamp) -> Failed {
    failed(&Refusal::of(200, &reqwest::header::HeaderMap::new(), chunk, now))
}

fn failure(refusal: &Refusal<'_>, error: &Value, message: &str) -> RunFailure {
    let details = || error.get("details").and_then(Value::as_array).into_iter().flatten();
    // A bad key is a bad request here.
    if details().any(|detail| text(detail, "reason") == "API_KEY_INVALID") {
        return RunFailure::Auth;
    }
    let code = match refusal.status {
        200..=299 => error.get("code").and_then(Value::as_u64).unwrap_or(0),
        status => u64::from(status),
    };
    match (text(error, "status"), code) {
        ("UNAUTHENTICATED" | "PERMISSION_DENIED", _) | (_, 401 | 403) => RunFailure::Auth,
        ("FAILED_PRECONDITION", _) if message.contains("billing") => RunFailure::Billing,
        (_, 402) => RunFailure::Billing,
        ("NOT_FOUND", _) | (_, 404 | 405) => RunFailure::Config,
        ("RESOURCE_EXHAUSTED", _) | (_, 429) => {
            let delay = details().find_map(|detail| seconds(text(detail, "retryDelay")));
            let quotas = || details().filter_map(|detail| detail.get("violations")?.as_array()).flatten();
            if quotas().any(|quota| text(quota, "quotaId").contains("PerDay")) {
                let wait = delay.filter(|wait| *wait >= DAY_WAIT_MIN);
                return RunFailure::UsageLimit(wait.map(|wait| refusal.now.plus(wait)));
            }
            let hint = refusal.hint.or(delay);
            Refusal { hint, ..*refusal }.rate_limited()
        }
        ("UNAVAILABLE", _) | (_, 503 | 529) => RunFailure::Overloaded,
        ("INTERNAL" | "DEADLINE_EXCEEDED" | "CANCELLED" | "ABORTED", _) | (_, 408 | 500..=599) => {
            RunFailure::Network
        }
        (_, 300..=399) => RunFailure::Config,
        ("INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE", _) | (_, 400..=499) => {
            RunFailure::BadRequest
        }
        _ => RunFailure::Network,
    }
}

/// "17s", "0.5s"
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (wait <= crate::model::limits::RETRY_HINT_MAX).then_some(wait)
}
