//! Who is off, and why: by its own files, by its errors, by what it needs.

use std::collections::BTreeMap;

use super::{Units, needs, switched_off};
use crate::diag::{Finding, Severity, SourceMap, Span};
use crate::unit::check::{dangling_reference, dependency_cycle, reference_to_disabled};
use crate::unit::decode::Reference;
use crate::unit::plan::{EdgeKind, Kind, Off, OffState, Place, UnitName};
use crate::unit::typed::Typed;

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
    // Each round takes at least one unit out, so this ends; chains of needs are short.
    loop {
        let more: Vec<(UnitName, Off)> = units
            .values()
            .filter(|unit| !off.contains_key(&unit.name))
            .filter_map(|unit| Some((unit.name.clone(), by_need(unit, &off, sources)?)))
            .collect();
        if more.is_empty() {
            return off;
        }
        off.extend(more);
    }
}

/// Line and column of a place.
pub(crate) fn place(span: Span, sources: &SourceMap) -> Place {
    let (line, column) = sources.position(span);
    Place { file: sources.path(span.source).to_owned(), line, column }
}

fn by_itself(unit: &Typed, cycles: &BTreeMap<UnitName, (String, Span)>, sources: &SourceMap) -> Option<Off> {
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
    let errors = || unit.report.findings.iter().filter(|finding| finding.severity == Severity::Error);
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

fn by_need(unit: &Typed, off: &BTreeMap<UnitName, Off>, sources: &SourceMap) -> Option<Off> {
    let lost = |reference: &&Reference| needs(reference.edge) && off.contains_key(&reference.target);
    let uses = || unit.references.iter().filter(|reference| reference.edge == EdgeKind::Uses);
    let first = if unit.name.kind == Kind::Route {
        let all_engines_lost = uses().all(|reference| off.contains_key(&reference.target));
        let mut references = unit.references.iter();
        references
            .find(|reference| lost(reference) && (reference.edge == EdgeKind::Requires || all_engines_lost))
    } else {
        unit.references.iter().find(lost)
    }?;
    let state = off.get(&first.target).map_or("off", |why| why.state.word());
    let reason = format!("needs `{}`, which is off ({state})", first.target);
    Some(Off { state: OffState::Dependency, reason, place: Some(place(first.span, sources)) })
}
