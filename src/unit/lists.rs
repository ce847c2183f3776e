//! List operations: `{ append = […], prepend = […], remove = […] }` in place of a list changes the one below it.

use super::check::{bad_value, without_effect};
use super::tree::{Data, Entry, Node, Table};
use crate::diag::{Finding, Span};

/// What a layer may do to a list.
const OPERATIONS: [&str; 3] = ["append", "prepend", "remove"];

/// The list that all layers make together, with the places of its elements; `None` after an error. `path` is
/// `table.key`, `default` the list of the schema.
pub(crate) fn resolve(
    path: &str,
    entry: &Entry,
    default: Option<Node>,
    findings: &mut Vec<Finding>,
) -> Option<Node> {
    let mut operations: Vec<&Table> = Vec::new();
    let mut base = default;
    for layer in entry.layers() {
        match &layer.data {
            Data::Table(table) => operations.push(table),
            Data::Unset => break,
            _ => {
                base = Some(layer.clone());
                break;
            }
        }
    }
    if operations.is_empty() {
        return Some(entry.node.clone());
    }
    let mut items = match base {
        Some(Node { data: Data::List(items), .. }) => items,
        // Some lists of one may stand without brackets.
        Some(single) => vec![single],
        None => Vec::new(),
    };
    let mut sound = true;
    for table in operations.into_iter().rev() {
        sound &= apply(path, &mut items, table, entry.node.span, findings);
    }
    sound.then_some(Node { span: entry.node.span, data: Data::List(items) })
}

/// Takes away, then puts before and behind. What is there already is not put in a second time, so that the same layer
/// twice is the same as once.
fn apply(path: &str, items: &mut Vec<Node>, table: &Table, span: Span, findings: &mut Vec<Finding>) -> bool {
    let wrong = |span| {
        let problem = "takes a list, or `{ append = […], prepend = […], remove = […] }`";
        bad_value::finding(path, span, problem)
    };
    let known = |name: &String| OPERATIONS.contains(&name.as_str());
    if let Some((_, other)) = table.0.iter().find(|(name, _)| !known(name)) {
        findings.push(wrong(other.key));
        return false;
    }
    if table.0.is_empty() {
        findings.push(wrong(span));
        return false;
    }
    let mut lists: [&[Node]; 3] = [&[]; 3];
    for (operation, list) in OPERATIONS.iter().zip(&mut lists) {
        match table.get(operation).map(|entry| &entry.node) {
            Some(Node { data: Data::List(items), .. }) => *list = items,
            Some(other) => {
                findings.push(wrong(other.span));
                return false;
            }
            None => {}
        }
    }
    let [append, prepend, remove] = lists;
    for gone in remove {
        let before = items.len();
        items.retain(|item| !is_same(item, gone));
        if items.len() == before {
            findings.push(without_effect::remove(path, gone.span));
        }
    }
    let mut place = 0;
    for new in prepend {
        if !items.iter().any(|item| is_same(item, new)) {
            items.insert(place, new.clone());
            place += 1;
        }
    }
    for new in append {
        if !items.iter().any(|item| is_same(item, new)) {
            items.push(new.clone());
        }
    }
    true
}

/// Lists hold texts; whatever else stands in one is told when it is decoded.
fn is_same(one: &Node, other: &Node) -> bool {
    matches!((&one.data, &other.data), (Data::Text(one), Data::Text(other)) if one == other)
}
