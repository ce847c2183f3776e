//! URLs for people: what may be a credential is masked without anyone having to remember it.

use std::fmt::Write as _;

use url::Url;

use super::holds_login;

/// The URL for errors, notes and logs: values of the query, user name and password give way to `…`;
/// the fragment is left out.
#[must_use]
pub fn masked(url: &Url) -> String {
    let mut shown = format!("{}://", url.scheme());
    if holds_login(url) {
        shown.push_str("…@");
    }
    shown.push_str(url.host_str().unwrap_or_default());
    if let Some(port) = url.port() {
        let _ = write!(shown, ":{port}");
    }
    shown.push_str(url.path());
    if let Some(query) = url.query() {
        for (nth, pair) in query.split('&').enumerate() {
            shown.push(if nth == 0 { '?' } else { '&' });
            match pair.split_once('=') {
                Some((name, _)) => {
                    let _ = write!(shown, "{name}=…");
                }
                // A pair without a name may be the value itself.
                None => shown.push('…'),
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        assert_eq!(masked(&url.parse().unwrap()), expected);
    }

    #[test]
    fn hides_the_values_of_the_query() {
        check("https://example.org/f.xml?key=CANARY&n=1", "https://example.org/f.xml?key=…&n=…");
        check("https://example.org/f.xml?CANARY", "https://example.org/f.xml?…");
    }

    #[test]
    fn hides_user_name_and_password() {
        check("http://me:CANARY@example.org:8080/f#CANARY", "http://…@example.org:8080/f");
    }

    #[test]
    fn leaves_plain_urls_alone() {
        check("https://example.org/a/b.xml", "https://example.org/a/b.xml");
        check("file:///home/me/feed.xml", "file:///home/me/feed.xml");
    }
}
