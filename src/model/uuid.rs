//! Identifiers in UUID form for platforms that let the client choose the id of what it makes.

use super::text::{digest, hex};

/// A UUID of the shape of version 4 (RFC 9562 section 5.4), always the same for the same parts: the id of an action's
/// effect, fixed before the first try and found again after a crash.
#[must_use]
pub fn uuid_of(parts: &[&str]) -> String {
    use sha2::{Digest, Sha256};
    let all = digest(&parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>());
    let mut bytes: [u8; 32] = Sha256::digest(all.as_bytes()).into();
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut bytes;
    *version = (*version & 0x0f) | 0x40;
    *variant = (*variant & 0x3f) | 0x80;
    let text = hex(&bytes);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_shape_and_is_the_same_each_time() {
        let id = uuid_of(&["comment", "wa-7-0123456789abcdef"]);
        assert_eq!(id, uuid_of(&["comment", "wa-7-0123456789abcdef"]));
        assert_ne!(id, uuid_of(&["commentw", "a-7-0123456789abcdef"]));
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&id[14..15], "4");
        assert!("89ab".contains(&id[19..20]), "{id}");
    }
}
