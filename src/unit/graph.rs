//! The unit graph: names resolved, edges, cycles, and who is off because of whom.

pub(crate) mod cycle;
pub(crate) mod off;
mod on_failure;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use super::check::reference_to_disabled::{OffTarget, Outcome};
use super::check::{conflicting_units, dangling_reference, names_differ_in_case, reference_to_disabled};
use super::decode::Reference;
use super::load::is_name;
use super::plan::{EdgeKind, Kind, OffState, UnitName};
use super::typed::Typed;
use crate::diag::{Finding, Severity, Span};

/// All units by name.
pub(crate) type Units = BTreeMap<UnitName, Unit>;

/// A unit among the others.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Looked at alone; the same as long as its files are.
    pub typed: Arc<Typed>,
    /// What was found when it was looked at together with the others.
    pub found: Vec<Finding>,
    /// The units of the secrets that it reads.
    pub secrets: Vec<Reference>,
}

impl Unit {
    /// Not looked at together with the others yet.
    pub fn new(typed: Arc<Typed>) -> Self {
        Self { typed, found: Vec::new(), secrets: Vec::new() }
    }

    /// All units that it names, or reads the secret of.
    pub fn named(&self) -> impl Iterator<Item = &Reference> {
        self.typed.references.iter().chain(&self.secrets)
    }

    /// All that is wrong with it.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.typed.report.findings.iter().chain(&self.found)
    }

    /// Units that it names so that they take part with it; none where it does not take part itself.
    pub fn calls(&self) -> impl Iterator<Item = &UnitName> {
        let on = switched_off(self).is_none();
        let calls = |edge| matches!(edge, EdgeKind::Wants | EdgeKind::Requires | EdgeKind::Uses);
        let named = self.references.iter().filter(move |reference| on && calls(reference.edge));
        named.map(|reference| &reference.target)
    }

    /// The first error, if there is one.
    pub fn first_error(&self) -> Option<&Finding> {
        self.findings().find(|finding| finding.severity == Severity::Error)
    }
}

impl Deref for Unit {
    type Target = Typed;

    fn deref(&self) -> &Typed {
        &self.typed
    }
}

/// An instance that exists as soon as a unit names it: its template is there.
pub(crate) fn can_be_made(name: &UnitName, templates: &BTreeSet<UnitName>) -> bool {
    is_name(&name.name) && name.template().is_some_and(|template| templates.contains(&template))
}

/// Ties units to the units of the secrets that they read, where there are such: by the unit's own name, else by its entry.
/// A secret does not need its unit, which only says how it is kept and replaced.
pub(crate) fn tie_secrets(units: &mut Units) {
    let secrets = || units.values().filter(|unit| unit.name.kind == Kind::Secret);
    let entries = secrets().rev().filter_map(|unit| {
        unit.settings("secret").text("entry").map(|entry| (entry.to_owned(), unit.name.clone()))
    });
    let names = secrets().map(|unit| (unit.name.name.clone(), unit.name.clone()));
    let by_entry: BTreeMap<String, UnitName> = entries.chain(names).collect();
    if by_entry.is_empty() {
        return;
    }
    for unit in units.values_mut() {
        let read = unit.typed.secrets.iter().filter_map(|secret| {
            let target = by_entry.get(&secret.name)?.clone();
            let (span, path) = (secret.span, secret.path.clone());
            Some(Reference { edge: EdgeKind::Wants, target, span, path, full: false })
        });
        unit.secrets = read.collect();
    }
}

/// Looks at every name that a unit gives, and writes the findings into the unit that gives it.
pub(crate) fn check(units: &mut Units, templates: &BTreeSet<UnitName>) {
    let mut found: Vec<(UnitName, Finding)> = Vec::new();
    for unit in units.values().filter(|unit| !unit.masked) {
        for reference in &unit.references {
            if let Some(finding) = look(units, templates, unit, reference) {
                found.push((unit.name.clone(), finding));
            }
        }
    }
    found.extend(on_failure::idle_timers(units));
    found.extend(same_runtimes(units));
    found.extend(same_names(units));
    found.extend(same_but_for_case(units));
    for (name, finding) in found {
        if let Some(unit) = units.get_mut(&name) {
            unit.found.push(finding);
        }
    }
}

/// A unit that is switched off by its own files, and how.
pub(crate) fn switched_off(unit: &Typed) -> Option<OffState> {
    if unit.masked {
        Some(OffState::Masked)
    } else if !unit.enabled {
        Some(OffState::Disabled)
    } else {
        None
    }
}

