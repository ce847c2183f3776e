//! What is logged: a level for all, others for parts of the program and for single units. One grammar for `[log] level`,
//! `run --log` and `workagent log-level`: `info,inbox.connector=debug,workagent::store=trace`.

use std::fmt;
use std::str::FromStr;

/// How much is said. The order is that of talkativeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Only what failed.
    Error,
    /// And what a person should know.
    Warn,
    /// And what happened.
    #[default]
    Info,
    /// And how it came about.
    Debug,
    /// And every step.
    Trace,
}

impl LogLevel {
    /// All of them, quietest first.
    pub const ALL: [Self; 6] = [Self::Off, Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// The stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for LogLevel {
    type Err = BadLogFilter;

    fn from_str(text: &str) -> Result<Self, BadLogFilter> {
        let same = |level: &Self| level.word().eq_ignore_ascii_case(text.trim());
        Self::ALL.into_iter().find(same).ok_or(BadLogFilter)
    }
}

/// Not a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a level (off, error, warn, info, debug, trace), nor a list such as `info,inbox.connector=debug,\
     workagent::store=trace`"
)]
pub struct BadLogFilter;

/// Levels by unit and by part of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    all: LogLevel,
    /// By the beginning of the module path, the longest first.
    targets: Vec<(String, LogLevel)>,
    /// By the unit's full name, sorted.
    units: Vec<(String, LogLevel)>,
}

/// Entries of one filter; more is no filter that a person wrote.
const ENTRIES_LEN_MAX: usize = 256;

impl LogFilter {
    /// The level of what belongs to no unit with one of its own.
    #[must_use]
    pub fn of_target(&self, target: &str) -> LogLevel {
        let found = self.targets.iter().find(|(begin, _)| target.starts_with(begin.as_str()));
        found.map_or(self.all, |(_, level)| *level)
    }

    /// The level of a unit, where one is set.
    #[must_use]
    pub fn of_unit(&self, unit: &str) -> Option<LogLevel> {
        self.units.iter().find(|(name, _)| name == unit).map(|(_, level)| *level)
    }

    /// The most talkative level that a unit has of its own.
    #[must_use]
    pub fn most_of_units(&self) -> Option<LogLevel> {
        self.units.iter().map(|(_, level)| *level).max()
    }

    /// The most talkative level of all.
    #[must_use]
    pub fn most(&self) -> LogLevel {
        let set = self.targets.iter().chain(&self.units).map(|(_, level)| *level);
        set.fold(self.all, LogLevel::max)
    }

    /// Sets the level of a unit.
    pub fn set_unit(&mut self, unit: &str, level: LogLevel) {
        self.units.retain(|(name, _)| name != unit);
        self.units.push((unit.to_owned(), level));
        self.units.sort();
    }
}

impl FromStr for LogFilter {
    type Err = BadLogFilter;

    fn from_str(text: &str) -> Result<Self, BadLogFilter> {
        let mut filter = Self::default();
        for (nth, entry) in text.split(',').map(str::trim).enumerate() {
            if nth == ENTRIES_LEN_MAX {
                return Err(BadLogFilter);
            }
            let Some((name, level)) = entry.split_once('=') else {
                filter.all = entry.parse()?;
                continue;
            };
            let (name, level) = (name.trim(), level.parse()?);
            let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | ':');
            if name.is_empty() || !name.chars().all(of_name) {
                return Err(BadLogFilter);
            }
            // No module path has a dot, no unit goes without one.
            if name.contains('.') {
                filter.set_unit(name, level);
            } else {
                filter.targets.push((name.to_owned(), level));
            }
        }
        filter.targets.sort_by_key(|(begin, _)| std::cmp::Reverse(begin.len()));
        Ok(filter)
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.all)?;
        for (name, level) in self.units.iter().chain(&self.targets) {
            write!(f, ",{name}={level}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        assert_eq!(
            text.parse::<LogFilter>().map(|filter| filter.to_string()),
            Ok(shown.to_owned()),
            "{text}"
        );
    }

    #[test]
    fn filters_in_normal_form() {
        check("info", "info");
        check("DEBUG", "debug");
        check("info, workagent::store=trace,hyper=warn", "info,workagent::store=trace,hyper=warn");
        check("b.engine=warn,a@x.connector=debug", "info,a@x.connector=debug,b.engine=warn");
        check("workagent=debug", "info,workagent=debug");
    }

    #[test]
    fn what_is_no_filter() {
        for text in ["", "loud", "workagent=loud", "=info", "info,,warn", "a b=info", "a=info=debug"] {
            assert_eq!(text.parse::<LogFilter>(), Err(BadLogFilter), "{text}");
        }
    }

    #[test]
    fn the_longest_beginning_counts() {
        let filter: LogFilter =
            "warn,workagent=info,workagent::store=trace,inbox.connector=off".parse().unwrap();
        let of = |target| filter.of_target(target).word();
        assert_eq!(
            [of("workagent::store::writer"), of("workagent::cli"), of("hyper")],
            ["trace", "info", "warn"]
        );
        assert_eq!(filter.of_unit("inbox.connector"), Some(LogLevel::Off));
        assert_eq!((filter.of_unit("other.connector"), filter.most()), (None, LogLevel::Trace));
    }
}
