//! Texts: no placeholder, nothing that looks like a token; URLs and hosts.

use std::net::IpAddr;

use super::At;
use crate::diag::{Span, mask};
use crate::unit::check::{bad_value, literal_secret, placeholder};
use crate::unit::report::Report;

/// No finding about the text itself. `takes_reference`: `{ secret = … }` could stand here instead.
pub(super) fn is_clean(
    at: At<'_>,
    span: Span,
    text: &str,
    takes_reference: bool,
    report: &mut Report,
) -> bool {
    if mask::looks_secret(text) {
        report.hide(span);
        report.push(literal_secret::looks_like(&at.path(), span, "a secret", takes_reference));
        return false;
    }
    if let Some(name) = placeholder::name(text) {
        let whole = text.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) == Some(name);
        report.push(placeholder::finding(&at.path(), span, name, whole, takes_reference));
        return false;
    }
    true
}

/// An `http`, `https` or `file` URL without a password.
pub(super) fn url(at: At<'_>, span: Span, text: &str, report: &mut Report) -> Option<String> {
    let problem = match url::Url::parse(text) {
        Ok(url) if url.password().is_some() => {
            report.hide(span);
            report.push(literal_secret::looks_like(&at.path(), span, "a password in a URL", false));
            return None;
        }
        Ok(url) if !matches!(url.scheme(), "http" | "https" | "file") => {
            "takes `http`, `https` or `file` URLs"
        }
        Ok(url) if url.scheme() != "file" && !url.has_host() => "a URL without a host",
        Ok(_) => return Some(text.trim().to_owned()),
        Err(url::ParseError::RelativeUrlWithoutBase) => "not a URL; it begins with `https://`",
        Err(_) => "not a URL",
    };
    report.push(bad_value::finding(&at.path(), span, problem));
    None
}

/// A host name or address.
pub(super) fn host(text: &str) -> Result<String, &'static str> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if bare.parse::<IpAddr>().is_ok() {
        return Ok(bare.to_owned());
    }
    if text.contains("://") {
        return Err("takes a host name alone, without `https://` or the like");
    }
    if text.contains(':') {
        return Err("takes a host name alone; the port has a key of its own");
    }
    let label = |part: &str| {
        !part.is_empty()
            && part.len() <= 63
            && !part.starts_with('-')
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.len() <= 253 && name.split('.').all(label) { Ok(text.to_owned()) } else { Err("not a host name") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for right in ["mail.example.org", "localhost", "127.0.0.1", "::1", "[::1]", "bücher.example"] {
            assert!(host(right).is_ok(), "{right}");
        }
        for wrong in ["https://a", "a:993", "", "a b", "a/b", "-a", "a..b"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }
}
