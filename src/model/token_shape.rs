//! What a credential looks like when nobody said that it is one: known token shapes, keys, URLs with a password.
//!
//! A second net. It knows no value; it finds shapes, and errs on the side of finding too much.

use std::ops::Range;

/// How a token goes on behind its prefix.
#[derive(Clone, Copy)]
enum Tail {
    /// Letters, digits, `_`, `-`.
    Word,
    /// Upper-case letters and digits.
    Upper,
    /// Base64 of both alphabets, dots, tildes.
    Token,
    /// Three base64url parts joined by dots; the last may be cut away.
    Jwt,
}

/// Prefix, tail, least length of the tail. Prefixes are case sensitive and start a word.
const SHAPES: &[(&str, Tail, usize)] = &[
    ("ghp_", Tail::Word, 16),
    ("gho_", Tail::Word, 16),
    ("ghu_", Tail::Word, 16),
    ("ghs_", Tail::Word, 16),
    ("ghr_", Tail::Word, 16),
    ("github_pat_", Tail::Word, 16),
    ("glpat-", Tail::Word, 16),
    ("sk-", Tail::Word, 16),
    ("sk_live_", Tail::Word, 16),
    ("rk_live_", Tail::Word, 16),
    ("xoxa-", Tail::Word, 10),
    ("xoxb-", Tail::Word, 10),
    ("xoxe-", Tail::Word, 10),
    ("xoxp-", Tail::Word, 10),
    ("xoxr-", Tail::Word, 10),
    ("xoxs-", Tail::Word, 10),
    ("xapp-", Tail::Word, 10),
    ("hf_", Tail::Word, 20),
    ("npm_", Tail::Word, 20),
    ("pypi-", Tail::Word, 20),
    ("syt_", Tail::Word, 20),
    ("AIza", Tail::Word, 30),
    ("AKIA", Tail::Upper, 16),
    ("ASIA", Tail::Upper, 16),
    ("AGE-SECRET-KEY-1", Tail::Upper, 16),
    ("ya29.", Tail::Token, 20),
    ("eyJ", Tail::Jwt, 16),
];

/// Words of an `Authorization` header, in any case, before the credential.
const SCHEMES: [&str; 3] = ["bearer ", "basic ", "token "];

/// A credential behind a scheme word has at least this many bytes, and a digit or an upper-case letter behind `token`:
/// "token expired" is prose.
const CREDENTIAL_BYTES_MIN: usize = 12;

const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";

/// The places of everything in `text` that looks like a credential, in order, possibly overlapping. Each range lies on
/// character boundaries.
#[must_use]
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut before = b' ';
    for (at, &byte) in bytes.iter().enumerate() {
        let starts_word = !is_word(before);
        before = byte;
        if byte == b':' {
            found.extend(url_password(text, at));
        }
        if byte == b'-' && (at == 0 || bytes.get(at - 1) != Some(&b'-')) {
            found.extend(private_key(text, at));
        }
        let inside = found.last().is_some_and(|last| at < last.end);
        if starts_word && !inside && byte.is_ascii_alphabetic() {
            found.extend(shape(text, at));
            found.extend(scheme(text, at));
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Where the run of bytes that `belongs` ends, from `from`.
fn run_end(text: &str, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
}

fn shape(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    SHAPES.iter().filter(|(prefix, ..)| rest.starts_with(prefix)).find_map(|&(prefix, tail, least)| {
        let from = at + prefix.len();
        let end = run_end(text, from, |byte| match tail {
            Tail::Word => is_word(byte) || byte == b'-',
            Tail::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Tail::Token => is_token(byte),
            Tail::Jwt => is_word(byte) || byte == b'-' || byte == b'.',
        });
        let whole =
            matches!(tail, Tail::Jwt).then(|| text.get(from..end).is_some_and(|tail| tail.contains('.')));
        (end - from >= least && whole.unwrap_or(true)).then_some(at..end)
    })
}

fn scheme(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(at..)?;
    SCHEMES.iter().find_map(|word| {
        let head = rest.get(..word.len())?;
        if !head.eq_ignore_ascii_case(word.as_bytes()) {
            return None;
        }
        let from = at + word.len();
        let end = run_end(text, from, is_token);
        let credential = text.as_bytes().get(from..end)?;
        let telling = credential.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        (credential.len() >= CREDENTIAL_BYTES_MIN && telling).then_some(from..end)
    })
}

/// `scheme://user:password@host`: the password.
fn url_password(text: &str, colon: usize) -> Option<Range<usize>> {
    let authority = text.get(colon..)?.strip_prefix("://")?;
    let from = colon + 3;
    let end = authority.find(|c: char| c == '/' || c == '?' || c == '#' || c.is_whitespace() || c == '"');
    let authority = authority.get(..end.unwrap_or(authority.len()))?;
    let (user_info, _) = authority.rsplit_once('@')?;
    let (user, password) = user_info.split_once(':')?;
    let start = from + user.len() + 1;
    (!password.is_empty()).then_some(start..start + password.len())
}

/// A PEM private key: from `-----BEGIN` to the closing dashes, or to the end of the text where it was cut.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let title = rest.strip_prefix(KEY_BEGIN)?;
    let title = title.get(..title.find("-----")?)?;
    if !title.contains("PRIVATE KEY") {
        return None;
    }
    let end = rest.find(KEY_END).and_then(|end| {
        let closing = end + KEY_END.len();
        Some(closing + rest.get(closing..)?.find("-----")? + 5)
    });
    Some(at..at + end.unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = spans(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn finds_tokens_by_their_prefix() {
        let token = "ghp_CANARYq7Zk3mB9xT2vR8nL5w";
        check(&format!("pushed with {token}, ok"), &[token]);
        check("key=sk-CANARY-0f9e8d7c6b5a4938271605", &["sk-CANARY-0f9e8d7c6b5a4938271605"]);
        check(
            "AKIAIOSFODNN7EXAMPLE xoxb-123456789012-abc",
            &["AKIAIOSFODNN7EXAMPLE", "xoxb-123456789012-abc"],
        );
    }

    #[test]
    fn words_that_only_begin_alike_stay() {
        for text in ["sk-learn", "task-force-of-many-people-here", "ghp_short", "eyJust a word", "hf_model"] {
            check(text, &[]);
        }
    }

    #[test]
    fn finds_what_follows_an_authorization_scheme() {
        check("authorization: Bearer abcDEF123456789 x", &["abcDEF123456789"]);
        check("BASIC bWU6Q0FOQVJZ==", &["bWU6Q0FOQVJZ=="]);
        check("the token expired yesterday; basic understanding", &[]);
    }

    #[test]
    fn finds_web_tokens() {
        check(
            "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc end",
            &["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"],
        );
    }

    #[test]
    fn finds_passwords_in_urls() {
        check("via http://me:p@ss:w@proxy.example:8080/x", &["p@ss:w"]);
        check("http://example.org:80/a@b http://me@host/", &[]);
    }

    #[test]
    fn finds_private_keys_also_cut_ones() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----";
        check(&format!("x {key} y"), &[key]);
        check("-----BEGIN PRIVATE KEY-----\nabc", &["-----BEGIN PRIVATE KEY-----\nabc"]);
        check("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", &[]);
    }
}
