//! The daemon's own environment as a value: captured once at start, handed on, never asked again.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

/// Environment variables at one moment. Values may be secret: `Debug` shows names only.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<OsString, OsString>>);

impl Environment {
    /// The environment of this process. Called once, first thing in `main`.
    #[must_use]
    pub fn capture() -> Self {
        Self(Arc::new(std::env::vars_os().collect()))
    }

    /// An environment made up by the caller; tests and the demo own theirs.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(Arc::new(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }

    /// A variable's bytes.
    #[must_use]
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A variable's text; an unset, empty or non-UTF-8 one is `None`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name).and_then(OsStr::to_str).filter(|text| !text.is_empty())
    }

    /// All of it, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_as_good_as_none() {
        let environment = Environment::of([("A", "x"), ("B", "")]);
        assert_eq!(
            (environment.get("A"), environment.get("B"), environment.get("C")),
            (Some("x"), None, None)
        );
    }

    #[test]
    fn debug_shows_names_only() {
        assert_eq!(format!("{:?}", Environment::of([("KEY", "canary")])), r#"{"KEY"}"#);
    }
}