fn look(
    units: &Units,
    templates: &BTreeSet<UnitName>,
    unit: &Typed,
    reference: &Reference,
) -> Option<Finding> {
    let Reference { edge, target, span, path, full } = reference;
    let Some(other) = units.get(target) else {
        if templates.contains(target) {
            return Some(dangling_reference::template(path, *span, target));
        }
        // Nobody who takes part calls for it, so it is not there; but it is no slip.
        if can_be_made(target, templates) {
            return None;
        }
        let instance = target.instance().unwrap_or_default();
        let makes = templates.iter().filter(|_| !instance.is_empty());
        let made: Vec<UnitName> = makes
            .map(|template| UnitName { name: format!("{}{instance}", template.name), kind: template.kind })
            .collect();
        let known = units.keys().chain(&made).filter(|name| *full || name.kind == target.kind);
        return Some(dangling_reference::finding(path, *span, target, *full, known));
    };
    if *edge == EdgeKind::OnFailure {
        return on_failure::look(unit, reference, other);
    }
    let off = switched_off(other);
    if *edge == EdgeKind::Conflicts {
        return off.is_none().then(|| conflicting_units::finding(*span, target));
    }
    let state = off.filter(|_| needs(*edge))?;
    let key = if state == OffState::Masked { "masked" } else { "enabled" };
    let place = other.spans("install", key).map(|spans| spans.value);
    let target = OffTarget { name: target.clone(), state, place };
    Some(reference_to_disabled::finding(path, *span, &target, outcome(units, unit, reference)))
}

fn needs(edge: EdgeKind) -> bool {
    matches!(edge, EdgeKind::Requires | EdgeKind::Uses)
}

/// A route lives on while one of its engines is not switched off.
fn outcome(units: &Units, unit: &Typed, reference: &Reference) -> Outcome {
    let mut uses = unit.references.iter().filter(|other| other.edge == EdgeKind::Uses);
    let another =
        uses.any(|other| units.get(&other.target).is_some_and(|target| switched_off(target).is_none()));
    if unit.name.kind != Kind::Route || reference.edge != EdgeKind::Uses || !another {
        return Outcome::Off;
    }
    let falls_back = unit.settings("route").list("on").iter().any(|word| word == "config");
    if falls_back { Outcome::NextEngine } else { Outcome::CasesWait }
}

/// Timers whose name a connector has: cases carry the name alone, and routes and the record go by it.
fn same_names(units: &Units) -> Vec<(UnitName, Finding)> {
    let clash = |unit: &Unit| {
        let other = UnitName { name: unit.name.name.clone(), kind: Kind::Connector };
        let connector = units.get(&other).filter(|connector| switched_off(connector).is_none())?;
        let finding =
            conflicting_units::same_name(Span::file(unit.source), Span::file(connector.source), &other);
        Some((unit.name.clone(), finding))
    };
    let on = units.values().filter(|unit| unit.name.kind == Kind::Timer && switched_off(unit).is_none());
    on.filter_map(clash).collect()
}

/// Units whose names a disk that does not tell capital letters apart would not tell apart.
fn same_but_for_case(units: &Units) -> Vec<(UnitName, Finding)> {
    let mut first: HashMap<(String, Kind), &Unit> = HashMap::new();
    let mut found = Vec::new();
    for unit in units.values() {
        let folded = (unit.name.name.to_lowercase(), unit.name.kind);
        if let Some(other) = first.get(&folded) {
            let (here, there) = (Span::file(unit.source), Span::file(other.source));
            found.push((
                unit.name.clone(),
                names_differ_in_case::finding(&unit.name, here, &other.name, there),
            ));
        } else {
            first.insert(folded, unit);
        }
    }
    found
}

fn same_runtimes(units: &Units) -> Vec<(UnitName, Finding)> {
    let mut first: BTreeMap<&str, &Unit> = BTreeMap::new();
    let mut found = Vec::new();
    for unit in units.values().filter(|unit| unit.name.kind == Kind::Runtime && switched_off(unit).is_none())
    {
        let Some(word) = unit.settings("runtime").text("runtime") else { continue };
        let Some(earlier) = first.insert(word, unit) else { continue };
        first.insert(word, earlier);
        if let (Some(span), Some(before)) =
            (unit.spans("runtime", "runtime"), earlier.spans("runtime", "runtime"))
        {
            let finding = conflicting_units::same_runtime(word, span.value, before.value, &earlier.name);
            found.push((unit.name.clone(), finding));
        }
    }
    found
}
