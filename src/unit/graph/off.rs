//! Who is off, and why: by its own files, by its errors, by what it needs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Unit, Units, needs, switched_off};
use crate::diag::{Finding, Severity, SourceMap, Span};
use crate::unit::check::{dangling_reference, dependency_cycle, reference_to_disabled};
use crate::unit::decode::Reference;
use crate::unit::plan::{EdgeKind, Kind, Off, OffState, Place, UnitName};

/// The units that are no-ops. `cycles` are members of cycles with the path.
pub(crate) fn find(
    units: &Units,
    cycles: &BTreeMap<UnitName, (String, Span)>,
    sources: &SourceMap,
) -> BTreeMap<UnitName, Off> {
    let mut off: BTreeMap<UnitName, Off> = BTreeMap::new();
    for unit in units.values() {
        if let Some(why) = by_itself(unit, cycles, sources) {
            off.insert(unit.name.clone(), why);
        }
    }
    // From round to round only those are looked at that need one of the last round: a chain costs its length.
    let mut needed_by: HashMap<&UnitName, Vec<&UnitName>> = HashMap::new();
    for unit in units.values().filter(|unit| !off.contains_key(&unit.name)) {
        for reference in unit.references.iter().filter(|reference| needs(reference.edge)) {
            needed_by.entry(&reference.target).or_default().push(&unit.name);
        }
    }
    let mut last: Vec<&UnitName> = units.keys().filter(|name| off.contains_key(*name)).collect();
    while !last.is_empty() {
        let touched: BTreeSet<&UnitName> =
            last.iter().filter_map(|name| needed_by.get(name)).flatten().copied().collect();
        let lost = |name: &UnitName| by_need(units.get(name)?, &off, sources);
        let waiting = touched.into_iter().filter(|name| !off.contains_key(*name));
        let more: Vec<(&UnitName, Off)> = waiting.filter_map(|name| Some((name, lost(name)?))).collect();
        last = more.iter().map(|(name, _)| *name).collect();
        off.extend(more.into_iter().map(|(name, why)| (name.clone(), why)));
    }
    off
}

/// Line and column of a place.
pub(crate) fn place(span: Span, sources: &SourceMap) -> Place {
    let (line, column) = sources.position(span);
    Place { file: sources.path(span.source).to_owned(), line, column }
}

fn by_itself(unit: &Unit, cycles: &BTreeMap<UnitName, (String, Span)>, sources: &SourceMap) -> Option<Off> {
    let at = |span| Some(place(span, sources));
    if let Some(state) = switched_off(unit) {
        let key = if state == OffState::Masked { "masked" } else { "enabled" };
        let spans = unit.spans("install", key);
        let reason = match (state, spans) {
            (OffState::Masked, Some(spans)) if spans.value == Span::file(spans.value.source) => {
                "a link to /dev/null"
            }
            (OffState::Masked, _) => "[install] masked = true",
            (_, Some(_)) => "[install] enabled = false",
            (_, None) => "[install] enabled is not set",
        };
        let span = spans.map_or(Span::file(unit.source), |spans| spans.value);
        return Some(Off { state, reason: reason.to_owned(), place: at(span) });
    }
    let errors = || unit.findings().filter(|finding| finding.severity == Severity::Error);
    let missing = |finding: &&Finding| {
        let code = finding.check.code;
        code == dangling_reference::CHECK.code || code == reference_to_disabled::CHECK.code
    };
    let cycle = |finding: &&Finding| finding.check.code == dependency_cycle::CHECK.code;
    if let Some(error) = errors().find(|finding| !missing(finding) && !cycle(finding)) {
        return Some(Off { state: OffState::BadSetting, reason: error.title.clone(), place: at(error.span) });
    }
    if let Some((path, span)) = cycles.get(&unit.name) {
        let reason = format!("units wait for each other: {path}");
        return Some(Off { state: OffState::BadSetting, reason, place: at(*span) });
    }
    let error = errors().next()?;
    Some(Off { state: OffState::Dependency, reason: error.title.clone(), place: at(error.span) })
}

fn by_need(unit: &Unit, off: &BTreeMap<UnitName, Off>, sources: &SourceMap) -> Option<Off> {
    let lost = |reference: &&Reference| needs(reference.edge) && off.contains_key(&reference.target);
    let first = if unit.name.kind == Kind::Route {
        let is_choice = |reference: &&Reference| {
            reference.edge == EdgeKind::Uses && reference.target.kind == Kind::Engine
        };
        let choices = || unit.references.iter().filter(is_choice);
        let all_engines_lost = choices().all(|reference| off.contains_key(&reference.target));
        unit.references
            .iter()
            .find(|reference| lost(reference) && (!is_choice(reference) || all_engines_lost))
    } else {
        unit.references.iter().find(lost)
    }?;
    let state = off.get(&first.target).map_or("off", |why| why.state.word());
    let reason = format!("needs `{}`, which is off ({state})", first.target);
    Some(Off { state: OffState::Dependency, reason, place: Some(place(first.span, sources)) })
}
