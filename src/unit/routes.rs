//! Routes looked at together: who shadows whom, who never matches, what must stay on this machine.

use globset::Glob;

use super::check::{bad_value, never_matching_route, private_route_cloud_engine, shadowed_route};
use super::graph::{Units, switched_off};
use super::kinds::route;
use super::plan::{EdgeKind, Kind, RouteMatch, UnitName};
use super::registry::Registry;
use super::typed::Typed;
use crate::diag::{Finding, Span};
use crate::model::limits;

/// Writes the findings into the routes.
pub(crate) fn check(units: &mut Units, registry: &Registry) {
    let mut found: Vec<(UnitName, Finding)> = Vec::new();
    let routes =
        || units.values().filter(|unit| unit.name.kind == Kind::Route && switched_off(unit).is_none());
    for unit in routes() {
        let name = || unit.name.clone();
        found.extend(globs(unit).into_iter().map(|finding| (name(), finding)));
        found.extend(never(unit, units).into_iter().map(|finding| (name(), finding)));
        found.extend(private(unit, units, registry).into_iter().map(|finding| (name(), finding)));
    }
    let sound = routes().filter(|unit| unit.report.first_error().is_none());
    let mut ordered: Vec<(&Typed, i64, RouteMatch)> = sound
        .map(|unit| (unit, unit.settings("route").integer("priority").unwrap_or(0), route::matches(unit)))
        .collect();
    ordered.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.name.cmp(&b.0.name)));
    for (at, (unit, _, matches)) in ordered.iter().enumerate() {
        let mut earlier = ordered.iter().take(at.min(limits::ROUTES_COMPARED_MAX));
        if let Some((by, _, _)) = earlier.find(|(_, _, wider)| covers(wider, matches)) {
            found.push((unit.name.clone(), shadowed_route::finding(place(unit), &by.name, place(by))));
        }
    }
    for (name, finding) in found {
        if let Some(unit) = units.get_mut(&name) {
            unit.report.push(finding);
        }
    }
}

/// Where a route's rank or condition stands.
fn place(unit: &Typed) -> Span {
    unit.header("match").or_else(|| unit.header("route")).unwrap_or(Span::file(unit.source))
}

fn globs(unit: &Typed) -> Vec<Finding> {
    let mut found = Vec::new();
    for key in ["connector", "kind", "labels", "author"] {
        let spans = unit.spans("match", key).map(|spans| spans.items.as_slice()).unwrap_or_default();
        for (pattern, span) in unit.settings("match").list(key).iter().zip(spans) {
            if Glob::new(pattern).is_err() {
                found.push(bad_value::finding(&format!("match.{key}"), *span, "not a glob").note(
                    "`*` stands for anything, `?` for one character, `[ab]` for one of them, `{a,b}` for one of these",
                ));
            }
        }
    }
    found
}

fn never(unit: &Typed, units: &Units) -> Vec<Finding> {
    let Some(spans) = unit.spans("match", "connector") else { return Vec::new() };
    let connectors =
        || units.keys().filter(|name| name.kind == Kind::Connector).map(|name| name.name.as_str());
    let patterns = unit.settings("match").list("connector").iter().zip(&spans.items);
    patterns
        .filter(|(pattern, _)| Glob::new(pattern).is_ok() && !connectors().any(|name| fits(pattern, name)))
        .map(|(pattern, span)| never_matching_route::finding(pattern, *span, connectors()))
        .collect()
}

fn private(unit: &Typed, units: &Units, registry: &Registry) -> Vec<Finding> {
    if !unit.settings("route").flag("private") {
        return Vec::new();
    }
    let promised = unit.spans("route", "private").map(|spans| spans.value);
    let uses = unit.references.iter().filter(|reference| reference.edge == EdgeKind::Uses);
    uses.filter_map(|reference| {
        let target = units.get(&reference.target)?;
        let view = registry.engine(target.settings("engine").text("engine")?)?;
        let local = (view.is_local)(target.settings(view.name));
        let place = target.spans("engine", "engine").map(|spans| spans.value);
        (!local)
            .then(|| private_route_cloud_engine::finding(reference.span, promised, &reference.target, place))
    })
    .collect()
}

/// Every case that `narrow` takes is taken by `wide`. Says no when it cannot tell.
fn covers(wide: &RouteMatch, narrow: &RouteMatch) -> bool {
    let all = |wide: &[String], narrow: &[String]| {
        wide.is_empty()
            || (!narrow.is_empty()
                && narrow.iter().all(|one| wide.iter().any(|pattern| within(pattern, one))))
    };
    let sizes = match (wide.size_max, narrow.size_max) {
        (None, _) => true,
        (Some(wide), Some(narrow)) => narrow <= wide,
        (Some(_), None) => false,
    };
    sizes
        && all(&wide.connector, &narrow.connector)
        && all(&wide.kind, &narrow.kind)
        && all(&wide.labels, &narrow.labels)
        && all(&wide.author, &narrow.author)
}

fn within(pattern: &str, one: &str) -> bool {
    let plain = !one.contains(['*', '?', '[', '{', '\\']);
    pattern == one || pattern == "*" || (plain && fits(pattern, one))
}

fn fits(pattern: &str, name: &str) -> bool {
    pattern == name || Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(connector: &[&str], labels: &[&str], size_max: Option<u64>) -> RouteMatch {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        RouteMatch { connector: list(connector), labels: list(labels), size_max, ..RouteMatch::default() }
    }

    #[test]
    fn a_wider_rule_covers_a_narrower_one() {
        let all = rule(&[], &[], None);
        let inbox = rule(&["inbox"], &[], None);
        let glob = rule(&["in*"], &[], None);
        let small = rule(&["inbox"], &[], Some(10));
        assert!(covers(&all, &inbox) && covers(&glob, &inbox) && covers(&inbox, &small));
        assert!(!covers(&inbox, &all) && !covers(&inbox, &glob) && !covers(&small, &inbox));
        assert!(!covers(&rule(&[], &["a"], None), &inbox));
    }
}
