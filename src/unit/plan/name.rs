//! Names of units, their kinds, and places in their files.

use std::fmt;
use std::path::PathBuf;

/// Kind of a unit, from its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Paths, store, limits, logging: `workagent.daemon.toml`.
    Daemon,
    /// A configured account of a platform.
    Connector,
    /// A configured executor.
    Engine,
    /// Environment for child processes.
    Env,
    /// Rule from case to engine.
    Route,
    /// Limits of a runtime.
    Runtime,
    /// Where reviews are announced and decided.
    Channel,
    /// Makes cases by the clock.
    Timer,
    /// Where a secret comes from and when it is replaced.
    Secret,
    /// A set of units that run together.
    Target,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Daemon,
        Self::Connector,
        Self::Engine,
        Self::Env,
        Self::Route,
        Self::Runtime,
        Self::Channel,
        Self::Timer,
        Self::Secret,
        Self::Target,
    ];

    /// The word in file names.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Connector => "connector",
            Self::Engine => "engine",
            Self::Env => "env",
            Self::Route => "route",
            Self::Runtime => "runtime",
            Self::Channel => "channel",
            Self::Timer => "timer",
            Self::Secret => "secret",
            Self::Target => "target",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A unit's full name: `inbox.connector`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitName {
    /// `inbox`, `github@work` for an instance, `github@` for a template.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

impl UnitName {
    /// What stands before the `@`; the whole name where there is none: `github`.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.name.split_once('@').map_or(&self.name, |(prefix, _)| prefix)
    }

    /// What stands behind the `@` of an instance: `work`.
    #[must_use]
    pub fn instance(&self) -> Option<&str> {
        self.name.split_once('@').map(|(_, instance)| instance).filter(|instance| !instance.is_empty())
    }

    /// It never runs by itself, only its instances do: `github@`.
    #[must_use]
    pub fn is_template(&self) -> bool {
        self.name.ends_with('@')
    }

    /// The template of an instance: `github@` of `github@work`.
    #[must_use]
    pub fn template(&self) -> Option<Self> {
        self.instance()?;
        Some(Self { name: format!("{}@", self.prefix()), kind: self.kind })
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.name, self.kind.word())
    }
}

/// A place in a unit file, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file as found on the search path.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_have_a_template_and_nothing_else_has() {
        let unit = |name: &str| UnitName { name: name.to_owned(), kind: Kind::Connector };
        let template = unit("github@work").template();
        assert_eq!(template, Some(unit("github@")));
        assert_eq!((unit("github@work").prefix(), unit("github@work").instance()), ("github", Some("work")));
        assert_eq!((unit("github").prefix(), unit("github").instance()), ("github", None));
        assert!(unit("github@").is_template() && unit("github@").template().is_none());
    }
}
