//! Event lines of Claude Code and of Qwen Code, which took over its format. Pure.

use serde_json::{Map, Value};

use super::{Reader, Told, count, micro_usd, text};
use crate::engine::notices::{Moment, failure, reset_field, reset_time};
use crate::model::run::RunFailure;

/// From this share of a plan's window on the reviewer is told.
const WINDOW_FULL: f64 = 0.9;

/// Reads events of this family.
#[derive(Debug)]
pub(super) struct Anthropic {
    program: &'static str,
    version_key: &'static str,
    /// A plan's limit refused a request.
    limited: bool,
}

impl Anthropic {
    pub(super) fn new(program: &'static str, version_key: &'static str) -> Self {
        Self { program, version_key, limited: false }
    }

    fn system(&mut self, event: &Map<String, Value>, told: &mut Told) {
        match text(event, "subtype").unwrap_or_default() {
            "init" => {
                told.progress += 1;
                told.model(text(event, "model"));
                told.program(self.program, text(event, self.version_key));
            }
            "api_retry" => {
                let error = text(event, "error").unwrap_or("unknown");
                match event.get("error_status").and_then(Value::as_u64) {
                    Some(status) => told.stumble(&format!("status {status} {error}")),
                    None => told.stumble(error),
                }
            }
            "permission_denied" => told.deny(text(event, "tool_name")),
            _ => {}
        }
    }

    fn limit(&mut self, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        let Some(info) = event.get("rate_limit_info") else { return };
        if info.get("status").and_then(Value::as_str) == Some("rejected") {
            self.limited = true;
            let seconds = info.get("resetsAt").and_then(Value::as_i64);
            told.limit = seconds.and_then(|seconds| reset_field(seconds, moment.now)).or(told.limit);
        }
        let windows = info.get("unifiedWindows").and_then(Value::as_object);
        for (name, window) in windows.into_iter().flatten() {
            let used = window.get("utilization").and_then(Value::as_f64).unwrap_or_default();
            if (WINDOW_FULL..1.0).contains(&used) {
                told.remark(&format!("the plan's window {name} is {:.0} % used", used * 100.0));
            }
        }
    }

    fn result(&self, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        take_usage(event, told);
        for denied in event.get("permission_denials").and_then(Value::as_array).into_iter().flatten() {
            told.deny(denied.get("tool_name").and_then(Value::as_str));
        }
        let message = message(event);
        let Some(is_error) = event.get("is_error").and_then(Value::as_bool) else {
            return told.fail_as(RunFailure::Protocol, "its final event does not say whether it failed");
        };
        // Said whether or not the flag is set: a success with one of these is none.
        let by_field = match (text(event, "terminal_reason"), text(event, "stop_reason")) {
            (Some("aborted_streaming" | "aborted_tools"), _) => Some(RunFailure::Cancelled),
            (Some("max_turns"), _) => Some(RunFailure::TurnLimit),
            (Some("budget_exhausted"), _) => Some(RunFailure::BudgetLimit),
            (_, Some("refusal")) => Some(RunFailure::Refused),
            (_, Some("max_tokens")) => Some(RunFailure::Cut),
            _ => None,
        };
        let by_field = by_field.or_else(|| match text(event, "subtype") {
            Some("error_max_turns") => Some(RunFailure::TurnLimit),
            Some("error_max_budget_usd") => Some(RunFailure::BudgetLimit),
            Some("error_max_structured_output_retries") => Some(RunFailure::Protocol),
            _ => None,
        });
        if let Some(failure) = by_field {
            return told.fail_as(failure, or_else(&message, "it ended before an answer"));
        }
        if is_error {
            return self.failed(event, &message, told, moment);
        }
        if text(event, "subtype") != Some("success") {
            return told.fail_as(RunFailure::Protocol, "its final event is of an unknown kind");
        }
        let object = event.get("structured_output").filter(|object| object.is_object()).cloned();
        told.finish(text(event, "result").unwrap_or_default(), object, moment);
    }

