//! Durations: `"90s"`, `"5m"`, `"1h30m"`, `"7d"`.

use std::time::Duration;

use super::At;
use crate::diag::Span;
use crate::unit::check::{bad_value, out_of_range};
use crate::unit::report::Report;
use crate::unit::value::Value;

const UNITS: [(&str, u64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Longest age of a backlog: a hundred years of mail is "all".
const BACKLOG_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Parts of falling size, each a whole number with its unit; `None` for anything else and for over 500 million years.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let mut total: u64 = 0;
    let mut last = u64::MAX;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        let tail = rest.get(digits..)?;
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let word = tail.get(..letters)?;
        let (_, scale) = UNITS.into_iter().find(|(unit, _)| *unit == word)?;
        if scale >= last {
            return None;
        }
        last = scale;
        total = total.checked_add(number.checked_mul(scale)?)?;
        rest = tail.get(letters..)?.trim_start();
    }
    Some(Duration::from_millis(total))
}

/// As a person writes it: `1h30m`.
pub(crate) fn shown(span: Duration) -> String {
    let mut left = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    if left == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, scale) in UNITS.into_iter().skip(1) {
        let number = left / scale;
        left %= scale;
        if number > 0 {
            text.push_str(&format!("{number}{unit}"));
        }
    }
    text
}

pub(super) fn decode(
    at: At<'_>,
    span: Span,
    text: &str,
    (min_s, max_s): (u64, u64),
    report: &mut Report,
) -> Option<Value> {
    let Some(value) = parse(text) else {
        report.push(
            bad_value::finding(&at.path(), span, "not a duration")
                .help("write `\"90s\"`, `\"5m\"`, `\"1h30m\"` or `\"7d\"`"),
        );
        return None;
    };
    let (least, most) = (Duration::from_secs(min_s), Duration::from_secs(max_s));
    if value < least || value > most {
        report.push(out_of_range::finding(&at.path(), span, &shown(least), &shown(most), value < least));
        return None;
    }
    Some(Value::Duration(value))
}

pub(super) fn backlog(at: At<'_>, span: Span, text: &str, report: &mut Report) -> Option<Value> {
    match parse(text).filter(|value| *value <= BACKLOG_MAX) {
        Some(value) => Some(Value::Duration(value)),
        None => {
            report.push(bad_value::finding(
                &at.path(),
                span,
                "takes `\"new\"`, `\"all\"`, or an age such as `\"7d\"`",
            ));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_parts_of_falling_size() {
        let seconds = |text| parse(text).map(|span| span.as_secs());
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("7d"), Some(604_800));
        assert_eq!(seconds("1h 30m"), Some(5400));
        assert_eq!(parse("250ms"), Some(Duration::from_millis(250)));
        for wrong in
            ["", "5", "m", "5 m", "1.5h", "-5m", "30m1h", "5mm", "5min", "99999999999999999999s", "1m1m"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shows_what_it_takes() {
        for text in ["90s", "1h30m", "8d", "250ms"] {
            assert_eq!(parse(&shown(parse(text).unwrap())), parse(text));
        }
        assert_eq!(shown(Duration::from_secs(5400)), "1h30m");
    }
}
