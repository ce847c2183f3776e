//! The bound on what is written: the same warning or error is counted and not repeated, and no unit writes more than
//! [`LOG_UNIT_BYTES_PER_HOUR_MAX`] an hour. One place for all: a loop that fails must not fill a disk, whoever wrote it.
//!
//! What a person asked for (debug, trace) is not bounded here: it ends with the asking.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::fields::Fields;
use crate::model::limits::{LOG_REPEATS_LEN_MAX, LOG_UNIT_BYTES_PER_HOUR_MAX};
use crate::model::log_filter::LogLevel;
use crate::model::time::Timestamp;

/// Counted over so long.
const WINDOW: Duration = Duration::from_secs(3600);

/// Texts that differ in numbers only are said this often in a window: a budget at 80 % and at 100 % are two things, a
/// port or a time in an error are not.
const VARIANTS_MAX: usize = 5;

/// Fields by which two events are about different things.
const TELLING: [&str; 6] = ["case", "run", "action", "draft", "connector", "engine"];

/// What becomes of an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is written.
    Write,
    /// It is written, and so many like it were left out before.
    WriteAfter(u64),
    /// It is written, and for the rest of the hour nothing more of this unit.
    WriteAsLast,
    /// It is counted.
    Count,
}

/// What was left out and is told of now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Of what.
    pub unit: Option<String>,
    /// The level of what was left out.
    pub level: LogLevel,
    /// How often.
    pub times: u64,
    /// The text that was repeated; `None`: the unit wrote more than it may.
    pub message: Option<String>,
}

/// What was said and how much.
#[derive(Debug, Default)]
pub struct Volume {
    said: BTreeMap<u64, Said>,
    units: BTreeMap<String, Spent>,
}

#[derive(Debug)]
struct Said {
    since: Timestamp,
    variants: Vec<u64>,
    left_out: u64,
    unit: Option<String>,
    level: LogLevel,
    message: String,
}

#[derive(Debug)]
struct Spent {
    since: Timestamp,
    bytes: u64,
    left_out: u64,
}

impl Volume {
    /// An event of about so many bytes.
    pub fn judge(
        &mut self,
        level: LogLevel,
        target: &str,
        fields: &Fields,
        bytes: u64,
        now: Timestamp,
    ) -> Verdict {
        if level > LogLevel::Info {
            return Verdict::Write;
        }
        let before = match self.repeats(level, target, fields, now) {
            Some(before) => before,
            None => return Verdict::Count,
        };
        let unit = fields.get("unit").unwrap_or_default();
        if !self.units.contains_key(unit) && self.units.len() >= LOG_REPEATS_LEN_MAX {
            self.units.retain(|_, spent| now.since(spent.since) < WINDOW);
        }
        let spent = self.units.entry(unit.to_owned()).or_insert(Spent { since: now, bytes: 0, left_out: 0 });
        if now.since(spent.since) >= WINDOW && spent.left_out == 0 {
            *spent = Spent { since: now, bytes: 0, left_out: 0 };
        }
        if spent.bytes >= LOG_UNIT_BYTES_PER_HOUR_MAX {
            spent.left_out += 1;
            return Verdict::Count;
        }
        spent.bytes += bytes;
        match before {
            _ if spent.bytes >= LOG_UNIT_BYTES_PER_HOUR_MAX => Verdict::WriteAsLast,
            0 => Verdict::Write,
            times => Verdict::WriteAfter(times),
        }
    }

    /// `None`: said already. Else how many were left out before this one.
    fn repeats(&mut self, level: LogLevel, target: &str, fields: &Fields, now: Timestamp) -> Option<u64> {
        if level > LogLevel::Warn {
            return Some(0);
        }
        let message = fields.get("message").unwrap_or_default();
        let mut alike = DefaultHasher::new();
        (level.word(), target, fields.get("unit")).hash(&mut alike);
        TELLING.iter().for_each(|name| fields.get(name).hash(&mut alike));
        without_numbers(message, &mut alike);
        let alike = alike.finish();
        let mut exact = DefaultHasher::new();
        message.hash(&mut exact);
        let exact = exact.finish();
        if !self.said.contains_key(&alike) && self.said.len() >= LOG_REPEATS_LEN_MAX {
            self.said.retain(|_, said| said.left_out > 0 || now.since(said.since) < WINDOW);
            // A thousand different errors within the hour: the bound on bytes holds them.
            if self.said.len() >= LOG_REPEATS_LEN_MAX {
                return Some(0);
            }
        }
        let young = || Said {
            since: now,
            variants: vec![exact],
            left_out: 0,
            unit: fields.get("unit").map(str::to_owned),
            level,
            message: message.to_owned(),
        };
        let Some(said) = self.said.get_mut(&alike) else {
            self.said.insert(alike, young());
            return Some(0);
        };
        if now.since(said.since) >= WINDOW {
            let before = said.left_out;
            *said = young();
            return Some(before);
        }
        if !said.variants.contains(&exact) && said.variants.len() < VARIANTS_MAX {
            said.variants.push(exact);
            return Some(0);
        }
        said.left_out += 1;
        None
    }

