//! What the texts of programs and vendors mean: notices that stand where an answer should, errors, limits. The one table
//! for all engines. Pure.
//!
//! A machine field is believed before a text; whoever has one maps it and asks here only for the rest. The texts were
//! recorded from the programs of `tests/fixtures/engines`, or come from public reports.

mod reset;
mod status;

use std::time::Duration;

use jiff::tz::TimeZone;

pub use self::reset::{reset_time, wait_named};
use self::status::status_in;
use crate::model::limits;
use crate::model::run::RunFailure;
use crate::model::time::Timestamp;

/// Of an error text, what is looked at: the reason stands in its beginning.
const LOOKED_AT_BYTES_MAX: usize = 4 * 1024;

/// When a text is read: times of day in it mean the next such time.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Now.
    pub now: Timestamp,
    /// The zone of times that name none.
    pub zone: TimeZone,
}

impl Moment {
    /// Now, in the zone of this machine.
    #[must_use]
    pub fn here(now: Timestamp) -> Self {
        Self { now, zone: TimeZone::system() }
    }

    /// Too fast: until what the text says, or a minute.
    fn rate_limited(&self, text: &str) -> RunFailure {
        let wait = wait_named(text).unwrap_or(limits::RATE_LIMIT_WAIT);
        RunFailure::RateLimited(self.now.plus(wait.min(limits::RETRY_HINT_MAX)))
    }
}

/// Texts that known programs print in place of an answer, some with exit code 0, and what they mean.
const NOTICES: [(&str, RunFailure); 14] = [
    ("API Error: 401", RunFailure::Auth),
    ("[API Error: 401", RunFailure::Auth),
    ("API Error", RunFailure::Protocol),
    ("[API Error", RunFailure::Protocol),
    ("Not logged in", RunFailure::Auth),
    ("Invalid API key", RunFailure::Auth),
    ("Please run /login", RunFailure::Auth),
    ("Credit balance is too low", RunFailure::Billing),
    ("You've hit your", RunFailure::UsageLimit(None)),
    ("You’ve hit your", RunFailure::UsageLimit(None)),
    ("You're out of extra usage", RunFailure::UsageLimit(None)),
    ("Claude AI usage limit reached", RunFailure::UsageLimit(None)),
    ("5-hour limit reached", RunFailure::UsageLimit(None)),
    ("Error: Reached max turns", RunFailure::Cut),
];

/// The notice that a text begins with, if it is one and no answer.
#[must_use]
pub fn notice(text: &str) -> Option<(&'static str, RunFailure)> {
    NOTICES.iter().find(|(start, _)| text.starts_with(start)).cloned()
}

/// What a row of the table means; times are found in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Empty,
    Cut,
    Refused,
    Auth,
    Config,
    Billing,
    UsageLimit,
    RateLimited,
    Overloaded,
    Network,
    BadRequest,
    Loop,
    TurnLimit,
    BudgetLimit,
}

use Meaning as M;

/// Words that mean the same whatever status stands beside them, in order. Lower case, `'` for every apostrophe.
const SURE: [(&str, Meaning); 66] = [
    ("maximum number of turns", M::TurnLimit),
    ("reached max turns", M::TurnLimit),
    ("maximum budget", M::BudgetLimit),
    ("loop detected", M::Loop),
    ("max_output_tokens", M::Cut),
    ("output token maximum", M::Cut),
    ("safeguards flagged", M::Refused),
    ("content filter", M::Refused),
    ("content_filter", M::Refused),
    ("contentfilter", M::Refused),
    ("content policy", M::Refused),
    ("empty response", M::Empty),
    ("no response was returned", M::Empty),
    // "Rate limit reached" would look like a plan's limit below.
    ("rate limit", M::RateLimited),
    ("rate_limit_exceeded", M::RateLimited),
    ("too many requests", M::RateLimited),
    ("resource has been exhausted", M::RateLimited),
    ("daily quota", M::UsageLimit),
    ("usage limit", M::UsageLimit),
    ("usage_limit_reached", M::UsageLimit),
    ("hit your", M::UsageLimit),
    ("limit reached", M::UsageLimit),
    ("out of extra usage", M::UsageLimit),
    ("credit balance", M::Billing),
    ("insufficient_quota", M::Billing),
    ("current quota", M::Billing),
    ("quota exceeded", M::Billing),
    ("insufficient credits", M::Billing),
    ("billing", M::Billing),
    ("not logged in", M::Auth),
    ("run /login", M::Auth),
    ("api key", M::Auth),
    ("api_key", M::Auth),
    ("unauthorized", M::Auth),
    ("authenticat", M::Auth),
    ("oauth token", M::Auth),
    ("key store is locked", M::Auth),
    ("keychain", M::Auth),
    ("keyring", M::Auth),
    ("missing environment variable", M::Auth),
    ("permission_denied", M::Auth),
    ("\"type\":\"forbidden\"", M::Auth),
    ("403 forbidden", M::Auth),
    ("login", M::Auth),
    ("log in", M::Auth),
    ("not trusted", M::Config),
    ("trust the files", M::Config),
    ("issue with the selected model", M::Config),
    ("model_not_found", M::Config),
    ("does not exist or you do not have access", M::Config),
    ("is not found for api version", M::Config),
    ("unknown option", M::Config),
    ("unknown argument", M::Config),
    ("unexpected argument", M::Config),
    ("unrecognized option", M::Config),
    ("invalid option", M::Config),
    ("invalid value", M::Config),
    ("invalid auth method", M::Config),
    ("error loading config", M::Config),
    ("no conversation found", M::Config),
    ("no rollout found", M::Config),
    ("overloaded", M::Overloaded),
    ("high demand", M::Overloaded),
    ("no capacity", M::Overloaded),
    ("service unavailable", M::Overloaded),
    ("internal server error", M::Overloaded),
];

