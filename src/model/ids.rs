//! Ids as newtypes, so that a draft id cannot be handed in for a case id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! row_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            /// Takes the shown form and the bare number.
            fn from_str(text: &str) -> Result<Self, BadId> {
                let digits = text.strip_prefix($prefix).unwrap_or(text);
                match digits.parse::<i64>() {
                    Ok(number) if number > 0 => Ok(Self(number)),
                    _ => Err(BadId { given: text.to_owned(), example: concat!($prefix, "12") }),
                }
            }
        }
    };
}

row_id!(
    /// One thing read from a connector. Shown as `i12`.
    ItemId, "i"
);
row_id!(
    /// One piece of work and its record. Shown as `c12`.
    CaseId, "c"
);
row_id!(
    /// One attempt of one engine on one case. Shown as `r12`.
    RunId, "r"
);
row_id!(
    /// One proposed action awaiting review. Shown as `d12`.
    DraftId, "d"
);
row_id!(
    /// One approved effect. Shown as `a12`.
    ActionId, "a"
);

/// What was typed is not an id of the expected kind.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an id; ids look like `{example}`")]
pub struct BadId {
    /// The text as given.
    pub given: String,
    /// A well-formed example.
    pub example: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_shown_form_and_the_bare_number() {
        assert_eq!("c12".parse(), Ok(CaseId(12)));
        assert_eq!("12".parse(), Ok(CaseId(12)));
        assert_eq!(CaseId(12).to_string(), "c12");
    }

    #[test]
    fn refuses_other_kinds_and_nonsense() {
        for text in ["d12", "c", "", "c-1", "c0", "12x"] {
            assert!(text.parse::<CaseId>().is_err(), "{text}");
        }
    }
}
