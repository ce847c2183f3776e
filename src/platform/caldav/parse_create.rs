//! The value of the effect `create`: `2026-12-31 14:00 30m Title`. Pure.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::model::text::one_line;
use crate::model::time::Timestamp;

/// An event to be put into a calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Begin.
    pub begin: Timestamp,
    /// End.
    pub end: Timestamp,
    /// One line.
    pub title: String,
}

/// Reads it; times are of the zone.
///
/// # Errors
/// Why not, for people.
pub fn planned(text: &str, zone: &TimeZone) -> Result<Planned, String> {
    let shape = "it is written `2026-12-31 14:00 30m Title`";
    let mut words = text.split_whitespace();
    let (Some(day), Some(hour), Some(span)) = (words.next(), words.next(), words.next()) else {
        return Err(shape.to_owned());
    };
    let civil: DateTime =
        format!("{day}T{hour}").parse().map_err(|_| format!("{day} {hour} is no time; {shape}"))?;
    let begin =
        zone.to_ambiguous_timestamp(civil).compatible().map_err(|_| format!("{day} {hour} is no time"))?;
    let begin = Timestamp(begin.as_millisecond());
    let title = one_line(&words.collect::<Vec<_>>().join(" "), 200);
    if title.is_empty() {
        return Err(format!("it has no title; {shape}"));
    }
    let span = length(span).ok_or_else(|| format!("{span} is no length of up to a day; {shape}"))?;
    Ok(Planned { begin, end: begin.plus(span), title })
}

/// `30m`, `2h`, at most a day.
fn length(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let minutes = number.parse::<u64>().ok()?.checked_mul(match unit {
        "m" => 1,
        "h" => 60,
        _ => return None,
    })?;
    (1..=24 * 60).contains(&minutes).then(|| Duration::from_secs(minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_the_zone() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let found = planned("2026-12-01 09:30 2h  Prepare, the review", &zone).unwrap();
        assert_eq!(
            (found.begin.to_string(), found.end.to_string()),
            ("2026-12-01T08:30:00Z".into(), "2026-12-01T10:30:00Z".into())
        );
        assert_eq!(found.title, "Prepare, the review");
        for odd in [
            "",
            "tomorrow",
            "2026-12-01 09:30 2h",
            "2026-13-01 09:30 2h x",
            "2026-12-01 09:30 2d x",
            "2026-12-01 09:30 0m x",
            "2026-12-01 09:30 25h x",
            "2026-12-01 25:30 1h x",
            "2026-12-01 09:30 üm x",
        ] {
            assert!(planned(odd, &zone).is_err(), "{odd}");
        }
    }
}
