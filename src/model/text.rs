//! Small text helpers that several rooms need: cleaning foreign text, cutting, hex.

use std::fmt::Write as _;

/// Removes control characters (C0 but tab and newline, DEL, C1), and turns CRLF and lone CR into newline.
///
/// Guards SQLite text columns, terminals and engines: parsers pass NUL and U+000B through.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Text as a person sees it: [`clean`], and without characters that show nothing or turn others around (zero width,
/// bidi controls, tags). Joiners stay: scripts and emoji need them. What leaves in a person's name is what they saw.
#[must_use]
pub fn visible(text: &str) -> String {
    let unseen = |c: &char| {
        matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    clean(text).chars().filter(|c| !unseen(c)).collect()
}

/// One clean line: controls and runs of white space become one blank; at most `bytes_max`.
#[must_use]
pub fn one_line(text: &str, bytes_max: usize) -> String {
    let joined = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&joined, bytes_max).to_owned()
}

/// The longest prefix of at most `bytes_max` bytes that ends on a character.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// SHA-256 of some parts in 64 hex digits; lengths go in front, so parts cannot run together.
#[must_use]
pub fn digest(parts: &[&[u8]]) -> String {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// A byte count for people: `30 MB`, `64 KB`, `12 B`.
#[must_use]
pub fn short_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KB", bytes / 1024),
        _ => format!("{} MB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_controls_and_line_ends() {
        assert_eq!(clean("a\r\nb\rc\0\u{b}d\te"), "a\nb\ncd\te");
    }

    #[test]
    fn what_is_visible_is_what_there_is() {
        assert_eq!(
            visible("a\u{202e}b\u{9b}31m\u{200b}\u{1f468}\u{200d}\u{1f469}"),
            "ab31m\u{1f468}\u{200d}\u{1f469}"
        );
    }

    #[test]
    fn cuts_on_characters() {
        assert_eq!(cut("aß", 2), "a");
        assert_eq!(cut("aß", 3), "aß");
    }

    #[test]
    fn one_line_folds_white_space() {
        assert_eq!(one_line("  Re:\r\n\t plan\u{0} ", 100), "Re: plan");
    }

    #[test]
    fn digest_parts_do_not_run_together() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}
