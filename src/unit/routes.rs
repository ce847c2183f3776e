//! Routes looked at together: who shadows whom, who never matches, what must stay on this machine.

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use super::check::{bad_value, never_matching_route, private_route_cloud_engine, shadowed_route};
use super::graph::{Units, switched_off};
use super::plan::{EdgeKind, Kind, UnitName};
use super::registry::Registry;
use super::typed::Typed;
use crate::diag::{Finding, Span};
use crate::model::limits;

/// Writes the findings into the routes.
pub(crate) fn check(units: &mut Units, registry: &Registry) {
    // The cases of a timer carry its name as their connector's.
    let makes_cases = |name: &&UnitName| matches!(name.kind, Kind::Connector | Kind::Timer);
    let connectors: BTreeSet<&str> =
        units.keys().filter(makes_cases).map(|name| name.name.as_str()).collect();
    let mut found: Vec<(UnitName, Finding)> = Vec::new();
    let mut ordered: Vec<Rule<'_>> = Vec::new();
    for unit in units.values().filter(|unit| unit.name.kind == Kind::Route && switched_off(unit).is_none()) {
        let rule = Rule::new(unit);
        let mut add = |findings: Vec<Finding>| {
            found.extend(findings.into_iter().map(|finding| (unit.name.clone(), finding)));
        };
        add(rule.bad_globs());
        add(rule.never(&connectors));
        add(private(unit, units, registry));
        if unit.first_error().is_none() {
            ordered.push(rule);
        }
    }
    ordered.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.unit.name.cmp(&b.unit.name)));
    for (at, rule) in ordered.iter().enumerate() {
        let mut earlier = ordered.iter().take(at.min(limits::ROUTES_COMPARED_MAX));
        if let Some(by) = earlier.find(|wider| wider.covers(rule)) {
            let finding = shadowed_route::finding(place(rule.unit), &by.unit.name, place(by.unit));
            found.push((rule.unit.name.clone(), finding));
        }
    }
    for (name, finding) in found {
        if let Some(unit) = units.get_mut(&name) {
            unit.found.push(finding);
        }
    }
}

/// The conditions of a route, each glob compiled once.
struct Rule<'a> {
    unit: &'a Typed,
    priority: i64,
    size_min: u64,
    size_max: Option<u64>,
    /// Lists of words that stand for themselves: trust, language, hours.
    words: [&'a [String]; 3],
    connector: Vec<Pattern<'a>>,
    kind: Vec<Pattern<'a>>,
    labels: Vec<Pattern<'a>>,
    author: Vec<Pattern<'a>>,
}

/// One word of a condition.
struct Pattern<'a> {
    text: &'a str,
    sort: Sort,
}

enum Sort {
    /// Stands for itself.
    Literal,
    /// `*`.
    Any,
    /// Stands for several.
    Glob(Box<GlobMatcher>),
    /// Cannot be read.
    Bad,
}

impl<'a> Pattern<'a> {
    fn new(text: &'a str) -> Self {
        let sort = if text == "*" {
            Sort::Any
        } else if !text.contains(['*', '?', '[', ']', '{', '}', '\\']) {
            Sort::Literal
        } else {
            Glob::new(text).map_or(Sort::Bad, |glob| Sort::Glob(Box::new(glob.compile_matcher())))
        };
        Self { text, sort }
    }

    fn fits(&self, word: &str) -> bool {
        match &self.sort {
            Sort::Literal => self.text == word,
            Sort::Any => true,
            Sort::Glob(matcher) => matcher.is_match(word),
            Sort::Bad => false,
        }
    }

    /// Fits all that `other` fits. Says no when it cannot tell.
    fn covers(&self, other: &Self) -> bool {
        matches!(self.sort, Sort::Any)
            || self.text == other.text
            || (matches!(other.sort, Sort::Literal) && self.fits(other.text))
    }
}

