//! Plans kept on disk: what each generation was made of. The last one is where a unit that is broken now gets its last
//! good version from after a restart; older ones are what `workagent plan` shows, compares and goes back to.

mod disk;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use disk::{PlanError, PlanStore};

use crate::diag::SourceMap;
use crate::model::text::hex;
use crate::model::time::Timestamp;
use crate::unit::compile::{Compiled, KeyOrigin, LastGood};
use crate::unit::kinds::daemon::NAME as DAEMON;
use crate::unit::plan::{Kind, Off, UnitName};
use crate::unit::{BUILT_IN, KEPT};

/// The form of the files that this program writes. It reads lower ones, and leaves higher ones alone.
pub const FORMAT: u32 = 1;

/// One generation. It holds canonical texts, so no comment of a unit file and no secret: those are references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPlan {
    /// [`FORMAT`] when it was written.
    pub format: u32,
    /// Its number.
    pub generation: i64,
    /// [`Plan::hash`](crate::unit::plan::Plan::hash).
    pub hash: String,
    /// When it became live.
    pub applied_at: Timestamp,
    /// The files it was compiled from, the binary's own left out.
    pub files: Vec<KeptFile>,
    /// All units by their full names.
    pub units: BTreeMap<String, KeptUnit>,
}

/// A file that a plan was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// As found on the search path.
    pub path: PathBuf,
    /// Of its bytes, as `sha256sum` prints it.
    pub sha256: String,
}

/// A unit in a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptUnit {
    /// It took part.
    On {
        /// The whole unit in canonical TOML, see [`Compiled::canonical`].
        text: Arc<str>,
        /// `table.key` → `FILE:LINE:COLUMN`; keys left to their defaults are not in it.
        origins: BTreeMap<String, String>,
    },
    /// It was a no-op.
    Off {
        /// The word of its [`OffState`](crate::unit::plan::OffState).
        state: String,
        /// For people, one line.
        reason: String,
        /// `FILE:LINE:COLUMN` of the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
    },
}

/// How a unit differs between two generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanChange {
    /// Only the later one has it.
    Added,
    /// Only the earlier one has it.
    Removed,
    /// It means something else.
    Changed,
    /// It was off before.
    On,
    /// It was on before.
    Off,
}

impl PlanChange {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// What is told of a generation in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanHead {
    /// Its number.
    pub generation: i64,
    /// Of its canonical form.
    pub hash: String,
    /// When it became live.
    pub applied_at: Timestamp,
    /// Units that took part.
    pub on: usize,
    /// Units that were no-ops.
    pub off: usize,
    /// What is different from the generation before it in the list; `None` for the oldest that is kept.
    pub changes: Option<BTreeMap<String, PlanChange>>,
}

impl KeptPlan {
    /// The plan of a compile, as applied under a number.
    #[must_use]
    pub fn of(compiled: &Compiled, generation: i64, applied_at: Timestamp) -> Self {
        let plan = &compiled.plan;
        let on = |(name, text): (&UnitName, &Arc<str>)| {
            let origins = compiled.origins.get(name);
            let origins = places(origins.as_deref().unwrap_or_default(), &compiled.sources);
            (name.to_string(), KeptUnit::On { text: Arc::clone(text), origins })
        };
        let off = |(name, off): (UnitName, &Off)| {
            let unit = KeptUnit::Off {
                state: off.state.word().to_owned(),
                reason: off.reason.clone(),
                place: off.place.as_ref().map(ToString::to_string),
            };
            (name.to_string(), unit)
        };
        let daemon = UnitName { name: DAEMON.to_owned(), kind: Kind::Daemon };
        let daemon = compiled.daemon_off.as_ref().map(|why| off((daemon, why)));
        let mut units: BTreeMap<String, KeptUnit> = plan.off().map(off).chain(daemon).collect();
        units.extend(compiled.canonical.iter().map(on));
        let files = files(&compiled.sources);
        Self { format: FORMAT, generation, hash: plan.hash.clone(), applied_at, files, units }
    }

    /// The versions of units that a compile falls back to. Of units whose kind this program does not know there is none.
    #[must_use]
    pub fn last_good(&self) -> LastGood {
        let on = |(name, unit): (&String, &KeptUnit)| match unit {
            KeptUnit::On { text, .. } => Some((unit_name(name)?, Arc::clone(text))),
            KeptUnit::Off { .. } => None,
        };
        self.units.iter().filter_map(on).collect()
    }

    /// What is different in this plan from an earlier one, unit by unit.
    #[must_use]
    pub fn changes_from(&self, earlier: &Self) -> BTreeMap<String, PlanChange> {
        let mut changes = BTreeMap::new();
        for (name, unit) in &self.units {
            let change = match (earlier.units.get(name), unit) {
                (None, _) => PlanChange::Added,
                (Some(KeptUnit::On { .. }), KeptUnit::Off { .. }) => PlanChange::Off,
                (Some(KeptUnit::Off { .. }), KeptUnit::On { .. }) => PlanChange::On,
                (Some(before), now) if before.means(now) => continue,
                _ => PlanChange::Changed,
            };
            changes.insert(name.clone(), change);
        }
        let gone = earlier.units.keys().filter(|name| !self.units.contains_key(*name));
        changes.extend(gone.map(|name| (name.clone(), PlanChange::Removed)));
        changes
    }

    /// For a list. `earlier`: the generation before it, to tell what is different.
    #[must_use]
    pub fn head(&self, earlier: Option<&Self>) -> PlanHead {
        let on = self.units.values().filter(|unit| matches!(unit, KeptUnit::On { .. })).count();
        PlanHead {
            generation: self.generation,
            hash: self.hash.clone(),
            applied_at: self.applied_at,
            on,
            off: self.units.len() - on,
            changes: earlier.map(|earlier| self.changes_from(earlier)),
        }
    }
}

impl KeptUnit {
    /// Both mean the same, wherever they are written.
    #[must_use]
    pub fn means(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::On { text, .. }, Self::On { text: others, .. }) => text == others,
            (
                Self::Off { state, reason, .. },
                Self::Off { state: others_state, reason: others_reason, .. },
            ) => state == others_state && reason == others_reason,
            _ => false,
        }
    }
}

/// A unit's full name taken apart.
#[must_use]
pub fn unit_name(full: &str) -> Option<UnitName> {
    let (name, word) = full.rsplit_once('.')?;
    Some(UnitName { name: name.to_owned(), kind: Kind::from_word(word)? })
}

fn places(origins: &[KeyOrigin], sources: &SourceMap) -> BTreeMap<String, String> {
    let place = |origin: &KeyOrigin| {
        let span = origin.span?;
        let (line, column) = sources.position(span);
        let place = format!("{}:{line}:{column}", sources.path(span.source).display());
        Some((format!("{}.{}", origin.table, origin.key), place))
    };
    origins.iter().filter_map(place).collect()
}

/// What could not be read has no text, and an empty file says nothing.
fn files(sources: &SourceMap) -> Vec<KeptFile> {
    let read = sources.all().filter(|source| {
        !source.text.is_empty() && !source.path.starts_with(BUILT_IN) && !source.path.starts_with(KEPT)
    });
    let kept = |source: &crate::diag::Source| KeptFile {
        path: source.path.clone(),
        sha256: hex(&Sha256::digest(source.text.as_bytes())),
    };
    let mut files: Vec<KeptFile> = read.map(kept).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
