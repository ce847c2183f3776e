//! Calendar expressions in systemd's grammar: `Mon..Fri *-*-* 08:00:00 Europe/Berlin`.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};

use super::field::{Field, Unit};
use super::weekdays::Weekdays;
use super::zone::Zone;
use crate::model::time::Timestamp;

/// Longest expression.
const TEXT_LEN_MAX: usize = 256;

/// Times that an autumn hour offers a second time and that are passed over, at most: one for each of its seconds, and
/// some zones have turned the clock back by a day.
const PASSED_OVER_MAX: usize = 90_000;

/// Moments by the calendar and the clock of a place.
///
/// A time of day that a place leaves out in spring is the moment after the gap; one that comes twice in autumn is
/// meant once, the first time. Years go from 1970 to 2199, times to the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    weekdays: Weekdays,
    year: Field,
    month: Field,
    day: Field,
    /// `day` counts from the end of the month, 1 is the last day.
    from_end: bool,
    hour: Field,
    minute: Field,
    second: Field,
    zone: Zone,
}

/// Why a text is no calendar: one lower-case sentence that repeats at most a word of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotACalendar(pub String);

impl FromStr for Calendar {
    type Err = NotACalendar;

    fn from_str(text: &str) -> Result<Self, NotACalendar> {
        if text.len() > TEXT_LEN_MAX {
            return Err(NotACalendar(format!("longer than {TEXT_LEN_MAX} bytes")));
        }
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let zone = take_zone(&mut words).map_err(NotACalendar)?;
        parse(&words, zone).map_err(NotACalendar)
    }
}

/// The zone at the end, if there is one.
pub(super) fn take_zone(words: &mut Vec<&str>) -> Result<Zone, String> {
    let Some(last) = words.last().copied().filter(|_| words.len() > 1) else { return Ok(Zone::local()) };
    if !last.starts_with(|c: char| c.is_ascii_alphabetic()) || Weekdays::begins(last) {
        return Ok(Zone::local());
    }
    let zone = Zone::named(last);
    words.pop();
    zone.ok_or_else(|| format!("this machine knows no time zone `{last}`"))
}

fn parse(words: &[&str], zone: Zone) -> Result<Calendar, String> {
    let mut calendar = Calendar {
        weekdays: Weekdays::ALL,
        year: Field::default(),
        month: Field::default(),
        day: Field::default(),
        from_end: false,
        hour: Field::of(0),
        minute: Field::of(0),
        second: Field::of(0),
        zone,
    };
    if let [word] = words
        && calendar.shorthand(&word.to_ascii_lowercase())
    {
        return Ok(calendar);
    }
    let mut rest = words.iter().copied().peekable();
    if let Some(word) = rest.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
        calendar.weekdays = Weekdays::parse(word)?;
    }
    if let Some(word) = rest.next_if(|word| !word.contains(':')) {
        calendar.date(word)?;
    }
    if let Some(word) = rest.next() {
        calendar.time(word)?;
    }
    match rest.next() {
        None if words.is_empty() => Err("is empty".to_owned()),
        None => Ok(calendar),
        Some(word) => Err(format!("does not know what `{word}` means there")),
    }
}

impl Calendar {
    fn shorthand(&mut self, word: &str) -> bool {
        let months: &[u16] = match word {
            "minutely" => {
                (self.hour, self.minute) = (Field::default(), Field::default());
                return true;
            }
            "hourly" => {
                self.hour = Field::default();
                return true;
            }
            "daily" => return true,
            "weekly" => {
                self.weekdays = Weekdays::parse("Mon").unwrap_or(Weekdays::ALL);
                return true;
            }
            "monthly" => &[],
            "quarterly" => &[1, 4, 7, 10],
            "semiannually" | "semi-annually" | "biannually" | "bi-annually" => &[1, 7],
            "annually" | "yearly" => &[1],
            _ => return false,
        };
        (self.month, self.day) = (Field::list(months), Field::of(1));
        true
    }

    fn date(&mut self, word: &str) -> Result<(), String> {
        let (front, last, from_end) = match word.rsplit_once('~') {
            Some((front, last)) => (front, last, true),
            None => {
                let (front, last) = word
                    .rsplit_once('-')
                    .ok_or_else(|| format!("`{word}` is neither a date (`*-*-01`) nor a time (`09:30`)"))?;
                (front, last, false)
            }
        };
        let (year, month) = front.split_once('-').unwrap_or(("*", front));
        self.year = Field::parse(year, Unit::YEAR)?;
        self.month = Field::parse(month, Unit::MONTH)?;
        self.day = Field::parse(last, Unit::DAY)?;
        self.from_end = from_end && !self.day.is_any();
        Ok(())
    }

