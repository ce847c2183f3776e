//! Names of stored secrets.

use super::SetError;

/// Names are shown everywhere and typed on command lines.
const NAME_BYTES_MAX: usize = 128;

/// `mail/work`, `github/me@example.org`: ASCII letters, digits and `._-+@/`, at most 128 bytes, not starting or ending
/// with a slash.
///
/// # Errors
/// [`SetError::Refused`]. The text is not repeated: what was typed in place of a name may be the value.
pub fn check(name: &str) -> Result<(), SetError> {
    let refuse =
        |why: &str| Err(SetError::Refused { why: format!("that is not a name for a secret: {why}") });
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return refuse("it has 1 to 128 characters");
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-+@/".contains(&byte)) {
        return refuse("it has letters, digits and . _ - + @ / only");
    }
    if name.starts_with(['/', '-']) || name.ends_with('/') {
        return refuse("it does not begin with a slash or a dash, nor end with a slash");
    }
    if !crate::model::token_shape::spans(name).is_empty() {
        return refuse("it looks like a secret itself");
    }
    Ok(())
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
