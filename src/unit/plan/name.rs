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
