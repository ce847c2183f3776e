//! Who pays for an engine: a subscription that is given the key of an API account is told.

use super::check::subscription_with_api_key;
use super::graph::{Units, switched_off};
use super::plan::{Kind, UnitName};
use super::typed::Typed;
use crate::diag::{Finding, Span};

/// Variables that the engines take away from a subscription, as their own files have it.
const API_KEYS: [(&str, &[&str]); 2] = [
    ("claude", &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
    ("codex", &["CODEX_API_KEY", "OPENAI_API_KEY"]),
];

/// Writes the findings into the engines.
pub(crate) fn check(units: &mut Units) {
    let mut found: Vec<(UnitName, Finding)> = Vec::new();
    for unit in units.values().filter(|unit| unit.name.kind == Kind::Engine && switched_off(unit).is_none()) {
        let word = unit.settings("engine").text("engine").unwrap_or_default();
        let Some((engine, keys)) = API_KEYS.iter().find(|(engine, _)| *engine == word) else { continue };
        if unit.settings(engine).text("auth") != Some("subscription") {
            continue;
        }
        let Some(auth) = unit.spans(engine, "auth") else { continue };
        let envs = unit.references.iter().filter(|reference| reference.target.kind == Kind::Env);
        for env in envs.filter_map(|reference| units.get(&reference.target)) {
            for key in *keys {
                if let Some(place) = named(env, key) {
                    let finding = subscription_with_api_key::finding(auth.value, place, key, &env.name);
                    found.push((unit.name.clone(), finding));
                }
            }
        }
    }
    for (name, finding) in found {
        if let Some(unit) = units.get_mut(&name) {
            unit.found.push(finding);
        }
    }
}

/// Where an env unit sets a variable or hands it through.
fn named(env: &Typed, name: &str) -> Option<Span> {
    let set = env.settings("set").map("set").is_some_and(|variables| variables.contains_key(name));
    if set {
        return Some(env.free_spans(name).map_or(Span::file(env.source), |spans| spans.value));
    }
    let passed = env.settings("pass").list("names").iter().any(|passed| passed == name);
    passed.then(|| env.spans("pass", "names").map_or(Span::file(env.source), |spans| spans.value))
}
