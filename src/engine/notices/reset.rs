//! When a limit ends, out of the texts that tell it. Pure: the moment of reading is given.

use std::time::Duration;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::Moment;
use crate::model::limits::RETRY_HINT_MAX;
use crate::model::time::Timestamp;

/// What stands before a time in such texts, lower case. The last one found counts: it stands nearest to the time.
const BEFORE: [&str; 6] =
    ["resets at ", "resets on ", "resets ", "reset at ", "try again at ", "available again at "];

/// A time of day that passed so long ago is the one that was meant, and the limit is over: texts round to minutes.
const JUST_PASSED: Duration = Duration::from_secs(5 * 60);

/// After a limit that is just over.
const A_MOMENT: Duration = Duration::from_secs(60);

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The end of a limit that a text names, as the next such time, at most [`RETRY_HINT_MAX`] ahead: a longer one is asked
/// about again then. `None`: unknown.
///
/// Understood are `…|1796029200`, `resets 9:13am (UTC)`, `resets 2am`, `resets Dec 3 at 2pm (Europe/Berlin)`,
/// `try again at 9:16 AM`, `try again at Dec 3rd, 2026 9:16 AM`, `try again in 4 days 3 hours`, and RFC 3339.
#[must_use]
pub fn reset_time(text: &str, moment: &Moment) -> Option<Timestamp> {
    let words = text.to_lowercase();
    let at = epoch(&words).or_else(|| named(&words, moment)).or_else(|| {
        let wait = wait_named(&words)?;
        Some(moment.now.plus(wait))
    })?;
    let at =
        if at <= moment.now && moment.now.since(at) < JUST_PASSED { moment.now.plus(A_MOMENT) } else { at };
    (at > moment.now).then(|| at.min(moment.now.plus(RETRY_HINT_MAX)))
}

/// `reached|1796029200`, in seconds or milliseconds.
fn epoch(words: &str) -> Option<Timestamp> {
    words.match_indices('|').find_map(|(at, _)| {
        let rest = words.get(at + 1..)?;
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: i64 = rest.get(..length)?.parse().ok()?;
        match length {
            10 => Some(Timestamp::from_seconds(number)),
            13 => Some(Timestamp(number)),
            _ => None,
        }
    })
}

fn named(words: &str, moment: &Moment) -> Option<Timestamp> {
    let start = BEFORE.iter().filter_map(|before| words.rfind(before).map(|at| at + before.len())).max()?;
    let rest = words.get(start..)?.trim_start();
    let first = rest.split_whitespace().next()?;
    if let Some(at) = Timestamp::from_rfc3339(&first.trim_end_matches(['.', ',', ')']).to_uppercase()) {
        return Some(at);
    }
    let zone = match zone_in(rest) {
        Some(found) => found?,
        None => moment.zone.clone(),
    };
    let mut date = None;
    let mut parts = Parts::default();
    // A few words are a time; what comes behind is another sentence.
    for word in rest.split_whitespace().take(6) {
        let plain = word.trim_end_matches([',', '.', ')']).trim_start_matches('(');
        if !parts.take(plain) {
            break;
        }
        date = parts.date();
        if parts.time.is_some() && word.ends_with('.') {
            break;
        }
    }
    let time = parts.time()?;
    let now = jiff::Timestamp::from_millisecond(moment.now.0).ok()?.to_zoned_datetime(zone.clone());
    let on = |day: Date| {
        let at = day.to_datetime(time).to_zoned_datetime(zone.clone()).ok()?;
        Some(Timestamp(at.timestamp().as_millisecond()))
    };
    match date {
        Some((year, month, day)) => {
            let year = year.unwrap_or(now.year());
            let at = on(Date::new(year, month, day).ok()?)?;
            // "Resets Jan 2", read in December.
            if parts.year.is_none() && moment.now.since(at) > Duration::from_secs(180 * 24 * 3600) {
                return on(Date::new(year.checked_add(1)?, month, day).ok()?);
            }
            Some(at)
        }
        None => {
            let today = on(now.date())?;
            if today > moment.now || moment.now.since(today) < JUST_PASSED {
                return Some(today);
            }
            on(now.date().tomorrow().ok()?)
        }
    }
}

