//! Secret values: the bytes, never shown.

use std::fmt;

use zeroize::Zeroizing;

use crate::model::text::digest;

/// The bytes of a secret. No `Display`, no `Serialize`; `Debug` shows nothing; wiped when dropped.
#[derive(Clone)]
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// Takes a value; a trailing newline (files, prompts) is not part of it.
    #[must_use]
    pub fn new(text: String) -> Self {
        let text = Zeroizing::new(text);
        Self(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// The bytes, for the request or child environment they are meant for and nothing else.
    #[must_use]
    pub fn expose_to_the_wire(&self) -> &str {
        &self.0
    }

    /// Nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A digest, to tell whether a value is another one now.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        digest(&[self.0.as_bytes()])
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", SecretValue::new("canary-1".into())), "SecretValue(…)");
    }

    #[test]
    fn a_trailing_newline_is_not_part_of_it() {
        assert_eq!(SecretValue::new("abc\r\n".into()).expose_to_the_wire(), "abc");
    }
}
