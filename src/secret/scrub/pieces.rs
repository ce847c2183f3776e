//! A set of short byte strings and the search for them: one pass over the text, one table look-up per byte.

use std::collections::BTreeSet;
use std::ops::Range;

use zeroize::{Zeroize, Zeroizing};

use crate::model::limits::{SECRET_MASKED_BYTES_MIN, SECRET_PIECE_BYTES};

// The search keeps the last eight bytes in one register.
const _: () = assert!(SECRET_PIECE_BYTES == 8 && SECRET_MASKED_BYTES_MIN >= 1);

/// One bit per hash value; keeps nearly all positions of a harmless text away from the sorted list.
const FILTER_BITS: u32 = 16;

/// Collects patterns.
#[derive(Default)]
pub struct Builder(BTreeSet<(usize, u64)>);

impl Builder {
    /// A pattern of eight or more bytes is found by any eight consecutive ones, a shorter one only whole; under four
    /// bytes it is left out.
    pub fn add(&mut self, pattern: &[u8]) {
        let length = pattern.len().min(SECRET_PIECE_BYTES);
        if length < SECRET_MASKED_BYTES_MIN {
            return;
        }
        for window in pattern.windows(length) {
            let mut key = [0; SECRET_PIECE_BYTES];
            // The newest byte is the highest one, as in the search.
            for (slot, byte) in key.iter_mut().rev().zip(window.iter().rev()) {
                *slot = *byte;
            }
            self.0.insert((length, u64::from_le_bytes(key) >> (8 * (SECRET_PIECE_BYTES - length))));
        }
    }

    /// The finished table.
    pub fn build(mut self) -> Pieces {
        let mut tables: Vec<Table> = Vec::new();
        while let Some((length, key)) = self.0.pop_first() {
            match tables.last_mut() {
                Some(table) if table.length == length => table.keys.push(key),
                _ => tables.push(Table { length, keys: vec![key], filter: Vec::new() }),
            }
        }
        for table in &mut tables {
            table.filter = vec![0; 1 << (FILTER_BITS - 6)];
            for &key in &table.keys {
                let (word, bit) = filter_place(key);
                if let Some(word) = table.filter.get_mut(word) {
                    *word |= bit;
                }
            }
        }
        Pieces(tables)
    }
}

/// Byte strings of up to eight bytes.
#[derive(Default)]
pub struct Pieces(Vec<Table>);

struct Table {
    length: usize,
    /// Sorted.
    keys: Vec<u64>,
    filter: Vec<u64>,
}

impl Drop for Table {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

impl Pieces {
    /// Hands out every place where one of the strings stands; places overlap, in order of their ends.
    pub fn find(&self, text: &[u8], mut found: impl FnMut(Range<usize>)) {
        // Holds text that may be secret.
        let mut last = Zeroizing::new(0u64);
        for (at, &byte) in text.iter().enumerate() {
            *last = (*last >> 8) | (u64::from(byte) << 56);
            for table in &self.0 {
                let end = at + 1;
                if end < table.length {
                    continue;
                }
                let key = *last >> (8 * (SECRET_PIECE_BYTES - table.length));
                let (word, bit) = filter_place(key);
                let maybe = table.filter.get(word).is_some_and(|word| word & bit != 0);
                if maybe && table.keys.binary_search(&key).is_ok() {
                    found(end - table.length..end);
                }
            }
        }
    }
}

fn filter_place(key: u64) -> (usize, u64) {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FILTER_BITS);
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], text: &str, expected: &[&str]) {
        let mut builder = Builder::default();
        patterns.iter().for_each(|pattern| builder.add(pattern.as_bytes()));
        let mut found = Vec::new();
        builder.build().find(text.as_bytes(), |span| found.push(&text[span]));
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_any_eight_consecutive_bytes() {
        check(&["0123456789"], "x23456789y 1234567", &["23456789"]);
        check(&["0123456789"], "0123456789", &["01234567", "12345678", "23456789"]);
    }

    #[test]
    fn finds_short_ones_only_whole() {
        check(&["abcd", "abcdefg"], "abc abcd abcdef abcdefg", &["abcd", "abcd", "abcd", "abcdefg"]);
        check(&["abc"], "abcabc", &[]);
    }

    #[test]
    fn zero_bytes_in_the_text_are_not_the_start_of_it() {
        check(&["\0\0\0\0abcd"], "abcd", &[]);
        check(&["\0\0\0\0abcd"], "\0\0\0\0abcd", &["\0\0\0\0abcd"]);
    }
}
