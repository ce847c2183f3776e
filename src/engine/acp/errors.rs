//! What an agent's error means. Each agent puts its kind somewhere else; the text is looked at last. Pure.

use super::wire::RpcError;
use crate::engine::notices::{self, Moment};
use crate::model::limits;
use crate::model::run::RunFailure;
use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// Of an agent's own words.
const MESSAGE_BYTES_MAX: usize = 400;

/// ACP: log in first.
const AUTH_REQUIRED: i64 = -32000;

/// The failure, and the agent's words on one line.
pub(super) fn classify(error: &RpcError, now: Timestamp) -> (RunFailure, String) {
    let said = if error.data.message.is_empty() { &error.message } else { &error.data.message };
    let said = said.strip_prefix("Internal error: ").unwrap_or(said);
    // Some hand on the body of their server's answer.
    let body = said.starts_with('{').then(|| serde_json::from_str::<Body>(said).ok()).flatten();
    let shown = body.as_ref().map_or(said, |body| &body.error.message);
    let words = match one_line(shown, MESSAGE_BYTES_MAX) {
        words if words.is_empty() => format!("error {}", error.code),
        words => words,
    };
    let moment = Moment::here(now);
    let status = u16::try_from(error.code).ok().filter(|code| (400..600).contains(code));
    let by_text = || notices::failure(said, status, &moment);
    let failure = by_field(error, said, &moment).or_else(by_text).unwrap_or(RunFailure::Protocol);
    (failure, words)
}

/// As all vendors spell it.
#[derive(serde::Deserialize)]
struct Body {
    error: BodyError,
}

#[derive(serde::Deserialize)]
struct BodyError {
    message: String,
}

/// It has to be logged in first.
pub(super) fn wants_login(error: &RpcError) -> bool {
    error.code == AUTH_REQUIRED
}

fn by_field(error: &RpcError, said: &str, moment: &Moment) -> Option<RunFailure> {
    // A field that says no more than "a limit"; the text may say which.
    let limit = |otherwise| Some(notices::failure(said, None, moment).filter(is_limit).unwrap_or(otherwise));
    match error.data.error_kind.as_str() {
        "authentication_failed" => return Some(RunFailure::Auth),
        "rate_limit" => return limit(RunFailure::RateLimited(moment.now.plus(limits::RATE_LIMIT_WAIT))),
        "billing_error" => return Some(RunFailure::Billing),
        "max_output_tokens" => return Some(RunFailure::Cut),
        "overloaded" | "server_error" => return Some(RunFailure::Overloaded),
        "invalid_request" => return Some(RunFailure::BadRequest),
        "model_not_found" => return Some(RunFailure::Config),
        _ => {}
    }
    match error.data.codex_error_info.as_str() {
        "usageLimitExceeded" => return limit(RunFailure::UsageLimit(None)),
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
    (error.code == AUTH_REQUIRED).then_some(RunFailure::Auth)
}

fn is_limit(failure: &RunFailure) -> bool {
    matches!(failure, RunFailure::UsageLimit(_) | RunFailure::RateLimited(_) | RunFailure::Billing)
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
        check(
            r#"{"code":400,"message":"{\"error\":{\"code\":400,\"message\":\"API key not valid.\",\"status\":\"X\"}}"}"#,
            "auth: API key not valid.",
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
