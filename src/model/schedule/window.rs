//! Windows of the week: `Mon..Fri 08:00-19:00 Europe/Berlin`.

use std::fmt;
use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::Time;

use super::calendar::{NotACalendar, take_zone};
use super::weekdays::Weekdays;
use super::zone::Zone;
use crate::model::time::Timestamp;

const DAY_MIN: u16 = 24 * 60;

/// Longest expression.
const TEXT_LEN_MAX: usize = 256;

/// Hours on some days of the week, by the clock of a place. One that ends before it begins runs over midnight and
/// belongs to the day on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    weekdays: Weekdays,
    /// Minute of the day.
    start: u16,
    /// Minute of the day, the first one outside; up to 24:00.
    end: u16,
    zone: Zone,
}

impl FromStr for Window {
    type Err = NotACalendar;

    fn from_str(text: &str) -> Result<Self, NotACalendar> {
        parse(text).map_err(NotACalendar)
    }
}

fn parse(text: &str) -> Result<Window, String> {
    if text.len() > TEXT_LEN_MAX {
        return Err(format!("longer than {TEXT_LEN_MAX} bytes"));
    }
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let zone = take_zone(&mut words)?;
    let mut window = Window { weekdays: Weekdays::ALL, start: 0, end: DAY_MIN, zone };
    let mut rest = words.iter().copied().peekable();
    if let Some(word) = rest.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
        window.weekdays = Weekdays::parse(word)?;
    }
    if let Some(word) = rest.next() {
        let (start, end) = word
            .split_once('-')
            .ok_or_else(|| format!("`{word}` is no span of hours; write `08:00-19:00`"))?;
        (window.start, window.end) = (minute(start)?, minute(end)?);
        if window.start == DAY_MIN {
            return Err("a day ends at 24:00, no window begins there".to_owned());
        }
        if window.start == window.end {
            return Err(format!("`{word}` is empty; leave the hours away to mean whole days"));
        }
    }
    match rest.next() {
        None if words.is_empty() => Err("is empty".to_owned()),
        None => Ok(window),
        Some(word) => Err(format!("does not know what `{word}` means there")),
    }
}

fn minute(text: &str) -> Result<u16, String> {
    let number = |text: &str, most: u16| {
        let digits = (1..=2).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten().filter(|number: &u16| *number <= most)
    };
    let time = text.split_once(':').and_then(|(hour, minute)| {
        let minutes = number(hour, 24)? * 60 + number(minute, 59)?;
        (minutes <= DAY_MIN).then_some(minutes)
    });
    time.ok_or_else(|| format!("`{text}` is no time of day; write `08:00`"))
}

impl Window {
    /// Whether a clock there shows a time inside.
    #[must_use]
    pub fn contains(&self, at: Timestamp) -> bool {
        let civil = self.zone.civil(at);
        let minute = u16::from(civil.hour().unsigned_abs()) * 60 + u16::from(civil.minute().unsigned_abs());
        let day = civil.weekday().to_monday_zero_offset();
        if self.start < self.end {
            return self.weekdays.has(day) && (self.start..self.end).contains(&minute);
        }
        (self.weekdays.has(day) && minute >= self.start) || (self.weekdays.has(day - 1) && minute < self.end)
    }

    /// The first moment after `after` at which it may begin or end; at most two days on.
    pub(super) fn edge(&self, after: Timestamp) -> Option<Timestamp> {
        let today = self.zone.civil(after).date();
        (-1..=2).find_map(|days| {
            let date = today.checked_add(days.days()).ok()?;
            let edge = |minute: u16| {
                let hour = i8::try_from(minute / 60).ok()?;
                let time = Time::new(hour, i8::try_from(minute % 60).ok()?, 0, 0).ok()?;
                let civil = date.to_datetime(time);
                let moments = [self.zone.moment(civil), self.zone.moment_again(civil)];
                moments.into_iter().flatten().filter(|moment| *moment > after).min()
            };
            [edge(self.start), edge(self.end % DAY_MIN)].into_iter().flatten().min()
        })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        write!(f, "{}{}-{}{}", self.weekdays, clock(self.start), clock(self.end), self.zone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_rfc3339(text).unwrap()
    }

    #[track_caller]
    fn inside(window: &str, moment: &str, expected: bool) {
        assert_eq!(window.parse::<Window>().unwrap().contains(at(moment)), expected, "{window} {moment}");
    }

    #[test]
    fn working_hours_have_a_first_and_no_last_minute() {
        let hours = "Mon..Fri 08:00-19:00 Europe/Berlin";
        inside(hours, "2026-11-30T08:00:00+01:00", true);
        inside(hours, "2026-11-30T07:59:59+01:00", false);
        inside(hours, "2026-11-30T18:59:59+01:00", true);
        inside(hours, "2026-11-30T19:00:00+01:00", false);
        inside(hours, "2026-11-29T12:00:00+01:00", false);
        inside(hours, "2026-07-01T08:00:00+02:00", true);
    }

    #[test]
    fn a_night_belongs_to_the_day_on_which_it_begins() {
        let night = "Fri 22:00-06:00 UTC";
        inside(night, "2026-11-27T23:00:00Z", true);
        inside(night, "2026-11-28T05:59:00Z", true);
        inside(night, "2026-11-28T06:00:00Z", false);
        inside(night, "2026-11-28T23:00:00Z", false);
        inside(night, "2026-11-27T05:00:00Z", false);
        inside("Sun 22:00-06:00 UTC", "2026-11-30T01:00:00Z", true);
    }

    #[test]
    fn whole_days_and_whole_weeks() {
        inside("Sat,Sun UTC", "2026-11-29T23:59:59Z", true);
        inside("Sat,Sun UTC", "2026-11-30T00:00:00Z", false);
        inside("00:00-24:00 UTC", "2026-11-30T00:00:00Z", true);
    }

    #[test]
    fn is_printed_as_it_is_read() {
        for (text, normal) in [
            ("mon-fri 8:00-19:00 europe/berlin", "Mon..Fri 08:00-19:00 Europe/Berlin"),
            ("Sat,Sun", "Sat,Sun 00:00-24:00"),
            ("22:00-06:00", "22:00-06:00"),
        ] {
            let window: Window = text.parse().unwrap();
            assert_eq!(window.to_string(), normal);
            assert_eq!(normal.parse::<Window>().unwrap(), window);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong = |text: &str| text.parse::<Window>().unwrap_err().to_string();
        assert_eq!(wrong(""), "is empty");
        assert_eq!(wrong("08:00-08:00"), "`08:00-08:00` is empty; leave the hours away to mean whole days");
        assert_eq!(
            wrong("Fri..Mon 08:00-09:00"),
            "the days in `Fri..Mon` run backwards; a week begins on Monday: write two ranges with a comma"
        );
        assert_eq!(wrong("08:00-25:00"), "`25:00` is no time of day; write `08:00`");
        assert_eq!(wrong("08:00"), "`08:00` is no span of hours; write `08:00-19:00`");
        assert_eq!(wrong("08:00-09:00 Mars/Base"), "this machine knows no time zone `Mars/Base`");
        assert_eq!(wrong("Mon 08:00-09:00 10:00-11:00"), "does not know what `10:00-11:00` means there");
    }
}
