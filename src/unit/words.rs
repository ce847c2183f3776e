//! Words of messages: foreign text made showable, the closest match.

use crate::diag::mask;
use crate::model::text;

/// Longest foreign word in a message.
const SHOWN_BYTES_MAX: usize = 80;

/// Foreign text for a message: one line, cut, and never a token.
pub(crate) fn shown(foreign: &str) -> String {
    if mask::looks_secret(foreign) {
        return "…".to_owned();
    }
    let line = text::one_line(foreign, SHOWN_BYTES_MAX);
    if line.len() < foreign.trim().len() && line.len() + 4 > SHOWN_BYTES_MAX {
        return format!("{line}…");
    }
    line
}

/// The candidate that was most likely meant, if one is near enough: at most one slip in three letters.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Guards the quadratic distance against a key of megabytes.
    if word.len() > SHOWN_BYTES_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let folded = candidate.to_lowercase();
        let distance = if folded.replace('_', "-") == word.replace('_', "-") {
            0
        } else {
            strsim::damerau_levenshtein(&word, &folded)
        };
        let near = distance <= (word.chars().count().max(folded.chars().count()) / 3).max(1);
        let long_enough = word.chars().count() > 1 || distance == 0;
        if near && long_enough && best.is_none_or(|(least, held)| (distance, candidate) < (least, held)) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// "`a`, `b` or `c`".
pub(crate) fn any_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    joined(words, "or")
}

/// "`a`, `b` and `c`".
pub(crate) fn all_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    joined(words, "and")
}

fn joined<'a>(words: impl IntoIterator<Item = &'a str>, last_joint: &str) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {last_joint} {last}", rest.join(", ")),
    }
}

/// "1 file", "3 files".
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_word_must_be_near() {
        let keys = ["every", "engine", "engines", "host"];
        assert_eq!(closest("evry", keys), Some("every"));
        assert_eq!(closest("enignes", keys), Some("engines"));
        assert_eq!(closest("Host", keys), Some("host"));
        assert_eq!(closest("poll", keys), None);
        assert_eq!(closest("x", keys), None);
    }

    #[test]
    fn tokens_and_control_characters_are_not_shown() {
        assert_eq!(shown("ghp_0123456789abcdefghij0123456789abcdef"), "…");
        assert_eq!(shown("a\u{1b}[31m\nb"), "a[31m b");
    }
}
