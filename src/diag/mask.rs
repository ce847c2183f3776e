//! What must not be shown: words that look like tokens, passwords in URLs, values of keys with telling names, and the
//! places that the compiler marked. A line is masked before anyone sees it, whatever the finding is about.

use std::ops::Range;

use crate::model::token_shape;

/// Shortest run of mixed letters and digits that counts as random.
const RANDOM_LEN_MIN: usize = 32;

/// A text that looks like a token, or holds something that does.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    let trimmed = text.trim();
    !token_shape::spans(text).is_empty()
        || (trimmed.len() >= RANDOM_LEN_MIN && trimmed.chars().all(is_token_char) && is_random(trimmed))
}

/// The name of a key or variable says that its value is secret.
#[must_use]
pub fn telling_name(name: &str) -> bool {
    // Keys of units: a choice of words, and a duration.
    if matches!(name, "auth" | "auth_every") {
        return false;
    }
    let name = name.to_ascii_lowercase().replace('-', "_");
    let parts: Vec<&str> = name.split(['_', '.']).collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    has(&[
        "password",
        "passwd",
        "pwd",
        "pass",
        "passphrase",
        "token",
        "secret",
        "apikey",
        "credential",
        "auth",
    ]) || parts.last() == Some(&"key")
        || ["password", "token", "secret", "apikey"].iter().any(|word| name.ends_with(word))
}

/// A text made fit to be shown, line by line like the original, and the way from old places to new ones.
#[derive(Debug)]
pub struct Masked {
    /// The text to show.
    pub text: String,
    /// (old range, new range) of each masked piece, in order.
    pieces: Vec<(Range<usize>, Range<usize>)>,
}

impl Masked {
    /// Masks a text: the ranges in `hidden`, and whatever looks secret by itself.
    #[must_use]
    pub fn new(text: &str, hidden: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut ranges: Vec<Range<usize>> = hidden.into_iter().chain(suspicious(text)).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut pieces: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        let mut done = 0;
        for range in ranges {
            let start = text.floor_char_boundary(range.start).max(done);
            let end = text.ceil_char_boundary(range.end.min(text.len()));
            if start >= end {
                continue;
            }
            out.push_str(text.get(done..start).unwrap_or_default());
            let mut at = start;
            // Line breaks stay, so that every later line keeps its number.
            for line in text.get(start..end).unwrap_or_default().split_inclusive('\n') {
                let content = line.trim_end_matches(['\n', '\r']);
                if !content.is_empty() {
                    let new_start = out.len();
                    out.push_str(if content.starts_with(['"', '\'']) { "\"…\"" } else { "…" });
                    pieces.push((at..at + content.len(), new_start..out.len()));
                }
                out.push_str(line.get(content.len()..).unwrap_or_default());
                at += line.len();
            }
            done = end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Self { text: out, pieces }
    }

    /// Where an old range is now. A range that begins or ends inside a masked piece covers all of it.
    #[must_use]
    pub fn range(&self, old: Range<usize>) -> Range<usize> {
        let start = self.place(old.start, false);
        start..self.place(old.end, old.end > old.start).max(start)
    }

    fn place(&self, at: usize, round_up: bool) -> usize {
        let mut shift = 0_isize;
        for (old, new) in &self.pieces {
            if at <= old.start {
                break;
            }
            if at < old.end {
                return if round_up { new.end } else { new.start };
            }
            shift = new.end.cast_signed() - old.end.cast_signed();
        }
        at.saturating_add_signed(shift).min(self.text.len())
    }
}

/// Ranges of a unit file's text that look secret by themselves.
fn suspicious(text: &str) -> Vec<Range<usize>> {
    let mut ranges = token_shape::spans(text);
    ranges.extend(
        runs(text).filter(|(_, run)| run.len() >= RANDOM_LEN_MIN && is_random(run)).map(|(at, _)| at),
    );
    ranges.extend(telling_values(text));
    ranges
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '=')
}

fn is_random(run: &str) -> bool {
    let has = |test: fn(&char) -> bool| run.chars().any(|c| test(&c));
    !run.contains('/')
        && has(char::is_ascii_digit)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
}

