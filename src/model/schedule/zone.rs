//! Time zones: a named one, or the one this machine is in.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::model::time::Timestamp;

/// Longest name of a zone; the longest there is has 32 letters.
const NAME_LEN_MAX: usize = 64;

/// A time zone. Equal when the names are.
#[derive(Clone, Debug)]
pub struct Zone(Option<(String, TimeZone)>);

impl Zone {
    /// Where this machine is; asked anew each time, because laptops travel.
    #[must_use]
    pub fn local() -> Self {
        Self(None)
    }

    /// `UTC`, or a name of the time zone database as this machine has it, in any case of letters.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utc") {
            return Some(Self(Some(("UTC".to_owned(), TimeZone::UTC))));
        }
        let fits = name.len() <= NAME_LEN_MAX
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "/_+-".contains(c));
        let zone = TimeZone::get(name).ok().filter(|_| fits)?;
        let name = zone.iana_name().unwrap_or(name).to_owned();
        Some(Self(Some((name, zone))))
    }

    /// Its name; `None` for the machine's own.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.as_ref().map(|(name, _)| name.as_str())
    }

    /// The date and time of day there.
    pub(super) fn civil(&self, at: Timestamp) -> DateTime {
        self.get().to_datetime(jiff::Timestamp::from_millisecond(at.0).unwrap_or_default())
    }

    /// When a clock there shows this. In the hour that is left out in spring: the moment after it. In the hour that
    /// comes twice in autumn: the first time.
    pub(super) fn moment(&self, civil: DateTime) -> Option<Timestamp> {
        let zone = self.get();
        let at = match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok()?,
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil).ok()?,
            AmbiguousOffset::Gap { after, .. } => {
                let shortly_before = after.to_timestamp(civil).ok()?;
                zone.following(shortly_before).next()?.timestamp()
            }
        };
        Some(Timestamp(at.as_millisecond()))
    }

    /// The second time, where a clock shows this twice.
    pub(super) fn moment_again(&self, civil: DateTime) -> Option<Timestamp> {
        match self.get().to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Fold { after, .. } => {
                Some(Timestamp(after.to_timestamp(civil).ok()?.as_millisecond()))
            }
            _ => None,
        }
    }

    /// For people: `Mon 2026-11-30 09:00 CET`.
    #[must_use]
    pub fn shown(&self, at: Timestamp) -> String {
        let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
        at.to_zoned_datetime(self.get()).strftime("%a %Y-%m-%d %H:%M %Z").to_string()
    }

    /// The date (`2026-11-30`), the time (`09:00`), the weekday and the week's number there.
    #[must_use]
    pub fn parts(&self, at: Timestamp) -> [String; 4] {
        let civil = self.civil(at);
        ["%Y-%m-%d", "%H:%M", "%A", "%V"].map(|format| civil.strftime(format).to_string())
    }

    fn get(&self) -> TimeZone {
        match &self.0 {
            Some((_, zone)) => zone.clone(),
            None => TimeZone::system(),
        }
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Zone {}

impl fmt::Display for Zone {
    /// With a blank in front; nothing for the machine's own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().map_or(Ok(()), |name| write!(f, " {name}"))
    }
}
