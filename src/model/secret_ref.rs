//! Secret references: names that stand in units for bytes in the store.

use std::fmt;

/// A name in a unit, never the bytes: `{ secret = "mail/work" }` or `{ env = "NAME" }`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SecretRef {
    /// An entry of the secret store.
    Stored(String),
    /// A variable of the daemon's own environment.
    Env(String),
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(name) => f.write_str(name),
            Self::Env(name) => write!(f, "${name}"),
        }
    }
}
