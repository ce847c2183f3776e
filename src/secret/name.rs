//! Names of stored secrets.

use super::SetError;
use crate::model::secret_ref::name_problem;

/// Takes what units may refer to, see [`name_problem`].
///
/// # Errors
/// [`SetError::Refused`]. The text is not repeated: what was typed in place of a name may be the value.
pub fn check(name: &str) -> Result<(), SetError> {
    match name_problem(name) {
        None => Ok(()),
        Some(why) => Err(SetError::Refused { why: format!("that is not a name for a secret: {why}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_look_like_paths() {
        for name in ["mail/work", "github/me@example.org", "a", "feed-1.key_x+y"] {
            assert!(check(name).is_ok(), "{name}");
        }
        let long = "x".repeat(129);
        for name in ["", "/a", "a/", "-a", "a b", "a\nb", "ä", &long, "ghp_CANARYq7Zk3mB9xT2vR8"] {
            let error = check(name).unwrap_err().to_string();
            assert!(name.len() < 3 || !error.contains(name), "{error}");
        }
    }
}
