//! What a key's lower layers say: it does not count, but it must fit.

use super::check::{type_change, without_effect};
use super::schema::{KeySpec, ValueType};
use super::tree::{Data, Entry};
use crate::diag::{Finding, Severity};

/// Looks at all layers of a key. An error says that nobody can tell what the layers mean together.
pub(crate) fn check(path: &str, spec: &KeySpec, entry: &Entry) -> Vec<Finding> {
    let mut findings = idle_unset(path, entry);
    let set = || entry.layers().filter(|node| !matches!(node.data, Data::Unset));
    // A text under a key for secrets is the secret itself: that has a rule of its own.
    if spec.value != ValueType::Secret
        && let Some(wrong) = set().find(|node| !fits(&spec.value, &node.data))
        && let Some(right) = set().find(|node| fits(&spec.value, &node.data))
    {
        findings.push(type_change::key(path, wrong, right));
    }
    findings
}

/// `unset` of a key that no layer below sets.
pub(crate) fn idle_unset(path: &str, entry: &Entry) -> Vec<Finding> {
    let layers: Vec<_> = entry.layers().collect();
    let is_set = |node: &&super::tree::Node| !matches!(node.data, Data::Unset);
    let idle = layers
        .iter()
        .enumerate()
        .filter(|(at, node)| matches!(node.data, Data::Unset) && !layers.iter().skip(at + 1).any(is_set));
    idle.map(|(_, node)| without_effect::unset(path, node.span)).collect()
}

/// An error among them.
pub(crate) fn are_contradictory(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// A value of this type can stand under a key of that one.
fn fits(value: &ValueType, data: &Data) -> bool {
    match value {
        ValueType::Bool => matches!(data, Data::Bool(_)),
        ValueType::Integer { .. } => matches!(data, Data::Integer(_)),
        ValueType::Size => matches!(data, Data::Integer(_) | Data::Text(_)),
        ValueType::Usd => matches!(data, Data::Integer(_) | Data::Float(_) | Data::Text(_)),
        ValueType::List | ValueType::Units(_) | ValueType::Choices(_) => {
            matches!(data, Data::List(_) | Data::Table(_))
        }
        // One may stand without brackets.
        ValueType::Calendars | ValueType::Windows | ValueType::Tests(_) => {
            matches!(data, Data::List(_) | Data::Table(_) | Data::Text(_))
        }
        ValueType::EnvMap | ValueType::Secret => matches!(data, Data::Table(_)),
        ValueType::Text
        | ValueType::Duration { .. }
        | ValueType::Path
        | ValueType::Url
        | ValueType::Host
        | ValueType::Choice(_)
        | ValueType::Unit(_)
        | ValueType::LogFilter
        | ValueType::Backlog => matches!(data, Data::Text(_)),
    }
}
