//! Names and addresses as units write them, with wildcards.

use globset::{Glob, GlobBuilder, GlobMatcher};

/// A name or address. Most hold no wildcard; a compiled matcher for each of those would be most of the time that taking over
/// a plan of many routes takes.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Exactly this, but for the case of ASCII letters.
    Exact(String),
    /// With wildcards.
    Glob(Box<GlobMatcher>),
}

impl Pattern {
    /// `*` matches `/` too: these are names and addresses, not paths. Case does not matter.
    ///
    /// # Errors
    /// It cannot be read as a pattern; for people.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_ascii() && !text.contains(['*', '?', '[', ']', '{', '}', '!', '\\', ',']) {
            return Ok(Self::Exact(text.to_owned()));
        }
        let glob: Result<Glob, _> =
            GlobBuilder::new(text).case_insensitive(true).literal_separator(false).build();
        glob.map(|glob| Self::Glob(Box::new(glob.compile_matcher())))
            .map_err(|error| format!("bad pattern `{text}`: {}", error.kind()))
    }

    /// It stands for this.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => exact.eq_ignore_ascii_case(text),
            Self::Glob(glob) => glob.is_match(text),
        }
    }
}
