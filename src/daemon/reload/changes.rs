//! What a new plan changes for the units that run. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::control::wire::units::{Change, ChangeView, ReloadOutcome};
use crate::unit::plan::{Kind, Off, OffState, Plan, UnitName};
use crate::unit::schema;

/// What runs, or would run.
pub(super) struct Side<'a> {
    kept: &'a BTreeMap<UnitName, Off>,
    texts: &'a BTreeMap<UnitName, Arc<str>>,
    units: BTreeMap<UnitName, Option<&'a Off>>,
}

impl<'a> Side<'a> {
    /// `plan`: with everything held back taken out. `texts`: canonical texts of the units that are on in unit files.
    pub fn new(plan: &'a Plan, texts: &'a BTreeMap<UnitName, Arc<str>>) -> Self {
        let mut units: BTreeMap<UnitName, Option<&'a Off>> = plan.standings().into_iter().collect();
        units.extend(texts.keys().filter(|name| name.kind == Kind::Daemon).map(|name| (name.clone(), None)));
        Self { kept: &plan.kept, texts, units }
    }
}

/// What becomes of the units, by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Units that something happens to.
    pub touched: Vec<ChangeView>,
    /// Units that are left alone.
    pub unchanged: u64,
}

impl Changes {
    /// Compares. `anew`: units that begin again as asked.
    pub fn between(old: &Side<'_>, new: &Side<'_>, anew: &BTreeSet<UnitName>) -> Self {
        let mut changes = Self::default();
        let names: BTreeSet<&UnitName> = old.units.keys().chain(new.units.keys()).collect();
        for name in names {
            match one(name, old, new, anew) {
                Some(view) => changes.touched.push(view),
                None => changes.unchanged += 1,
            }
        }
        changes
    }

    /// Something runs differently.
    pub fn applies(&self) -> bool {
        self.touched.iter().any(|view| !view.change.is_fault())
    }

    /// Something did not come to be as its file says.
    pub fn fails(&self) -> bool {
        self.touched.iter().any(|view| view.change.is_fault())
    }

    /// Units whose new version could not be built, with the reason: the old one goes on where there was one.
    pub fn could_not(&mut self, failed: &BTreeMap<UnitName, String>) {
        for (name, why) in failed {
            let unit = name.to_string();
            let known = self.touched.iter_mut().find(|view| view.unit == unit);
            let ran =
                known.as_ref().is_some_and(|view| matches!(view.change, Change::Changed | Change::Restarted));
            let change = if ran { Change::Kept } else { Change::Failed };
            let view = ChangeView { unit, change, reason: Some(why.clone()), place: None };
            match known {
                Some(known) => *known = view,
                None => self.touched.push(view),
            }
        }
    }

    /// How it ends. `errors`: in unit files.
    pub fn outcome(&self, errors: u64) -> ReloadOutcome {
        match (self.applies(), self.fails() || errors > 0) {
            (true, false) => ReloadOutcome::Applied,
            (true, true) => ReloadOutcome::AppliedWithFailures,
            (false, true) => ReloadOutcome::Invalid,
            (false, false) => ReloadOutcome::Nothing,
        }
    }
}

fn one(name: &UnitName, old: &Side<'_>, new: &Side<'_>, anew: &BTreeSet<UnitName>) -> Option<ChangeView> {
    let view = |change, off: Option<&Off>| ChangeView {
        unit: name.to_string(),
        change,
        reason: off.map(|off| off.reason.clone()),
        place: off.and_then(|off| off.place.as_ref()).map(ToString::to_string),
    };
    let Some(now) = new.units.get(name) else { return Some(view(Change::Removed, None)) };
    if let Some(off) = new.kept.get(name) {
        return Some(view(Change::Kept, Some(off)));
    }
    let before = old.units.get(name);
    match (before, now) {
        // Its files are in order: what it needs does not run at the moment, by a condition or by hand.
        (_, Some(off)) if is_error(off) && !new.texts.contains_key(name) => {
            Some(view(Change::Failed, Some(off)))
        }
        (Some(None), Some(off)) => Some(view(Change::Stopped, Some(off))),
        (_, Some(_)) => None,
        (Some(Some(_)), None) => Some(view(Change::Started, None)),
        (None, None) => Some(view(Change::Added, None)),
        (Some(None), None) if anew.contains(name) => Some(view(Change::Restarted, None)),
        (Some(None), None) => {
            let (before, now) = (old.texts.get(name)?, new.texts.get(name)?);
            let keys = differing(before, now);
            if keys.is_empty() {
                return None;
            }
            let (fixed, live): (Vec<String>, Vec<String>) =
                keys.into_iter().partition(|key| needs_restart(name.kind, key));
            let change = if live.is_empty() { Change::NeedsRestart } else { Change::Changed };
            let mut reason = live.join(", ");
            if !fixed.is_empty() {
                let told = format!("only after a restart of the daemon: {}", fixed.join(", "));
                reason = if reason.is_empty() { told } else { format!("{reason}; {told}") };
            }
            Some(ChangeView { reason: Some(reason), ..view(change, None) })
        }
    }
}

/// Errors are told as long as they stand, also when nothing changed about them.
fn is_error(off: &Off) -> bool {
    matches!(off.state, OffState::BadSetting | OffState::Dependency)
}

/// A key, as `table.key`, of which the daemon asks only when it starts.
pub(super) fn needs_restart(kind: Kind, key: &str) -> bool {
    key.split_once('.').is_some_and(|(table, key)| schema::needs_restart(kind, table, key))
}

/// The keys, as `table.key`, that differ between two canonical texts of one unit.
pub(super) fn differing(before: &str, now: &str) -> Vec<String> {
    if before == now {
        return Vec::new();
    }
    let (before, now) = (keys(before), keys(now));
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|key| before.get(*key) != now.get(*key)).cloned().collect()
}

/// The keys of a canonical text. It is our own, so one that is no TOML has none.
fn keys(text: &str) -> BTreeMap<String, toml::Value> {
    let tables: toml::Table = text.parse().unwrap_or_default();
    let mut keys = BTreeMap::new();
    for (table, value) in tables {
        match value {
            toml::Value::Table(inner) => {
                keys.extend(inner.into_iter().map(|(key, value)| (format!("{table}.{key}"), value)));
            }
            other => {
                keys.insert(table, other);
            }
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_are_named() {
        let before = "[schedule]\nevery = \"60s\"\n[imap]\nhost = \"a\"\n";
        let now = "[imap]\nhost = \"a\"\nport = 993\n[schedule]\nevery = \"30s\"\n";
        assert_eq!(differing(before, now), ["imap.port", "schedule.every"]);
        assert!(differing(before, before).is_empty());
    }
}
