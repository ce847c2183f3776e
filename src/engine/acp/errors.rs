//! What an agent's error means. Each agent puts its kind somewhere else; the text is looked at last. Pure.

use std::time::Duration;

use super::wire::RpcError;
use crate::model::run::RunFailure;
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// Too fast, without a time: agents never say how long.
const RATE_WAIT: Duration = Duration::from_secs(60);

/// Of an agent's own words.
const MESSAGE_BYTES_MAX: usize = 400;

/// ACP: log in first.
const AUTH_REQUIRED: i64 = -32000;

/// The failure, and the agent's words on one line.
pub(super) fn classify(error: &RpcError, now: Timestamp) -> (RunFailure, String) {
    let said = if error.data.message.is_empty() { &error.message } else { &error.data.message };
    let said = said.strip_prefix("Internal error: ").unwrap_or(said);
    let words = match one_line(said, MESSAGE_BYTES_MAX) {
        words if words.is_empty() => format!("error {}", error.code),
        words => words,
    };
    let failure = by_field(error, now).unwrap_or_else(|| by_text(said, now).unwrap_or(RunFailure::Protocol));
    (failure, words)
}

/// It has to be logged in first.
pub(super) fn wants_login(error: &RpcError) -> bool {
    error.code == AUTH_REQUIRED
}

fn by_field(error: &RpcError, now: Timestamp) -> Option<RunFailure> {
    let limited = || RunFailure::RateLimited(now.plus(RATE_WAIT));
    let said = || by_text(&error.message, now);
    match error.data.error_kind.as_str() {
        "authentication_failed" => return Some(RunFailure::Auth),
        // Says nothing of the kind of limit; the text may.
        "rate_limit" => return Some(said().filter(is_limit).unwrap_or_else(limited)),
        "billing_error" => return Some(RunFailure::Billing),
        "max_output_tokens" => return Some(RunFailure::Cut),
        "overloaded" | "server_error" => return Some(RunFailure::Overloaded),
        "invalid_request" => return Some(RunFailure::BadRequest),
        "model_not_found" => return Some(RunFailure::Config),
        _ => {}
    }
    match error.data.codex_error_info.as_str() {
        "usageLimitExceeded" => {
            return Some(
                by_text(&error.data.message, now).filter(is_limit).unwrap_or(RunFailure::UsageLimit(None)),
            );
        }
        "unauthorized" => return Some(RunFailure::Auth),
        "contextWindowExceeded" | "badRequest" => return Some(RunFailure::BadRequest),
        "serverOverloaded" | "internalServerError" => return Some(RunFailure::Overloaded),
        "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts" => return Some(RunFailure::Network),
        _ => {}
    }
    match error.data.error_name.as_str() {
        "ProviderAuthError" => return Some(RunFailure::Auth),
        "MessageOutputLengthError" => return Some(RunFailure::Cut),
        "ContextOverflowError" => return Some(RunFailure::BadRequest),
        "ProviderModelNotFoundError" => return Some(RunFailure::Config),
        "ContentFilterError" => return Some(RunFailure::Refused),
        _ => {}
    }
    match error.code {
        AUTH_REQUIRED | 401 | 403 => Some(RunFailure::Auth),
        402 => Some(RunFailure::Billing),
        404 => Some(RunFailure::Config),
        429 => Some(said().filter(is_limit).unwrap_or_else(limited)),
        400 | 413 | 422 => Some(said().unwrap_or(RunFailure::BadRequest)),
        500..=599 => Some(RunFailure::Overloaded),
        _ => None,
    }
}

fn is_limit(failure: &RunFailure) -> bool {
    matches!(failure, RunFailure::UsageLimit(_) | RunFailure::RateLimited(_) | RunFailure::Billing)
}

/// Words that decide, the first row that has one wins; in lower case.
const TEXTS: [(&[&str], RunFailure); 9] = [
    (
        &["billing details", "insufficient_quota", "credit balance", "out of credits", "payment required"],
        RunFailure::Billing,
    ),
    (
        &[
            "usage limit",
            "daily quota",
            "hour limit",
            "weekly limit",
            "out of extra usage",
            "quota exceeded",
            "you've hit your",
        ],
        RunFailure::UsageLimit(None),
    ),
    (&["rate limit", "too many requests", "(429)", "429"], RunFailure::RateLimited(Timestamp(0))),
    (
        &[
            "api key",
            "unauthorized",
            "401",
            "authentication",
            "not logged in",
            "log in",
            "login",
            "forbidden",
        ],
        RunFailure::Auth,
    ),
    (&["overloaded", "high demand", "unavailable", "503", "529"], RunFailure::Overloaded),
    (&["content filter", "content_filter", "safeguards", "refus"], RunFailure::Refused),
    (&["max_output_tokens", "output limit", "maximum output"], RunFailure::Cut),
    (&["model not found", "does not exist", "unknown model"], RunFailure::Config),
    (
        &[
            "connection",
            "network",
            "timed out",
            "timeout",
            "econn",
            "enotfound",
            "fetch failed",
            "stream disconnected",
        ],
        RunFailure::Network,
    ),
];

fn by_text(text: &str, now: Timestamp) -> Option<RunFailure> {
    let text = text.to_lowercase().replace('’', "'");
    let (_, failure) = TEXTS.iter().find(|(words, _)| words.iter().any(|word| text.contains(word)))?;
    Some(match failure {
        RunFailure::RateLimited(_) => RunFailure::RateLimited(now.plus(RATE_WAIT)),
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000);

    fn check(error: &str, expected: &str) {
        let error: RpcError = serde_json::from_str(error).unwrap();
        let (failure, words) = classify(&error, NOW);
        assert_eq!(format!("{}: {words}", failure.word()), expected);
    }

    #[test]
    fn the_field_counts_more_than_the_text() {
        check(
            r#"{"code":-32603,"message":"Internal error: Invalid API key","data":{"errorKind":"authentication_failed"}}"#,
            "auth: Invalid API key",
        );
        check(
            r#"{"code":-32603,"message":"Internal error: API Error: Request rejected (429)","data":{"errorKind":"rate_limit"}}"#,
            "rate-limited: API Error: Request rejected (429)",
        );
        check(
            r#"{"code":-32603,"message":"Internal error: You've hit your 5-hour limit","data":{"errorKind":"rate_limit"}}"#,
            "usage-limit: You've hit your 5-hour limit",
        );
        check(
            r#"{"code":-32603,"message":"Internal error","data":{"message":"You’ve hit your usage limit.","codexErrorInfo":"usageLimitExceeded"}}"#,
            "usage-limit: You’ve hit your usage limit.",
        );
        check(r#"{"code":-32000,"message":"Authentication required"}"#, "auth: Authentication required");
        check(
            r#"{"code":429,"message":"You have exhausted your daily quota on this model."}"#,
            "usage-limit: You have exhausted your daily quota on this model.",
        );
        check(r#"{"code":429,"message":"slow down"}"#, "rate-limited: slow down");
        check(r#"{"code":503}"#, "overloaded: error 503");
    }

    #[test]
    fn the_text_decides_where_nothing_else_does() {
        check(
            r#"{"code":-32603,"message":"Internal error: You exceeded your current quota, please check your plan and billing details.","data":{"errorName":"APIError"}}"#,
            "billing: You exceeded your current quota, please check your plan and billing details.",
        );
        check(r#"{"code":-32603,"message":"fetch failed"}"#, "network: fetch failed");
        check(r#"{"code":-32603,"message":"something else"}"#, "protocol: something else");
        check("{}", "protocol: error 0");
    }
}
