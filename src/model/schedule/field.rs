//! One field of a calendar expression: `*`, `1,15`, `8..18/2`, `0/15`.

use std::fmt;

/// What a field takes: all, or the values of its pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field(Vec<Piece>);

/// `start`, `start..stop`, `start/step`, `start..stop/step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    start: u16,
    stop: Option<u16>,
    /// 0: none.
    step: u16,
}

/// What a field counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// For messages.
    pub name: &'static str,
    /// Lowest value.
    pub least: u16,
    /// Highest value.
    pub most: u16,
}

impl Unit {
    pub const YEAR: Self = Self { name: "year", least: 1970, most: 2199 };
    pub const MONTH: Self = Self { name: "month", least: 1, most: 12 };
    pub const DAY: Self = Self { name: "day", least: 1, most: 31 };
    pub const HOUR: Self = Self { name: "hour", least: 0, most: 23 };
    pub const MINUTE: Self = Self { name: "minute", least: 0, most: 59 };
    pub const SECOND: Self = Self { name: "second", least: 0, most: 59 };
}

impl Field {
    /// One value.
    pub fn of(value: u16) -> Self {
        Self(vec![Piece { start: value, stop: None, step: 0 }])
    }

    /// Some values.
    pub fn list(values: &[u16]) -> Self {
        Self(values.iter().map(|&start| Piece { start, stop: None, step: 0 }).collect())
    }

    /// Takes everything.
    pub fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// From text, in normal form: sorted, without repeats, ranges cut to what they reach.
    pub fn parse(text: &str, unit: Unit) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::default());
        }
        let mut pieces =
            text.split(',').map(|part| Piece::parse(part, unit)).collect::<Result<Vec<_>, String>>()?;
        pieces.sort_unstable();
        pieces.dedup();
        Ok(Self(pieces))
    }

    /// The values from `least` to `most` as bits; values up to 63.
    pub fn bits(&self, least: u16, most: u16) -> u64 {
        let all = (least..=most).fold(0, |bits, value| bits | 1 << value);
        if self.is_any() {
            return all;
        }
        self.0.iter().flat_map(|piece| piece.values(most)).fold(0, |bits, value| bits | 1 << value) & all
    }

    /// As days counted from the end of a month of so many days, as bits.
    pub fn bits_from_end(&self, days: u16) -> u64 {
        let from_end = |value: u16| i32::from(days) + 1 - i32::from(value);
        let mut bits = 0;
        for piece in &self.0 {
            let first = from_end(piece.stop.unwrap_or(piece.start));
            let last = match piece {
                Piece { stop: Some(_), start, .. } => from_end(*start),
                Piece { step: 0, .. } => first,
                Piece { .. } => i32::from(days),
            };
            let step = usize::from(piece.step.max(1));
            for day in (first..=last).step_by(step).filter(|day| (1..=31).contains(day)) {
                bits |= 1 << day;
            }
        }
        bits
    }

    /// The first value of at least `from`; for values that do not fit into bits.
    pub fn at_least(&self, from: u16, most: u16) -> Option<u16> {
        if self.is_any() {
            return (from <= most).then_some(from);
        }
        self.0.iter().flat_map(|piece| piece.values(most)).filter(|value| *value >= from).min()
    }

    /// With so many digits.
    pub fn shown(&self, digits: usize) -> impl fmt::Display {
        if self.is_any() {
            return "*".to_owned();
        }
        let one = |piece: &Piece| {
            let mut text = format!("{:0digits$}", piece.start);
            if let Some(stop) = piece.stop {
                text.push_str(&format!("..{stop:0digits$}"));
            }
            if piece.step > 1 || (piece.step == 1 && piece.stop.is_none()) {
                text.push_str(&format!("/{}", piece.step));
            }
            text
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(",")
    }
}

impl Piece {
    fn parse(text: &str, unit: Unit) -> Result<Self, String> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(number(step, unit.name)?)),
            None => (text, None),
        };
        if step == Some(0) {
            return Err(format!("`{text}` steps by nothing"));
        }
        let within = |value: u16| {
            // Two digits of a year, as systemd takes them.
            let value = match value {
                0..70 if unit.least == 1970 => value + 2000,
                70..100 if unit.least == 1970 => value + 1900,
                _ => value,
            };
            if (unit.least..=unit.most).contains(&value) {
                return Ok(value);
            }
            Err(format!("there is no {} {value}; it goes from {} to {}", unit.name, unit.least, unit.most))
        };
        let (start, stop) = match range.split_once("..") {
            // Which systemd does not know, but everybody who comes from cron writes.
            None if range == "*" && step.is_some() => (unit.least, None),
            None => (within(number(range, unit.name)?)?, None),
            Some((start, stop)) => {
                (within(number(start, unit.name)?)?, Some(within(number(stop, unit.name)?)?))
            }
        };
        match (stop, step) {
            (Some(stop), _) if stop < start => Err(format!("the range `{text}` runs backwards")),
            (Some(stop), step) => {
                let step = step.unwrap_or(1);
                let stop = stop - (stop - start) % step;
                let single = stop == start;
                Ok(Self { start, stop: (!single).then_some(stop), step: if single { 0 } else { step } })
            }
            (None, Some(step)) if u32::from(start) + u32::from(step) > u32::from(unit.most) => {
                Err(format!("`{text}` never repeats: the last {} is {}", unit.name, unit.most))
            }
            (None, step) => Ok(Self { start, stop: None, step: step.unwrap_or(0) }),
        }
    }

    fn values(self, most: u16) -> impl Iterator<Item = u16> {
        let last = match (self.stop, self.step) {
            (Some(stop), _) => stop,
            (None, 0) => self.start,
            (None, _) => most,
        };
        (self.start..=last).step_by(usize::from(self.step.max(1)))
    }
}

fn number(text: &str, name: &str) -> Result<u16, String> {
    let digits = !text.is_empty() && text.len() <= 4 && text.chars().all(|c| c.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| match text {
        "" => format!("a {name} is missing"),
        _ => format!("`{text}` is no {name}"),
    })
}
