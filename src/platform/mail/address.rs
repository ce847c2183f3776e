//! Addresses: which ones are usable, and which ones are the user's own.

use std::collections::BTreeSet;

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