/// Runs of characters that tokens are made of.
fn runs(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let tail = text.get(rest..)?;
        let start = rest + tail.find(is_token_char)?;
        let len = text.get(start..)?.find(|c| !is_token_char(c)).unwrap_or(text.len() - start);
        rest = start + len;
        Some((start..rest, text.get(start..rest)?))
    })
}

/// `password = …` on a line, in a comment too, whatever the value is but a table or list.
fn telling_values(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let start = line_start;
        line_start += line.len();
        let Some((name, value)) = line.split_once(['=', ':']) else { continue };
        let name = name.trim_start_matches(|c: char| c == '#' || c.is_whitespace()).trim();
        let name = name.trim_matches(['"', '\'']);
        if name.contains(char::is_whitespace) || !telling_name(name) {
            continue;
        }
        let blank = value.len() - value.trim_start().len();
        let value_start = start + (line.len() - value.len()) + blank;
        let value = value.trim();
        let bare = value.trim_matches(['"', '\'']);
        let placeholder = bare.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if value.is_empty() || value.starts_with(['{', '[']) || placeholder.is_some_and(is_name) {
            continue;
        }
        let fence = ["\"\"\"", "'''"].into_iter().find(|fence| value.starts_with(fence));
        let end = match fence {
            Some(fence) => {
                let body = text.get(value_start + 3..).unwrap_or_default();
                value_start + 3 + body.find(fence).map_or(body.len(), |at| at + 3)
            }
            None => value_start + value.len(),
        };
        found.push(value_start..end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Masked::new(text, []).text, expected);
    }

    #[test]
    fn known_tokens_are_masked_anywhere() {
        check("# old ghp_0123456789abcdefghij0123456789abcdef here", "# old … here");
        check("url = \"https://x/?k=sk-abcdefghijklmnopqrstuv\"", "url = \"https://x/?k=…\"");
        check("host = \"sk-learn.example.org\"", "host = \"sk-learn.example.org\"");
    }

    #[test]
    fn passwords_in_urls_are_masked() {
        check("url = \"https://me:hunter2@host/a\"", "url = \"https://me:…@host/a\"");
        check("url = \"https://host:8080/a\"", "url = \"https://host:8080/a\"");
    }

    #[test]
    fn values_of_telling_keys_are_masked_but_references_are_not() {
        check("password = hunter2 # x\nuser = \"me\"", "password = …\nuser = \"me\"");
        check("token = { secret = \"a/b\" }", "token = { secret = \"a/b\" }");
        check("# api_key = \"abc\"", "# api_key = \"…\"");
        check("max_tokens = 100", "max_tokens = 100");
        check("auth_every = \"3h\"\nauth = \"api-key\"", "auth_every = \"3h\"\nauth = \"api-key\"");
        check("AUTH = \"hunter2\"", "AUTH = \"…\"");
        check("api_key = \"${KEY}\"", "api_key = \"${KEY}\"");
    }

    #[test]
    fn lines_keep_their_numbers() {
        check("key = \"\"\"\none\ntwo\"\"\"\nb = 1", "key = \"…\"\n…\n…\nb = 1");
    }

    #[test]
    fn places_move_along() {
        let masked = Masked::new("a = \"hunter2\" # b", std::iter::once(4..13));
        assert_eq!(masked.text, "a = \"…\" # b");
        assert_eq!(masked.text.get(masked.range(4..13)), Some("\"…\""));
        assert_eq!(masked.text.get(masked.range(5..7)), Some("\"…\""));
        assert_eq!(masked.text.get(masked.range(16..17)), Some("b"));
        assert_eq!(masked.text.get(masked.range(0..1)), Some("a"));
    }

    #[test]
    fn random_words_look_secret_and_hashes_do_not() {
        assert!(looks_secret("xoxb-1234567890-abc"));
        assert!(looks_secret("Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4MTIz"));
        assert!(!looks_secret("2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"));
        assert!(!looks_secret("A plain sentence."));
    }
}
