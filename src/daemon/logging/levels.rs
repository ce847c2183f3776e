//! Which events count: a filter from the unit files or the command line, and what was changed by hand for a while.

use std::time::Duration;

use crate::model::log_filter::{LogFilter, LogLevel};
use crate::model::time::Timestamp;

/// A change by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// Of this unit only.
    pub unit: Option<String>,
    /// What counts; a unit takes the level of all.
    pub filter: LogFilter,
    /// Until then; else until the daemon ends.
    pub until: Option<Timestamp>,
}

/// What is logged now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhatIsLogged {
    /// By the unit files, or the command line.
    pub usual: LogFilter,
    /// By hand; the newest last. At most one a unit.
    pub by_hand: Vec<Temporary>,
}

/// Changes by hand at once; one a unit, and nobody watches more.
const BY_HAND_LEN_MAX: usize = 64;

impl WhatIsLogged {
    /// Changes a unit, or all that has no level of its own. `None`: back to the usual.
    pub fn set(&mut self, unit: Option<&str>, filter: Option<LogFilter>, until: Option<Timestamp>) {
        self.by_hand.retain(|change| change.unit.as_deref() != unit);
        if let Some(filter) = filter {
            if self.by_hand.len() == BY_HAND_LEN_MAX {
                self.by_hand.remove(0);
            }
            self.by_hand.push(Temporary { unit: unit.map(str::to_owned), filter, until });
        }
    }

    /// Takes back what has run out; `true` if anything had.
    pub fn expire(&mut self, now: Timestamp) -> bool {
        let before = self.by_hand.len();
        self.by_hand.retain(|change| change.until.is_none_or(|until| until > now));
        self.by_hand.len() != before
    }

    /// When the next change runs out.
    pub fn next_end(&self) -> Option<Timestamp> {
        self.by_hand.iter().filter_map(|change| change.until).min()
    }

    /// An event of this level and place counts.
    pub fn counts(&self, level: LogLevel, target: &str, unit: Option<&str>) -> bool {
        let of_unit = unit.and_then(|unit| self.of_unit(unit));
        level <= of_unit.unwrap_or_else(|| self.general().of_target(target))
    }

    /// An event of this level and place may count, whatever its unit is.
    pub fn may_count(&self, level: LogLevel, target: &str) -> bool {
        let units = self.by_hand.iter().filter(|change| change.unit.is_some());
        let by_hand = units.map(|change| change.filter.most()).max();
        let most = [
            Some(self.general().of_target(target)),
            self.general().most_of_units(),
            self.usual.most_of_units(),
            by_hand,
        ];
        most.into_iter().flatten().max().is_some_and(|most| level <= most)
    }

    /// The most talkative level there is.
    pub fn most(&self) -> LogLevel {
        self.by_hand.iter().map(|change| change.filter.most()).fold(self.usual.most(), LogLevel::max)
    }

    /// Whether a person asked for this much, so that it is not bounded: anything beyond the default level.
    pub fn is_asked_for(level: LogLevel) -> bool {
        level > LogLevel::Info
    }

    fn general(&self) -> &LogFilter {
        let by_hand = self.by_hand.iter().rev().find(|change| change.unit.is_none());
        by_hand.map_or(&self.usual, |change| &change.filter)
    }

    fn of_unit(&self, unit: &str) -> Option<LogLevel> {
        let by_hand = self.by_hand.iter().rev().find(|change| change.unit.as_deref() == Some(unit));
        by_hand
            .map(|change| change.filter.of_target(""))
            .or_else(|| self.general().of_unit(unit))
            .or_else(|| self.usual.of_unit(unit))
    }
}

/// A change by hand lasts at most so long; beyond, it is a setting.
pub const FOR_MAX: Duration = Duration::from_secs(30 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(logged: &WhatIsLogged, level: LogLevel, unit: Option<&str>, expected: bool) {
        assert_eq!(logged.counts(level, "workagent::runtime", unit), expected, "{level} of {unit:?}");
        // The coarse look lets through whatever the fine one may.
        assert!(!expected || logged.may_count(level, "workagent::runtime"));
    }

    #[test]
    fn a_unit_by_hand_goes_before_its_setting_and_that_before_all() {
        let usual = "info,a.connector=debug".parse().unwrap();
        let mut logged = WhatIsLogged { usual, by_hand: Vec::new() };
        check(&logged, LogLevel::Debug, None, false);
        check(&logged, LogLevel::Debug, Some("a.connector"), true);
        logged.set(Some("b.engine"), Some("trace".parse().unwrap()), Some(Timestamp(50)));
        check(&logged, LogLevel::Trace, Some("b.engine"), true);
        check(&logged, LogLevel::Trace, Some("a.connector"), false);
        logged.set(Some("a.connector"), Some("error".parse().unwrap()), None);
        check(&logged, LogLevel::Info, Some("a.connector"), false);
        logged.set(None, Some("warn".parse().unwrap()), None);
        check(&logged, LogLevel::Info, None, false);
        check(&logged, LogLevel::Trace, Some("b.engine"), true);
    }

    #[test]
    fn it_goes_back_by_itself() {
        let mut logged = WhatIsLogged::default();
        logged.set(Some("b.engine"), Some("trace".parse().unwrap()), Some(Timestamp(50)));
        assert_eq!(logged.next_end(), Some(Timestamp(50)));
        assert!(!logged.expire(Timestamp(49)));
        assert!(logged.expire(Timestamp(50)));
        assert_eq!(logged, WhatIsLogged::default());
    }
}