impl<'a> Rule<'a> {
    fn new(unit: &'a Typed) -> Self {
        let own = unit.settings("match");
        let list = |key| own.list(key).iter().map(|text| Pattern::new(text)).collect();
        Self {
            unit,
            priority: unit.settings("route").integer("priority").unwrap_or(0),
            size_min: own.size("size_min").unwrap_or(0),
            size_max: own.size("size_max"),
            words: ["trust", "language", "hours"].map(|key| own.list(key)),
            connector: list("connector"),
            kind: list("kind"),
            labels: list("labels"),
            author: list("author"),
        }
    }

    fn lists(&self) -> [(&'static str, &[Pattern<'a>]); 4] {
        [
            ("connector", &self.connector),
            ("kind", &self.kind),
            ("labels", &self.labels),
            ("author", &self.author),
        ]
    }

    /// The places of a list's words, in the order of the words.
    fn spans(&self, key: &str) -> &[Span] {
        self.unit.spans("match", key).map(|spans| spans.items.as_slice()).unwrap_or_default()
    }

    fn bad_globs(&self) -> Vec<Finding> {
        let all = self.lists().into_iter().flat_map(|(key, patterns)| {
            patterns.iter().zip(self.spans(key)).map(move |(pattern, span)| (key, pattern, *span))
        });
        all.filter(|(_, pattern, _)| matches!(pattern.sort, Sort::Bad))
            .map(|(key, _, span)| {
                bad_value::finding(&format!("match.{key}"), span, "not a glob").note(
                    "`*` stands for anything, `?` for one character, `[ab]` for one of them, `{a,b}` for one of these",
                )
            })
            .collect()
    }

    fn never(&self, connectors: &BTreeSet<&str>) -> Vec<Finding> {
        let fits = |pattern: &Pattern<'_>| match pattern.sort {
            Sort::Literal => connectors.contains(pattern.text),
            Sort::Bad => true,
            Sort::Any | Sort::Glob(_) => connectors.iter().any(|name| pattern.fits(name)),
        };
        let patterns = self.connector.iter().zip(self.spans("connector"));
        patterns
            .filter(|(pattern, _)| !fits(pattern))
            .map(|(pattern, span)| {
                never_matching_route::finding(pattern.text, *span, connectors.iter().copied())
            })
            .collect()
    }

    /// Every case that `narrow` takes is taken by this rule. Says no when it cannot tell.
    fn covers(&self, narrow: &Self) -> bool {
        let sizes = match (self.size_max, narrow.size_max) {
            (None, _) => true,
            (Some(wide), Some(narrow)) => narrow <= wide,
            (Some(_), None) => false,
        };
        let all = |wide: &[Pattern<'_>], narrow: &[Pattern<'_>]| {
            wide.is_empty()
                || (!narrow.is_empty()
                    && narrow.iter().all(|one| wide.iter().any(|pattern| pattern.covers(one))))
        };
        let words = || {
            self.words.iter().zip(narrow.words).all(|(wide, narrow)| {
                // Hours that are written otherwise may be the same; then it is not noticed.
                wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|word| wide.contains(word)))
            })
        };
        // Asked of every pair of routes: what tells most of them apart comes first.
        all(&self.connector, &narrow.connector)
            && all(&self.kind, &narrow.kind)
            && all(&self.labels, &narrow.labels)
            && all(&self.author, &narrow.author)
            && sizes
            && self.size_min <= narrow.size_min
            && words()
    }
}

/// Where a route's rank or condition stands.
fn place(unit: &Typed) -> Span {
    unit.header("match").or_else(|| unit.header("route")).unwrap_or(Span::file(unit.source))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        let covers = |wide, narrow| Pattern::new(wide).covers(&Pattern::new(narrow));
        assert!(covers("*", "in*") && covers("in*", "inbox") && covers("in*", "in*") && covers("a", "a"));
        assert!(
            !covers("inbox", "in*") && !covers("i*", "in*") && !covers("[", "inbox") && !covers("a", "b")
        );
    }
}
