//! Addresses: which ones are usable, and which ones are the user's own.

use std::collections::BTreeSet;

use lettre::Address;

use crate::model::item::Party;

/// The user's own addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnAddresses(BTreeSet<String>);

impl OwnAddresses {
    /// Takes addresses as written in a unit.
    pub fn new<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        Self(addresses.into_iter().map(comparable).collect())
    }

    /// Is it one of them? Case does not count, and neither does a `+tag`.
    #[must_use]
    pub fn contains(&self, address: &str) -> bool {
        self.0.contains(&comparable(address))
    }
}

/// An address that a mail can be sent to: ASCII, with a host part, and nothing in it that a header or an SMTP command
/// could stumble over.
#[must_use]
pub fn is_usable(address: &str) -> bool {
    address.is_ascii() && address.parse::<Address>().is_ok()
}

/// A mailbox as a person writes it in a unit: `Kim Lee <kim@example.org>`, or a bare address.
#[must_use]
pub fn mailbox(text: &str) -> Option<Party> {
    let mailbox = text.parse::<lettre::message::Mailbox>().ok()?;
    let address = mailbox.email.to_string();
    is_usable(&address).then(|| Party { name: mailbox.name.unwrap_or_default(), address })
}

/// The part behind the `@`, lower case; empty if there is none.
#[must_use]
pub fn domain(address: &str) -> String {
    address.rsplit_once('@').map_or_else(String::new, |(_, domain)| domain.to_ascii_lowercase())
}

/// A sender whose box nobody reads, by the name in front of the `@`.
#[must_use]
pub fn is_unread_box(address: &str) -> bool {
    let local = address.rsplit_once('@').map_or(address, |(local, _)| local);
    let base = local.split('+').next().unwrap_or(local);
    let bare = base.to_ascii_lowercase().replace(['-', '_', '.'], "");
    ["noreply", "donotreply", "dontreply"].iter().any(|name| bare.starts_with(name) || bare.ends_with(name))
        || matches!(bare.as_str(), "mailerdaemon" | "bounce" | "bounces" | "nepasrepondre" | "keineantwort")
}

/// An address without case and without a `+tag`.
fn comparable(address: &str) -> String {
    let lower = address.trim().to_ascii_lowercase();
    match lower.rsplit_once('@') {
        Some((local, domain)) => match local.split_once('+') {
            Some((base, _tag)) if !base.is_empty() => format!("{base}@{domain}"),
            _ => lower,
        },
        None => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_addresses_are_known_in_any_case_and_with_tags() {
        let own = OwnAddresses::new(["Me@Example.org", " second@example.net"]);
        for address in ["me@example.org", "ME+work@example.ORG", "second@example.net"] {
            assert!(own.contains(address), "{address}");
        }
        for address in ["me@example.net", "some@example.org", "", "+@example.org", "me"] {
            assert!(!own.contains(address), "{address}");
        }
    }

    #[test]
    fn usable_addresses() {
        for address in ["pat@example.org", "a.b+c@x", "o'neil@example.org", "pat@[127.0.0.1]"] {
            assert!(is_usable(address), "{address}");
        }
        let line_break = "a@example.org\r\nBcc: x@example.org";
        for address in
            ["", "@@", "q2", "a@", "@x", "a b@x", "<a@x>", "jörg@example.org", "a@x,b@x", line_break]
        {
            assert!(!is_usable(address), "{address}");
        }
    }

    #[test]
    fn boxes_that_nobody_reads() {
        for address in
            ["no-reply@x", "NoReply@x", "do_not_reply+7@x", "comments-noreply@x", "MAILER-DAEMON@x"]
        {
            assert!(is_unread_box(address), "{address}");
        }
        for address in ["pat@x", "reply@x", "noreen@x", "bouncer@x"] {
            assert!(!is_unread_box(address), "{address}");
        }
    }
}