    /// When there is something to tell; `None`: nothing was left out.
    pub fn next_end(&self) -> Option<Timestamp> {
        let said = self.said.values().filter(|said| said.left_out > 0).map(|said| said.since);
        let spent = self.units.values().filter(|spent| spent.left_out > 0).map(|spent| spent.since);
        said.chain(spent).min().map(|since| since.plus(WINDOW))
    }

    /// What was left out in hours that are over (`all`: also in those that are not); forgotten with it.
    pub fn left_out(&mut self, now: Timestamp, all: bool) -> Vec<LeftOut> {
        let over = |since: Timestamp| all || now.since(since) >= WINDOW;
        let mut told = Vec::new();
        self.said.retain(|_, said| {
            if over(said.since) && said.left_out > 0 {
                let message = Some(std::mem::take(&mut said.message));
                told.push(LeftOut {
                    unit: said.unit.take(),
                    level: said.level,
                    times: said.left_out,
                    message,
                });
            }
            !over(said.since)
        });
        self.units.retain(|unit, spent| {
            if over(spent.since) && spent.left_out > 0 {
                let unit = Some(unit.clone()).filter(|unit| !unit.is_empty());
                told.push(LeftOut { unit, level: LogLevel::Warn, times: spent.left_out, message: None });
            }
            !over(spent.since)
        });
        told
    }
}

/// The text with each run of digits as one.
fn without_numbers(text: &str, hasher: &mut impl Hasher) {
    let mut in_number = false;
    for &byte in text.as_bytes() {
        let digit = byte.is_ascii_digit();
        if !digit || !in_number {
            hasher.write_u8(if digit { b'0' } else { byte });
        }
        in_number = digit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        Fields(pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect())
    }

    fn warn(volume: &mut Volume, message: &str, minute: u64) -> Verdict {
        let fields = fields(&[("unit", "a.connector"), ("message", message)]);
        volume.judge(LogLevel::Warn, "t", &fields, 100, Timestamp(0).plus(Duration::from_secs(minute * 60)))
    }

    #[test]
    fn the_same_is_said_once_an_hour_with_a_count() {
        let mut volume = Volume::default();
        assert_eq!(warn(&mut volume, "refused", 0), Verdict::Write);
        for minute in 1..60 {
            assert_eq!(warn(&mut volume, "refused", minute), Verdict::Count);
        }
        assert_eq!(warn(&mut volume, "refused", 60), Verdict::WriteAfter(59));
        assert_eq!(warn(&mut volume, "refused", 61), Verdict::Count);
        assert_eq!(warn(&mut volume, "timed out", 61), Verdict::Write);
    }

    #[test]
    fn numbers_make_few_variants() {
        let mut volume = Volume::default();
        let verdicts: Vec<_> =
            (0..20).map(|port| warn(&mut volume, &format!("no answer from :{port}"), 0)).collect();
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Write).count(), VARIANTS_MAX);
    }

    #[test]
    fn other_cases_are_other_things() {
        let mut volume = Volume::default();
        for case in ["c1", "c2"] {
            let fields = fields(&[("unit", "a.connector"), ("case", case), ("message", "held for you")]);
            assert_eq!(volume.judge(LogLevel::Warn, "t", &fields, 100, Timestamp(0)), Verdict::Write);
        }
    }

    #[test]
    fn what_stopped_is_told_of_at_the_end_of_the_hour() {
        let mut volume = Volume::default();
        for minute in 0..4 {
            warn(&mut volume, "refused", minute);
        }
        let end = Timestamp(0).plus(WINDOW);
        assert_eq!(volume.next_end(), Some(end));
        assert_eq!(volume.left_out(Timestamp(1), false), []);
        let told = volume.left_out(end, false);
        assert_eq!(
            told,
            [LeftOut {
                unit: Some("a.connector".into()),
                level: LogLevel::Warn,
                times: 3,
                message: Some("refused".into())
            }]
        );
        assert_eq!((volume.next_end(), volume.left_out(end, true)), (None, Vec::new()));
    }

    #[test]
    fn no_unit_writes_more_than_it_may() {
        let mut volume = Volume::default();
        let mut say = |nth: u64, unit: &str, level| {
            let fields =
                fields(&[("unit", unit), ("message", &"x".repeat(usize::try_from(nth % 99).unwrap()))]);
            volume.judge(level, "t", &fields, 1024, Timestamp(0))
        };
        let verdicts: Vec<_> = (0..2000).map(|nth| say(nth, "a.connector", LogLevel::Info)).collect();
        let written = verdicts.iter().filter(|verdict| **verdict != Verdict::Count).count() as u64;
        assert_eq!(written, LOG_UNIT_BYTES_PER_HOUR_MAX / 1024);
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::WriteAsLast).count(), 1);
        assert_eq!(say(1, "b.connector", LogLevel::Info), Verdict::Write);
        assert_eq!(say(1, "a.connector", LogLevel::Debug), Verdict::Write);
        let told = volume.left_out(Timestamp(0).plus(WINDOW), false);
        assert_eq!((told.len(), told[0].times, told[0].message.as_deref()), (1, 2000 - written, None));
    }
}
