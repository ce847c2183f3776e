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

/// Names are shown everywhere and typed on command lines.
const NAME_BYTES_MAX: usize = 128;

/// What is wrong with the name of a stored secret, if anything. `mail/work`, `github/me@example.org`: ASCII letters,
/// digits and `._-+@/`, at most 128 bytes. The answer never repeats the text: what was typed in place of a name may be
/// the value.
#[must_use]
pub fn name_problem(name: &str) -> Option<&'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+@/".contains(&byte);
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        Some("it has 1 to 128 characters")
    } else if !name.bytes().all(allowed) {
        Some("it has letters, digits and . _ - + @ / only")
    } else if name.starts_with(['/', '-']) || name.ends_with('/') {
        Some("it does not begin with a slash or a dash, nor end with a slash")
    } else if !super::token_shape::spans(name).is_empty() {
        Some("it looks like a secret itself")
    } else {
        None
    }
}
