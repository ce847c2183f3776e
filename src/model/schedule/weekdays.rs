//! Days of the week: `Mon..Fri`, `Sat,Sun`.

use std::fmt;

const NAMES: [(&str, &str); 7] = [
    ("Mon", "Monday"),
    ("Tue", "Tuesday"),
    ("Wed", "Wednesday"),
    ("Thu", "Thursday"),
    ("Fri", "Friday"),
    ("Sat", "Saturday"),
    ("Sun", "Sunday"),
];

/// A set of days, bit 0 is Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weekdays(u8);

impl Weekdays {
    /// All seven.
    pub const ALL: Self = Self(0x7f);

    /// A comma list of days and ranges, `Mon..Fri,Sun`; also `Mon-Fri`, and a comma at the end, as systemd has it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut days = 0;
        let parts: Vec<&str> = text.split(',').collect();
        for (position, part) in parts.iter().enumerate() {
            if part.is_empty() && position > 0 && position + 1 == parts.len() {
                break;
            }
            let range = part.split_once("..").or_else(|| part.split_once('-'));
            let (first, last) = match range {
                Some((first, last)) => (day(first)?, day(last)?),
                None => (day(part)?, day(part)?),
            };
            if first > last {
                return Err(format!(
                    "the days in `{part}` run backwards; a week begins on Monday: write two ranges with a comma"
                ));
            }
            days |= (first..=last).fold(0, |days, day| days | 1 << day);
        }
        Ok(Self(days))
    }

    /// Whether a day is one of them; 0 is Monday.
    pub fn has(self, day: i8) -> bool {
        self.0 & (1 << day.rem_euclid(7)) != 0
    }

    /// It begins like a list of days.
    pub fn begins(word: &str) -> bool {
        let letters = word.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        day(letters).is_ok()
    }
}

fn day(name: &str) -> Result<u8, String> {
    let is =
        |(short, long): &(&str, &str)| name.eq_ignore_ascii_case(short) || name.eq_ignore_ascii_case(long);
    let found = NAMES.iter().position(is).and_then(|at| u8::try_from(at).ok());
    found.ok_or_else(|| format!("`{name}` is no day of the week"))
}

impl fmt::Display for Weekdays {
    /// Runs of three and more as a range; a blank behind; nothing for all seven.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return Ok(());
        }
        let mut texts: Vec<String> = Vec::new();
        let mut begin = 0;
        while begin < 7 {
            let length = (begin..7).take_while(|day| self.has(*day)).count();
            let end = begin + i8::try_from(length).unwrap_or(0);
            let name = |at: i8| NAMES.get(usize::try_from(at).unwrap_or(0)).map_or("", |(short, _)| short);
            if length >= 3 {
                texts.push(format!("{}..{}", name(begin), name(end - 1)));
            } else {
                texts.extend((begin..end).map(|day| name(day).to_owned()));
            }
            begin = end + 1;
        }
        write!(f, "{} ", texts.join(","))
    }
}