/// The zone in brackets, the first of the text: `None` without one, `Some(None)` for one that is not known.
fn zone_in(rest: &str) -> Option<Option<TimeZone>> {
    let (_, behind) = rest.split_once('(')?;
    let (name, _) = behind.split_once(')')?;
    let looks_like = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte));
    if name.is_empty() || name.len() > 40 || !looks_like {
        return None;
    }
    Some(match name {
        "utc" | "gmt" | "z" => Some(TimeZone::UTC),
        // Names of zones are looked up without regard to case.
        _ if name.contains('/') => TimeZone::get(name).ok(),
        _ => None,
    })
}

/// What the words of a time come to.
#[derive(Default)]
struct Parts {
    month: Option<i8>,
    day: Option<i8>,
    year: Option<i16>,
    time: Option<(i8, i8)>,
    half: Option<bool>,
}

impl Parts {
    /// Takes a word; `false` if it belongs to no time.
    fn take(&mut self, word: &str) -> bool {
        if word == "at" || word == "on" {
            return true;
        }
        if word == "am" || word == "pm" {
            self.half = Some(word == "pm");
            return self.time.is_some();
        }
        if self.month.is_none()
            && let Some(month) = word.get(..3).and_then(|start| MONTHS.iter().position(|name| *name == start))
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        {
            self.month = i8::try_from(month + 1).ok();
            return true;
        }
        let half = word.strip_suffix("am").map(|rest| (rest, false));
        let half = half.or_else(|| word.strip_suffix("pm").map(|rest| (rest, true)));
        let number = |text: &str| text.parse::<i16>().ok().filter(|_| text.len() <= 4);
        let clock = |text: &str| {
            let (hour, minute) = text.split_once(':').unwrap_or((text, "0"));
            Some((i8::try_from(number(hour)?).ok()?, i8::try_from(number(minute)?).ok()?))
        };
        if let Some((rest, afternoon)) = half {
            self.time = clock(rest);
            self.half = Some(afternoon);
            return self.time.is_some();
        }
        if word.contains(':') {
            self.time = clock(word);
            return self.time.is_some();
        }
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ordinal = word.get(digits.len()..).unwrap_or_default();
        match number(digits) {
            Some(year) if year >= 2020 && ordinal.is_empty() => self.year = Some(year),
            Some(day) if self.month.is_some() && ["", "st", "nd", "rd", "th"].contains(&ordinal) => {
                self.day = i8::try_from(day).ok();
            }
            // "Resets 14" is no time.
            _ => return false,
        }
        true
    }

    fn date(&self) -> Option<(Option<i16>, i8, i8)> {
        Some((self.year, self.month?, self.day?))
    }

    fn time(&self) -> Option<Time> {
        let (hour, minute) = self.time?;
        let hour = match self.half {
            None => hour,
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
        };
        Time::new(hour, minute, 0, 0).ok()
    }
}

/// A wait that a text names: `try again in 1s`, `retry after 20 seconds`, `in 4 days 3 hours 9 minutes`.
#[must_use]
pub fn wait_named(text: &str) -> Option<Duration> {
    let words = text.to_lowercase();
    let before =
        ["again in ", "retry after ", "retry in ", "retrying in ", "resets in ", "reset in ", "reset after "];
    let start = before.iter().filter_map(|before| words.find(before).map(|at| at + before.len())).min()?;
    let mut rest = words.get(start..)?.trim_start();
    let mut total = Duration::ZERO;
    let mut any = false;
    // Days, hours, minutes, seconds.
    for _ in 0..4 {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Some(amount) =
            rest.get(..length).and_then(|number| number.trim_end_matches('.').parse::<f64>().ok())
        else {
            break;
        };
        let behind = rest.get(length..)?.trim_start();
        let unit_length = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let unit = match behind.get(..unit_length)? {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => break,
        };
        total = total.saturating_add(Duration::try_from_secs_f64(amount * unit).ok()?);
        any = true;
        rest = behind.get(unit_length..)?.trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    any.then_some(total)
}