/// Words that count when no status says more.
const LIKELY: [(&str, Meaning); 32] = [
    ("econnreset", M::Network),
    ("econnrefused", M::Network),
    ("enotfound", M::Network),
    ("etimedout", M::Network),
    ("eai_again", M::Network),
    ("und_err", M::Network),
    ("getaddrinfo", M::Network),
    ("lookup address", M::Network),
    ("not resolve", M::Network),
    ("dns", M::Network),
    ("socket", M::Network),
    ("connection", M::Network),
    ("network", M::Network),
    ("transport error", M::Network),
    ("idle timeout", M::Network),
    ("timed out", M::Network),
    ("timeout waiting", M::Network),
    ("closed before", M::Network),
    ("fetch failed", M::Network),
    ("error sending request", M::Network),
    ("response body", M::Network),
    ("unexpected eof", M::Network),
    ("other side closed", M::Network),
    ("malformed response", M::Network),
    (": terminated", M::Network),
    // A stream that the server itself ended with an error; what went wrong on the way is above.
    ("stream disconnected", M::Overloaded),
    ("temporary errors", M::Overloaded),
    ("try again later", M::Overloaded),
    ("bad request", M::BadRequest),
    ("invalid_request", M::BadRequest),
    ("invalid_argument", M::BadRequest),
    ("too long", M::BadRequest),
];

/// What an error text means; `None` if nothing in it is known. `status` is the HTTP status of a machine field.
#[must_use]
pub fn failure(text: &str, status: Option<u16>, moment: &Moment) -> Option<RunFailure> {
    let text = crate::model::text::cut(text, LOOKED_AT_BYTES_MAX);
    let words = text.to_lowercase().replace('’', "'");
    let in_table = |table: &[(&str, Meaning)]| {
        table.iter().find(|(word, _)| words.contains(word)).map(|(_, meaning)| *meaning)
    };
    let meaning = in_table(&SURE)
        .or_else(|| of_status(status?))
        .or_else(|| of_status(status_in(&words)?))
        .or_else(|| in_table(&LIKELY))?;
    Some(match meaning {
        M::Empty => RunFailure::Empty,
        M::Cut => RunFailure::Cut,
        M::Refused => RunFailure::Refused,
        M::Auth => RunFailure::Auth,
        M::Config => RunFailure::Config,
        M::Billing => RunFailure::Billing,
        M::UsageLimit => RunFailure::UsageLimit(reset_time(text, moment)),
        M::RateLimited => moment.rate_limited(text),
        M::Overloaded => RunFailure::Overloaded,
        M::Network => RunFailure::Network,
        M::BadRequest => RunFailure::BadRequest,
        M::Loop => RunFailure::Loop,
        M::TurnLimit => RunFailure::TurnLimit,
        M::BudgetLimit => RunFailure::BudgetLimit,
    })
}

fn of_status(status: u16) -> Option<Meaning> {
    Some(match status {
        401 | 403 => M::Auth,
        402 => M::Billing,
        404 | 405 => M::Config,
        429 => M::RateLimited,
        408 => M::Network,
        400 | 406..=428 | 430..=499 => M::BadRequest,
        500..=599 => M::Overloaded,
        _ => return None,
    })
}

/// A limit's end out of a machine field, in seconds since 1970. What lies behind or further ahead than the longest
/// window of a plan is not believed.
#[must_use]
pub fn reset_field(seconds: i64, now: Timestamp) -> Option<Timestamp> {
    let at = Timestamp::from_seconds(seconds);
    let last = now.plus(Duration::from_secs(32 * 24 * 3600));
    (now < at && at <= last).then_some(at)
}

#[cfg(test)]
mod tests;
