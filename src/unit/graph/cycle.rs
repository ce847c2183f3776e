//! Cycles: strongly connected parts of the order among units that are on, each told by one of its shortest cycles.

use std::collections::{BTreeMap, VecDeque};

use super::{Units, switched_off};
use crate::diag::Span;
use crate::unit::check::dependency_cycle::{self, Step};
use crate::unit::plan::{EdgeKind, UnitName};

/// One edge of the order: the unit waits for another.
#[derive(Clone, Copy)]
struct Edge {
    to: usize,
    kind: EdgeKind,
    span: Span,
}

/// Finds all cycles and writes each into all of its units: one finding, at the first one, and the path for the rest.
/// Returns the units that are part of one, with the path.
pub(crate) fn check(units: &mut Units) -> BTreeMap<UnitName, (String, Span)> {
    let names: Vec<UnitName> = units.keys().cloned().collect();
    let order = order(units, &names);
    let mut members = BTreeMap::new();
    for part in parts(&order) {
        let steps = shortest(&part, &order, &names);
        let Some(first) = steps.first() else { continue };
        let path = dependency_cycle::path(&steps);
        for index in &part {
            if let Some(name) = names.get(*index) {
                members.insert(name.clone(), (path.clone(), first.span));
            }
        }
        if let Some(finding) = dependency_cycle::finding(&steps)
            && let Some(unit) = units.get_mut(&first.from)
        {
            unit.found.push(finding);
        }
    }
    members
}

fn order(units: &Units, names: &[UnitName]) -> Vec<Vec<Edge>> {
    let index: BTreeMap<&UnitName, usize> = names.iter().enumerate().map(|(at, name)| (name, at)).collect();
    let mut order: Vec<Vec<Edge>> = vec![Vec::new(); names.len()];
    for (at, unit) in units.values().enumerate() {
        if switched_off(unit).is_some() {
            continue;
        }
        for reference in unit.named() {
            let Some(&target) = index.get(&reference.target) else { continue };
            if units.get(&reference.target).is_none_or(|other| switched_off(other).is_some()) {
                continue;
            }
            let edge = |to| Edge { to, kind: reference.edge, span: reference.span };
            let (from, edge) = match reference.edge {
                EdgeKind::Wants | EdgeKind::Requires | EdgeKind::Uses | EdgeKind::After => (at, edge(target)),
                EdgeKind::Before => (target, edge(at)),
                EdgeKind::PartOf | EdgeKind::Conflicts | EdgeKind::OnFailure | EdgeKind::WantedBy => continue,
            };
            if let Some(edges) = order.get_mut(from) {
                edges.push(edge);
            }
        }
    }
    for edges in &mut order {
        edges.sort_by_key(|edge| (edge.to, edge.span));
    }
    order
}

/// Tarjan's strongly connected components with an explicit stack (a chain of ten thousand units must not overflow
/// ours); only those that hold a cycle, each sorted.
fn parts(order: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let count = order.len();
    let (mut number, mut low) = (vec![UNSEEN; count], vec![UNSEEN; count]);
    let (mut on_stack, mut stack) = (vec![false; count], Vec::new());
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut next = 0;
    let get = |list: &[usize], at: usize| list.get(at).copied().unwrap_or(UNSEEN);
    let set = |list: &mut [usize], at: usize, value: usize| {
        if let Some(slot) = list.get_mut(at) {
            *slot = value;
        }
    };
    for root in 0..count {
        if get(&number, root) != UNSEEN {
            continue;
        }
        let mut work: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((node, step)) = work.pop() {
            if step == 0 {
                set(&mut number, node, next);
                set(&mut low, node, next);
                next += 1;
                stack.push(node);
                if let Some(slot) = on_stack.get_mut(node) {
                    *slot = true;
                }
            }
            if let Some(edge) = order.get(node).and_then(|edges| edges.get(step)) {
                work.push((node, step + 1));
                if get(&number, edge.to) == UNSEEN {
                    work.push((edge.to, 0));
                } else if on_stack.get(edge.to).copied().unwrap_or(false) {
                    let least = get(&low, node).min(get(&number, edge.to));
                    set(&mut low, node, least);
                }
                continue;
            }
            if let Some((parent, _)) = work.last() {
                let least = get(&low, *parent).min(get(&low, node));
                set(&mut low, *parent, least);
            }
            if get(&low, node) == get(&number, node) {
                let mut part = Vec::new();
                while let Some(member) = stack.pop() {
                    if let Some(slot) = on_stack.get_mut(member) {
                        *slot = false;
                    }
                    part.push(member);
                    if member == node {
                        break;
                    }
                }
                let itself = order.get(node).is_some_and(|edges| edges.iter().any(|edge| edge.to == node));
                if part.len() > 1 || itself {
                    part.sort_unstable();
                    found.push(part);
                }
            }
        }
    }
    found.sort();
    found
}

/// A shortest cycle through the first unit of a part.
fn shortest(part: &[usize], order: &[Vec<Edge>], names: &[UnitName]) -> Vec<Step> {
    let Some(&start) = part.first() else { return Vec::new() };
    let mut came: BTreeMap<usize, (usize, Edge)> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    'search: while let Some(node) = queue.pop_front() {
        for edge in order.get(node).into_iter().flatten() {
            if part.binary_search(&edge.to).is_err() || came.contains_key(&edge.to) {
                continue;
            }
            came.insert(edge.to, (node, *edge));
            if edge.to == start {
                break 'search;
            }
            queue.push_back(edge.to);
        }
    }
    let mut steps = Vec::new();
    let mut at = start;
    while let Some((from, edge)) = came.get(&at) {
        if let (Some(from), Some(to)) = (names.get(*from), names.get(at)) {
            steps.push(Step { from: from.clone(), to: to.clone(), kind: edge.kind, span: edge.span });
        }
        at = *from;
        if at == start || steps.len() > part.len() {
            break;
        }
    }
    steps.reverse();
    steps
}
