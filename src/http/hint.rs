//! "Come back later" in the units that servers use for it.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use super::header;
use crate::model::limits;
use crate::model::time::Timestamp;

/// The wait that the answer asks for: `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3), else the reset
/// of a used-up allowance (`x-ratelimit-remaining: 0`).
///
/// A date is read against the server's own clock. Absurd hints (over a day, in the past) count as an hour.
#[must_use]
pub fn retry_hint(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let server_now = header(headers, DATE).and_then(Timestamp::from_http_date).unwrap_or(now);
    if let Some(text) = header(headers, RETRY_AFTER) {
        let text = text.trim();
        return match text.parse::<f64>() {
            Ok(seconds) => Some(sane(seconds)),
            Err(_) => Timestamp::from_http_date(text).map(|at| sane(seconds_until(at, server_now))),
        };
    }
    // In milliseconds, beside or in place of the standard's.
    if let Some(wait) = header(headers, "retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok()) {
        return Some(sane(wait / 1000.0));
    }
    if let Some(wait) = allowances(headers, server_now) {
        return Some(sane(wait));
    }
    used_up(headers, server_now).map(sane)
}

/// The reset of a used-up allowance in the two spellings there are, in seconds from now. Its value is a moment in
/// ISO 8601 (Jira), milliseconds or seconds since 1970, or seconds from now: the sizes cannot be mistaken for each other.
fn used_up(headers: &HeaderMap, now: Timestamp) -> Option<f64> {
    ["x-ratelimit", "ratelimit"].iter().find_map(|prefix| {
        if header(headers, format!("{prefix}-remaining"))?.trim() != "0" {
            return None;
        }
        let reset = header(headers, format!("{prefix}-reset"))?.trim();
        match reset.parse::<f64>() {
            Ok(reset) if reset > 1e12 => Some(seconds_until(Timestamp(whole(reset)), now)),
            Ok(reset) if reset > 1e9 => Some(seconds_until(Timestamp(whole(reset * 1000.0)), now)),
            Ok(reset) => Some(reset),
            Err(_) => Timestamp::from_rfc3339(reset).map(|at| seconds_until(at, now)),
        }
    })
}

/// Allowances of model vendors, several beside each other: the longest wait among those that are used up, in seconds.
/// `OpenAI` gives spans (`6m0s`, `850ms`), Anthropic dates.
fn allowances(headers: &HeaderMap, now: Timestamp) -> Option<f64> {
    const KINDS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
    let used_up = |remaining: String| header(headers, remaining).is_some_and(|left| left.trim() == "0");
    let openai = KINDS.iter().filter_map(|kind| {
        let reset = header(headers, format!("x-ratelimit-reset-{kind}"))?;
        if used_up(format!("x-ratelimit-remaining-{kind}")) { seconds_of(reset) } else { None }
    });
    let anthropic = KINDS.iter().filter_map(|kind| {
        let reset = Timestamp::from_rfc3339(header(headers, format!("anthropic-ratelimit-{kind}-reset"))?)?;
        used_up(format!("anthropic-ratelimit-{kind}-remaining")).then(|| seconds_until(reset, now).max(0.0))
    });
    openai.chain(anthropic).reduce(f64::max)
}

/// `6m0s`, `1h2m`, `850ms`, `1.5s`, as Go writes spans.
fn seconds_of(span: &str) -> Option<f64> {
    let mut rest = span.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest.get(..digits)?.parse().ok()?;
        rest = rest.get(digits..)?;
        let (scale, unit) = [(0.001, "ms"), (3600.0, "h"), (60.0, "m"), (1.0, "s")]
            .into_iter()
            .find(|(_, unit)| rest.starts_with(unit))?;
        seconds += number * scale;
        rest = rest.strip_prefix(unit)?;
    }
    Some(seconds)
}

fn whole(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and a saturated time is an absurd hint")]
    let number = number as i64;
    number
}

#[expect(clippy::cast_precision_loss, reason = "a wait in seconds needs no 53 bits")]
fn seconds_until(at: Timestamp, now: Timestamp) -> f64 {
    at.0.saturating_sub(now.0) as f64 / 1000.0
}