    fn time(&mut self, word: &str) -> Result<(), String> {
        let mut parts = word.split(':');
        let (hour, minute) = (parts.next().unwrap_or_default(), parts.next());
        let minute = minute.ok_or_else(|| format!("`{word}` is no time; write `09:30` or `09:30:00`"))?;
        let second = parts.next().unwrap_or("0");
        if parts.next().is_some() {
            return Err(format!("`{word}` is no time; write `09:30` or `09:30:00`"));
        }
        let whole = |part: &str| part.replace("..", "").contains('.');
        if whole(second) {
            return Err("knows no parts of a second".to_owned());
        }
        self.hour = Field::parse(hour, Unit::HOUR)?;
        self.minute = Field::parse(minute, Unit::MINUTE)?;
        self.second = Field::parse(second, Unit::SECOND)?;
        Ok(())
    }

    /// Where its clock hangs.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The first of its moments after `after`; `None` if there is none before the year 2200.
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let start = self.zone.civil(after).with().subsec_nanosecond(0).build().ok()?;
        let mut from = start.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
        for _ in 0..PASSED_OVER_MAX {
            let civil = self.civil_from(from)?;
            let moment = self.zone.moment(civil)?;
            if moment > after {
                return Some(moment);
            }
            // The second time of an hour that comes twice.
            from = civil.checked_add(jiff::SignedDuration::from_secs(1)).ok()?;
        }
        None
    }

    /// The first date and time of at least `from` that fits.
    fn civil_from(&self, from: DateTime) -> Option<DateTime> {
        let mut date = self.date_from(from.date())?;
        if date == from.date() {
            if let Some(time) = self.time_from(from.time()) {
                return Some(date.to_datetime(time));
            }
            date = self.date_from(date.tomorrow().ok()?)?;
        }
        Some(date.to_datetime(self.time_from(Time::midnight())?))
    }

    fn date_from(&self, from: Date) -> Option<Date> {
        let months = self.month.bits(Unit::MONTH.least, Unit::MONTH.most);
        let from_year = u16::try_from(from.year()).ok()?;
        let mut year = self.year.at_least(from_year, Unit::YEAR.most)?;
        loop {
            let same_year = year == from_year;
            let first_month = if same_year { from.month() } else { 1 };
            for month in ones(months).filter(|month| *month >= first_month) {
                let begin = Date::new(i16::try_from(year).ok()?, month, 1).ok()?;
                let length = u16::try_from(begin.days_in_month()).ok()?;
                let days = match self.from_end {
                    true => self.day.bits_from_end(length),
                    false => self.day.bits(1, length),
                };
                let first_day = if same_year && month == from.month() { from.day() } else { 1 };
                for day in ones(days).filter(|day| *day >= first_day) {
                    let date = begin.with().day(day).build().ok()?;
                    if self.weekdays.has(date.weekday().to_monday_zero_offset()) {
                        return Some(date);
                    }
                }
            }
            year = self.year.at_least(year + 1, Unit::YEAR.most)?;
        }
    }

    fn time_from(&self, from: Time) -> Option<Time> {
        let bits = |field: &Field, unit: Unit| field.bits(unit.least, unit.most);
        let hours = bits(&self.hour, Unit::HOUR);
        let minutes = bits(&self.minute, Unit::MINUTE);
        let seconds = bits(&self.second, Unit::SECOND);
        for hour in ones(hours).filter(|hour| *hour >= from.hour()) {
            let first = if hour == from.hour() { from.minute() } else { 0 };
            for minute in ones(minutes).filter(|minute| *minute >= first) {
                let exact = hour == from.hour() && minute == from.minute();
                let first = if exact { from.second() } else { 0 };
                if let Some(second) = ones(seconds).find(|second| *second >= first) {
                    return Time::new(hour, minute, second, 0).ok();
                }
            }
        }
        None
    }
}

fn ones(bits: u64) -> impl Iterator<Item = i8> {
    (0..64).filter(move |at| bits & (1 << at) != 0)
}

impl fmt::Display for Calendar {
    /// The normal form, as `systemd-analyze calendar` prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joint = if self.from_end { '~' } else { '-' };
        let (year, month, day) = (self.year.shown(4), self.month.shown(2), self.day.shown(2));
        let (hour, minute, second) = (self.hour.shown(2), self.minute.shown(2), self.second.shown(2));
        write!(f, "{}{year}-{month}{joint}{day} {hour}:{minute}:{second}{}", self.weekdays, self.zone)
    }
}

#[cfg(test)]
mod tests;
