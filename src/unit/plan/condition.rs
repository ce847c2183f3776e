//! What must hold on this machine for a unit to take part.

use std::fmt;
use std::path::PathBuf;

use super::{Place, UnitName};

/// Something that must hold on this machine for a unit to take part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// What is asked.
    pub test: ConditionTest,
    /// It must not hold (`"!…"`).
    pub negated: bool,
    /// From `[assert]`: where it does not hold, that is an error rather than a quiet "not here".
    pub assert: bool,
    /// Where it stands.
    pub place: Place,
}

/// What a condition asks of this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionTest {
    /// The file or directory is there.
    PathExists(PathBuf),
    /// The program is found under the service's PATH.
    CommandExists(String),
    /// The secret store has it.
    SecretExists(String),
    /// The daemon's environment has the variable.
    EnvSet(String),
    /// `linux`, `macos`.
    Os(String),
    /// The machine's name, or a glob.
    Host(String),
    /// There is a way out of this machine.
    Network(bool),
    /// Another unit is on.
    Active(UnitName),
}

impl ConditionTest {
    /// The key in `[condition]` and `[assert]`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::PathExists(_) => "path_exists",
            Self::CommandExists(_) => "command_exists",
            Self::SecretExists(_) => "secret_exists",
            Self::EnvSet(_) => "env_set",
            Self::Os(_) => "os",
            Self::Host(_) => "host",
            Self::Network(_) => "network",
            Self::Active(_) => "active",
        }
    }
}

impl fmt::Display for Condition {
    /// As it stands in a unit file: `path_exists = "!/etc/x"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match &self.test {
            ConditionTest::PathExists(path) => path.display().to_string(),
            ConditionTest::CommandExists(name)
            | ConditionTest::SecretExists(name)
            | ConditionTest::EnvSet(name)
            | ConditionTest::Os(name)
            | ConditionTest::Host(name) => name.clone(),
            ConditionTest::Network(up) => return write!(f, "network = {}", up != &self.negated),
            ConditionTest::Active(unit) => unit.to_string(),
        };
        write!(f, "{} = \"{}{value}\"", self.test.key(), if self.negated { "!" } else { "" })
    }
}
