//! Bytes nobody can guess: marks of child trees, fences in prompts, codes.

use std::hash::{BuildHasher, RandomState};

use crate::model::text::hex;

/// Random bytes.
#[must_use]
pub fn random_bytes() -> [u8; 32] {
    let mut bytes = [0_u8; 32];
    if getrandom::fill(&mut bytes).is_err() {
        // Only a kernel without a random source comes here; the hasher's keys are the next best thing it has.
        for (nth, chunk) in bytes.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&RandomState::new().hash_one(nth).to_ne_bytes());
        }
    }
    bytes
}

/// `digits` random hexadecimal digits, at most 64.
#[must_use]
pub fn random_hex(digits: usize) -> String {
    let mut text = hex(&random_bytes());
    text.truncate(digits);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_length_and_differs() {
        assert_eq!(random_hex(16).len(), 16);
        assert_ne!(random_hex(16), random_hex(16));
    }
}
