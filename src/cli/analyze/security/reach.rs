//! Which connector's text can come to which engine, over which route.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::Glob;

use crate::unit::plan::{EngineUnit, Plan, RouteUnit, Standing};

/// One way of text: connector → route → engine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The connector's name.
    pub connector: String,
    /// The route's name.
    pub route: String,
    /// The engine's name.
    pub engine: String,
    /// The route takes only authors that it names.
    pub authors: bool,
}

/// All ways, over routes in the order in which they are asked. A route without further conditions ends the search, as
/// it does in the router; engines behind the first count only where failures lead to them.
#[must_use]
pub fn ways(plan: &Plan) -> Vec<Way> {
    let mut routes: Vec<&Arc<RouteUnit>> = active(&plan.routes).collect();
    routes.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.name.cmp(&b.name)));
    let engines: BTreeMap<&str, &Arc<EngineUnit>> =
        active(&plan.engines).map(|unit| (unit.name.as_str(), unit)).collect();
    let mut found = BTreeSet::new();
    for connector in active(&plan.connectors) {
        for route in routes.iter().filter(|route| takes(route, &connector.name)) {
            let reached = if route.on.is_empty() { 1 } else { route.engines.len() };
            for name in route.engines.iter().take(reached) {
                let Some(engine) = engines.get(name.as_str()) else { continue };
                if route.private && !engine.local {
                    continue;
                }
                found.insert(Way {
                    connector: connector.name.clone(),
                    route: route.name.clone(),
                    engine: name.clone(),
                    authors: !route.matches.author.is_empty()
                        && route.matches.author.iter().all(|author| !author.starts_with('*')),
                });
            }
            if takes_everything(route) {
                break;
            }
        }
    }
    found.into_iter().collect()
}

/// Units that take part.
pub fn active<T>(units: &BTreeMap<String, Standing<T>>) -> impl Iterator<Item = &Arc<T>> {
    units.values().filter_map(|standing| match standing {
        Standing::Active(unit) => Some(unit),
        Standing::Off(_) => None,
    })
}

fn takes(route: &RouteUnit, connector: &str) -> bool {
    let patterns = &route.matches.connector;
    patterns.is_empty()
        || patterns
            .iter()
            .any(|pattern| Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(connector)))
}

fn takes_everything(route: &RouteUnit) -> bool {
    let matches = &route.matches;
    matches.kind.is_empty()
        && matches.labels.is_empty()
        && matches.author.is_empty()
        && matches.size_max.is_none()
}
