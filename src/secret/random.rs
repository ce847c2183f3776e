//! Bytes nobody can guess: marks of child trees, fences in prompts.

use std::hash::{BuildHasher, RandomState};

use crate::model::text::hex;

/// `digits` random hexadecimal digits, at most 64.
#[must_use]
pub fn random_hex(digits: usize) -> String {
    let mut bytes = [0_u8; 32];
    if getrandom::fill(&mut bytes).is_err() {
        // Only a kernel without a random source comes here; the hasher's keys are the next best thing it has.
        for (nth, chunk) in bytes.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&RandomState::new().hash_one(nth).to_ne_bytes());
        }
    }
    let mut text = hex(&bytes);
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
