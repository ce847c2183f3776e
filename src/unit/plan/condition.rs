//! What must hold on this machine for a unit to take part.

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
