//! Whether a unit takes part, and if not, why.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Kind, Place, UnitName};

/// Whether a unit takes part. Off is a variant with a reason and a place, not an `if` at every user.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing<T> {
    /// Takes part.
    Active(Arc<T>),
    /// A visible no-op.
    Off(Off),
}

impl<T> Standing<T> {
    /// Why it does not take part.
    #[must_use]
    pub fn off(&self) -> Option<&Off> {
        match self {
            Self::Active(_) => None,
            Self::Off(off) => Some(off),
        }
    }

    /// Gives a unit that is off another reason.
    pub(crate) fn told(&mut self, why: &str) {
        if let Self::Off(off) = self {
            why.clone_into(&mut off.reason);
        }
    }
}

/// Why a unit is a no-op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Off {
    /// `disabled`, `masked`, `bad-setting`, `not-found`.
    pub state: OffState,
    /// For people, one line: `[install] enabled = false`, or an unknown key by its name.
    pub reason: String,
    /// Where the reason stands.
    pub place: Option<Place>,
}

impl Off {
    /// For people: `disabled: [install] enabled = false (inbox.connector.toml:12:1)`.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { state, reason, place } = self;
        match place {
            Some(place) => format!("{}: {reason} ({place})", state.word()),
            None => format!("{}: {reason}", state.word()),
        }
    }
}

/// The state of a unit that is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffState {
    /// Not enabled.
    Disabled,
    /// `masked = true`.
    Masked,
    /// Has errors: quarantined.
    BadSetting,
    /// Needs a unit that is off or missing.
    Dependency,
    /// A condition of its own does not hold on this machine now.
    Condition,
    /// Stopped by hand, or not in the target that was isolated; until started again or the daemon restarts.
    Stopped,
}

impl OffState {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Masked => "masked",
            Self::BadSetting => "bad-setting",
            Self::Dependency => "dependency",
            Self::Condition => "condition",
            Self::Stopped => "stopped",
        }
    }
}

/// The names of one kind, and who of them is off.
pub(super) fn gather<'a, T>(
    kind: Kind,
    units: &'a BTreeMap<String, Standing<T>>,
    out: &mut Vec<(UnitName, Option<&'a Off>)>,
) {
    out.extend(units.iter().map(|(name, standing)| {
        let off = match standing {
            Standing::Active(_) => None,
            Standing::Off(off) => Some(off),
        };
        (UnitName { name: name.clone(), kind }, off)
    }));
}
