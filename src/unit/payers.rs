//! Who pays for an engine: a subscription that is given the key of an API account is told, and a route may not choose.

use super::check::{route_chooses_login, subscription_with_api_key};
use super::graph::{Units, switched_off};
use super::plan::{Kind, UnitName};
use super::typed::Typed;
use crate::diag::{Finding, Span};

/// Variables that the engines take away from a subscription, as their own files have it.
const API_KEYS: [(&str, &[&str]); 2] = [
    ("claude", &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
    ("codex", &["CODEX_API_KEY", "OPENAI_API_KEY"]),
];

/// How the variables begin by which engines are told whose login they use.
const LOGINS: [&str; 10] = [
    "ANTHROPIC_",
    "CLAUDE_",
    "OPENAI_",
    "CODEX_",
    "GEMINI_",
    "GOOGLE_",
    "COPILOT_",
    "QWEN_",
    "OPENROUTER_",
    "HOME",
];

/// Writes the findings into the engines and routes.
pub(crate) fn check(units: &mut Units) {
    let mut found = routes(units);
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

/// Routes whose environment names a login.
fn routes(units: &Units) -> Vec<(UnitName, Finding)> {
    let mut found = Vec::new();
    for unit in units.values().filter(|unit| unit.name.kind == Kind::Route && switched_off(unit).is_none()) {
        for reference in unit.references.iter().filter(|reference| reference.target.kind == Kind::Env) {
            let Some(env) = units.get(&reference.target) else { continue };
            let set = env.settings("set").map("set").into_iter().flat_map(|variables| variables.keys());
            let (pass, unset) = (env.settings("pass").list("names"), env.settings("unset").list("names"));
            let names: Vec<&String> = set.chain(pass).chain(unset).collect();
            let login = names.into_iter().find(|name| LOGINS.iter().any(|login| name.starts_with(login)));
            if let Some(name) = login {
                let place = named(env, name).unwrap_or(Span::file(env.source));
                let finding = route_chooses_login::finding(reference.span, place, name, &env.name);
                found.push((unit.name.clone(), finding));
            }
        }
    }
    found
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
