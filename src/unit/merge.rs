//! Layers of one unit → one tree: tables by key, everything else replaces.

use super::check::type_change;
use super::tree::{Data, Table};
use crate::diag::Finding;

/// Lays `upper` over `lower`. Only the root and its tables merge; a value, an inline table such as
/// `{ secret = "…" }` too, replaces the lower one whole.
pub(crate) fn lay_over(lower: &mut Table, upper: Table, findings: &mut Vec<Finding>) {
    for (name, entry) in upper.0 {
        let Some(below) = lower.0.get_mut(&name) else {
            lower.0.insert(name, entry);
            continue;
        };
        match (&mut below.node.data, entry.node.data) {
            (Data::Table(lower_keys), Data::Table(upper_keys)) => lower_keys.0.extend(upper_keys.0),
            (Data::Table(_), other) => {
                findings.push(type_change::finding(&name, below.node.span, entry.key, other.what()));
            }
            (other, data) => {
                if let Data::Table(_) = data {
                    findings.push(type_change::finding(&name, entry.node.span, below.key, other.what()));
                }
                below.key = entry.key;
                below.node.span = entry.node.span;
                below.node.data = data;
            }
        }
    }
}
