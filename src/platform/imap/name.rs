//! Mailbox names on the wire: quoted strings in modified UTF-7 (RFC 3501 5.1.3).

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::NO_PAD;

const MUTF7: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, NO_PAD);

/// A mailbox's name as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireName(String);

impl WireName {
    /// From the name as a person writes it: `Entwürfe` is `Entw&APw-rfe` for the server.
    #[must_use]
    pub fn from_person(name: &str) -> Self {
        let mut wire = String::with_capacity(name.len());
        let mut foreign = Vec::new();
        for c in name.chars() {
            if matches!(c, ' '..='~') {
                flush(&mut foreign, &mut wire);
                wire.push(c);
                wire.push_str(if c == '&' { "-" } else { "" });
            } else {
                foreign.extend(c.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_be_bytes()));
            }
        }
        flush(&mut foreign, &mut wire);
        Self(wire)
    }

    /// From a LIST answer.
    #[must_use]
    pub fn from_wire(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// As the argument of a command.
    #[must_use]
    pub fn quoted(&self) -> String {
        quoted(&self.0)
    }

    /// As the server writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn flush(utf16: &mut Vec<u8>, wire: &mut String) {
    if !utf16.is_empty() {
        wire.push('&');
        MUTF7.encode_string(&*utf16, wire);
        wire.push('-');
        utf16.clear();
    }
}

/// A quoted string. Line ends, which would begin another command, and NUL are left out.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars().filter(|c| !matches!(c, '\r' | '\n' | '\0')) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_as_the_rfc_says() {
        let wire = |name| WireName::from_person(name).quoted();
        assert_eq!(wire("INBOX"), "\"INBOX\"");
        assert_eq!(wire("Entwürfe"), "\"Entw&APw-rfe\"");
        assert_eq!(wire("~peter/mail/台北/日本語"), "\"~peter/mail/&U,BTFw-/&ZeVnLIqe-\"");
        assert_eq!(wire("R&D \"x\""), "\"R&-D \\\"x\\\"\"");
    }

    #[test]
    fn a_quoted_string_cannot_begin_another_command() {
        assert_eq!(quoted("a\r\nb LOGOUT\0"), "\"ab LOGOUT\"");
    }
}