    fn failed(&self, event: &Map<String, Value>, message: &str, told: &mut Told, moment: &Moment) {
        let status =
            event.get("api_error_status").and_then(Value::as_u64).and_then(|status| status.try_into().ok());
        let known = match (text(event, "api_error"), text(event, "api_error_type")) {
            (Some("usage_limit_reached"), _) => {
                Some(RunFailure::UsageLimit(told.limit.or_else(|| reset_time(message, moment))))
            }
            _ if self.limited && status == Some(429) => {
                Some(RunFailure::UsageLimit(told.limit.or_else(|| reset_time(message, moment))))
            }
            (Some("max_output_tokens"), _) => Some(RunFailure::Cut),
            (Some("connection_failed"), _) => Some(RunFailure::Network),
            (_, Some("authentication_error" | "permission_error")) => Some(RunFailure::Auth),
            (_, Some("billing_error")) => Some(RunFailure::Billing),
            (_, Some("not_found_error")) => Some(RunFailure::Config),
            (_, Some("overloaded_error")) => Some(RunFailure::Overloaded),
            _ => failure(message, status, moment),
        };
        match known {
            Some(failure) => told.fail_as(failure, message),
            None => told.fail(message, status, moment),
        }
    }
}

impl Reader for Anthropic {
    fn take(&mut self, kind: &str, event: &Map<String, Value>, told: &mut Told, moment: &Moment) {
        told.session(text(event, "session_id"));
        match kind {
            "system" => self.system(event, told),
            "rate_limit_event" => self.limit(event, told, moment),
            "assistant" | "user" | "stream_event" => told.progress += 1,
            "result" => {
                told.progress += 1;
                self.result(event, told, moment);
            }
            _ => {}
        }
    }

    fn of_exit(&self, code: i32, _moment: &Moment) -> Option<RunFailure> {
        // Its own way of saying that it was asked to go; whoever asked was not us.
        (code == 143 || code == 130).then_some(RunFailure::Exit)
    }
}

/// The text of a failure, wherever it stands.
fn message(event: &Map<String, Value>) -> String {
    let errors = event.get("errors").and_then(Value::as_array);
    let errors: Vec<&str> = errors.into_iter().flatten().filter_map(Value::as_str).take(5).collect();
    let error = event.get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
    match text(event, "result").or(error) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => errors.join("; "),
    }
}

fn or_else<'a>(message: &'a str, otherwise: &'a str) -> &'a str {
    if message.trim().is_empty() { otherwise } else { message }
}

/// Tokens and money of this result; those of several are added.
fn take_usage(event: &Map<String, Value>, told: &mut Told) {
    let usage = event.get("usage");
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let read: Vec<u64> = read.iter().filter_map(|key| count(usage, key)).collect();
    let add = |place: &mut Option<u64>, amount: Option<u64>| {
        if let Some(amount) = amount {
            *place = Some(place.unwrap_or_default().saturating_add(amount));
        }
    };
    let read = (!read.is_empty()).then(|| read.iter().fold(0, |sum: u64, part| sum.saturating_add(*part)));
    add(&mut told.usage.input_tokens, read);
    add(&mut told.usage.output_tokens, count(usage, "output_tokens"));
    // `total_cost_usd` is of the whole session.
    let since = event.get("model_usage_since_last_result").and_then(Value::as_object);
    let since = since.map(|models| models.values().filter_map(|model| model.get("costUSD")?.as_f64()).sum());
    match micro_usd(since) {
        Some(cost) => add(&mut told.usage.cost_micro_usd, Some(cost)),
        None if told.before.is_some() => {}
        None => told.usage.cost_micro_usd = micro_usd(event.get("total_cost_usd").and_then(Value::as_f64)),
    }
    if told.usage.cost_micro_usd.is_some() {
        "engine".clone_into(&mut told.usage.cost_source);
    }
}