fn sane(seconds: f64) -> Duration {
    let span = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    if span > limits::RETRY_HINT_MAX { limits::RETRY_HINT_ABSURD } else { span.max(limits::RETRY_HINT_MIN) }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    const NOW: Timestamp = Timestamp(1_796_025_600_000); // 2026-11-30T08:00:00Z

    fn check(headers: &[(&'static str, &str)], expected_s: Option<f64>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), value.parse().unwrap());
        }
        assert_eq!(retry_hint(&map, NOW).map(|span| span.as_secs_f64()), expected_s, "{headers:?}");
    }

    #[test]
    fn seconds_whole_and_broken() {
        check(&[("retry-after", "90")], Some(90.0));
        check(&[("retry-after", " 7.5 ")], Some(7.5));
    }

    #[test]
    fn a_date_against_the_clock_of_the_server() {
        check(&[("retry-after", "Mon, 30 Nov 2026 08:02:00 GMT")], Some(120.0));
        let date = ("date", "Mon, 30 Nov 2026 08:01:30 GMT");
        check(&[("retry-after", "Mon, 30 Nov 2026 08:02:00 GMT"), date], Some(30.0));
    }

    #[test]
    fn absurd_hints_are_an_hour() {
        for text in ["-5", "86401", "1e300", "NaN", "inf", "Thu, 01 Jan 1970 00:00:00 GMT"] {
            check(&[("retry-after", text)], Some(3600.0));
        }
    }

    #[test]
    fn no_hint_makes_anybody_ask_without_a_pause() {
        for text in ["0", "0.0", "0.2", "Mon, 30 Nov 2026 08:00:00 GMT"] {
            check(&[("retry-after", text)], Some(5.0));
        }
        check(&[("retry-after-ms", "0")], Some(5.0));
        check(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1796025600")], Some(5.0));
    }

    #[test]
    fn nonsense_is_no_hint() {
        check(&[("retry-after", "soon")], None);
        check(&[], None);
    }

    #[test]
    fn allowances_of_model_vendors() {
        check(&[("retry-after-ms", "7500")], Some(7.5));
        let (none, left) = (("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-remaining-requests", "9"));
        let resets = [("x-ratelimit-reset-tokens", "6m0s"), ("x-ratelimit-reset-requests", "2h")];
        check(&[none, left, resets[0], resets[1]], Some(360.0));
        check(&[left, resets[0], resets[1]], None);
        check(&[none, ("x-ratelimit-reset-tokens", "8500ms")], Some(8.5));
        check(&[none, ("x-ratelimit-reset-tokens", "1h2m3.5s")], Some(3723.5));
        for nonsense in ["soon", "6", "", "6x"] {
            check(&[none, ("x-ratelimit-reset-tokens", nonsense)], None);
        }
        let reset = ("anthropic-ratelimit-input-tokens-reset", "2026-11-30T08:00:40Z");
        check(&[("anthropic-ratelimit-input-tokens-remaining", "0"), reset], Some(40.0));
        check(&[("anthropic-ratelimit-input-tokens-remaining", "100"), reset], None);
    }

    #[test]
    fn a_used_up_allowance_in_all_its_units() {
        let used_up = ("x-ratelimit-remaining", "0");
        check(&[used_up, ("x-ratelimit-reset", "1796025660")], Some(60.0));
        check(&[used_up, ("x-ratelimit-reset", "1796025660000")], Some(60.0));
        check(&[used_up, ("x-ratelimit-reset", "60")], Some(60.0));
        check(&[("x-ratelimit-remaining", "7"), ("x-ratelimit-reset", "60")], None);
        check(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "1796025660")], Some(60.0));
        for reset in ["2026-11-30T08:01:00Z", "2026-11-30T08:01Z", "2026-11-30T09:01:00+01:00"] {
            check(&[used_up, ("x-ratelimit-reset", reset)], Some(60.0));
        }
        check(&[used_up, ("x-ratelimit-reset", "soon")], None);
    }
}
