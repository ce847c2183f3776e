//! Budgets over all units together: a cap over runs whose price nobody knows is told where it stands.

use super::check::unkept_budget;
use super::compile::daemon_name;
use super::graph::{Units, switched_off};
use super::kinds::money;
use super::plan::{Kind, UnitName};
use super::registry::Registry;
use super::typed::Typed;
use crate::diag::Finding;

/// Keys of `[budget]` that cap a sum over several runs.
const CAPS: [&str; 3] = ["daily_usd", "monthly_usd", "per_case_usd"];

pub(crate) fn check(units: &mut Units, registry: &Registry) {
    let daemon = units.get(&daemon_name()).and_then(|unit| cap(unit));
    let mut found: Vec<(UnitName, Finding)> = Vec::new();
    for unit in units.values().filter(|unit| unit.name.kind == Kind::Engine) {
        if switched_off(unit).is_some() || unit.broken || unit.report.first_error().is_some() {
            continue;
        }
        let Some(view) = unit.settings("engine").text("engine").and_then(|word| registry.engine(word)) else {
            continue;
        };
        let Some(why) = money::engine(unit, view).unknown() else { continue };
        if let Some((key, span)) = cap(unit) {
            found.push((unit.name.clone(), unkept_budget::finding(span, key, &unit.name, why)));
        } else if let Some((key, span)) = daemon {
            found.push((daemon_name(), unkept_budget::finding(span, key, &unit.name, why)));
        }
    }
    for (name, finding) in found {
        if let Some(unit) = units.get_mut(&name) {
            unit.found.push(finding);
        }
    }
}

fn cap(unit: &Typed) -> Option<(&'static str, crate::diag::Span)> {
    let set = |key: &&str| unit.settings(money::BUDGET).usd(key).is_some();
    let key = CAPS.into_iter().find(set)?;
    Some((key, unit.spans(money::BUDGET, key)?.value))
}
