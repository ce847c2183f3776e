//! Lists and free tables.

use std::collections::BTreeMap;

use super::{At, Reference, expanded, moments, secret, tests_of, text};
use crate::diag::Span;
use crate::model::limits;
use crate::unit::check::{bad_value, wrong_type};
use crate::unit::kinds::common;
use crate::unit::plan::{EdgeKind, Kind, UnitName};
use crate::unit::report::Report;
use crate::unit::schema::{KeySpec, ValueType};
use crate::unit::tree::{Data, Node, Table};
use crate::unit::value::Setting;

/// The elements; `None` if one of them has a finding.
pub(super) fn decode(
    at: At<'_>,
    spec: &KeySpec,
    items: &[Node],
    report: &mut Report,
    references: &mut Vec<Reference>,
) -> Option<Vec<String>> {
    if let Some(first) = items.first().filter(|_| items.len() > limits::UNIT_LIST_LEN_MAX) {
        let problem = format!("has more than {} elements", limits::UNIT_LIST_LEN_MAX);
        report.push(bad_value::finding(&at.path(), first.span, &problem));
        return None;
    }
    let mut all = true;
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let Data::Text(given) = &item.data else {
            report.push(wrong_type::element(&at.path(), item));
            all = false;
            continue;
        };
        let decoded = if text::is_clean(at, item.span, given, false, report) {
            expanded(at, spec, item.span, given, report)
                .and_then(|given| element(at, &spec.value, item.span, &given, report, references))
        } else {
            None
        };
        match decoded {
            Some(text) => out.push(text),
            None => all = false,
        }
    }
    all.then_some(out)
}

fn element(
    at: At<'_>,
    value: &ValueType,
    span: Span,
    given: &str,
    report: &mut Report,
    references: &mut Vec<Reference>,
) -> Option<String> {
    match value {
        ValueType::Choices(words) if !words.contains(&given) => {
            report.push(bad_value::choice(&at.path(), span, given, words));
            None
        }
        ValueType::Calendars | ValueType::Windows => moments::decode(at, value, span, given, report),
        ValueType::Tests(tested) => tests_of::decode(at, *tested, span, given, report),
        ValueType::Units(kind) => unit_name(at, kind, span, given, report, references),
        _ => Some(given.to_owned()),
    }
}

/// The name of a unit of `kind` (`unit`: of any, with the kind behind the name), as it is used from then on.
pub(super) fn unit_name(
    at: At<'_>,
    kind: &str,
    span: Span,
    given: &str,
    report: &mut Report,
    references: &mut Vec<Reference>,
) -> Option<String> {
    let full = kind == common::ANY_UNIT;
    let target = if full {
        given.rsplit_once('.').and_then(|(name, word)| Some((name, Kind::from_word(word)?)))
    } else {
        let kind = Kind::from_word(kind);
        let name = kind.and_then(|kind| given.strip_suffix(kind.word())?.strip_suffix('.')).unwrap_or(given);
        kind.map(|kind| (name, kind))
    };
    let Some((name, kind)) = target.filter(|(name, _)| !name.is_empty()) else {
        report.push(bad_value::finding(
            &at.path(),
            span,
            "takes full names of units, with the kind: `inbox.connector`",
        ));
        return None;
    };
    let target = UnitName { name: name.to_owned(), kind };
    let own = matches!(at.table, "unit" | "install");
    let edge = common::edge(at.key).filter(|_| own).unwrap_or(EdgeKind::Uses);
    references.push(Reference { edge, target, span, path: at.path(), full });
    Some(if full { given.to_owned() } else { name.to_owned() })
}

/// A free table of environment names.
pub(super) fn env_map(at: At<'_>, table: &Table, report: &mut Report) -> Option<BTreeMap<String, Setting>> {
    let mut all = true;
    let mut out = BTreeMap::new();
    for (name, entry) in table.0.iter().filter(|(_, entry)| !matches!(entry.node.data, Data::Unset)) {
        if !secret::is_env_name(name) {
            report.push(bad_value::finding(
                at.table,
                entry.key,
                "the name of a variable has letters, digits and `_`, and begins with no digit",
            ));
            all = false;
            continue;
        }
        match secret::setting(At { key: name, ..at }, &entry.node, report) {
            Some(setting) => {
                out.insert(name.clone(), setting);
            }
            None => all = false,
        }
    }
    all.then_some(out)
}
