//! The last good version of units whose present files have errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::memory::Memory;
use super::{CompileEnv, LastGood, Look};
use crate::diag::SourceMap;
use crate::unit::graph;
use crate::unit::layers::Layers;
use crate::unit::load::{KEPT, Loaded, Role, UnitFile};
use crate::unit::plan::{Off, OffState, UnitName};
use crate::unit::registry::Registry;

/// Looks once more with last good versions in the place of what is broken, if there are any. Those that do not stand among the
/// others now are what they are at present. Returns the units that are kept, with what is wrong with their present files.
pub(super) fn second_look(
    present: &Look,
    loaded: &Loaded,
    last_good: &LastGood,
    (registry, env): (&Registry, &CompileEnv),
    memory: &mut Memory,
    sources: &mut SourceMap,
) -> (Option<Look>, BTreeMap<UnitName, Off>) {
    let mut kept: BTreeMap<UnitName, Off> = BTreeMap::new();
    let mut versions = BTreeMap::new();
    for (name, text) in last_good {
        let Some(why) = lost(present, loaded, name) else { continue };
        let file = UnitFile {
            level: 1,
            path: Path::new(KEPT).join(format!("{name}.toml")),
            dir: PathBuf::from("/"),
            role: Role::Main(name.clone()),
            text: Arc::clone(text),
        };
        let layers = Layers::single(memory.doc(&file, None, sources));
        versions.insert(name, memory.kept(name, layers, registry, env));
        kept.insert(name.clone(), why);
    }
    // Each round but the last takes a version out.
    while !kept.is_empty() {
        let mut units = present.units.clone();
        units.values_mut().for_each(|unit| unit.found.clear());
        for (name, typed) in versions.iter().filter(|(name, _)| kept.contains_key(**name)) {
            units.insert((*name).clone(), graph::Unit::new(Arc::clone(typed)));
        }
        let look = Look::at(units, present.templates.clone(), registry, sources);
        let before = kept.len();
        kept.retain(|name, _| !look.off.contains_key(name));
        if kept.len() == before {
            return (Some(look), kept);
        }
    }
    (None, kept)
}

/// Why a unit cannot be had as its present files say it: an error of its own, or that they cannot be read. `None`: it can,
/// or it is off because somebody wants it so, or because of another unit.
fn lost(present: &Look, loaded: &Loaded, name: &UnitName) -> Option<Off> {
    let Some(unit) = present.units.get(name) else { return unread(loaded) };
    let why = present.off.get(name)?;
    match why.state {
        OffState::BadSetting => Some(why.clone()),
        OffState::Dependency if unit.first_error().is_some() => Some(why.clone()),
        // The binary's own file speaks because the one above it cannot be read.
        OffState::Disabled if unit.shipped => unread(loaded),
        _ => None,
    }
}

/// What is not there now may be in a directory that cannot be read.
fn unread(loaded: &Loaded) -> Option<Off> {
    let dir = loaded.unread_dirs().next()?;
    let reason = format!("{} cannot be read", dir.display());
    Some(Off { state: OffState::BadSetting, reason, place: None })
}
