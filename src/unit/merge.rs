//! Layers of one unit → one tree: tables by key; a key keeps what lower layers say of it below.

use super::check::{bad_value, type_change};
use super::tree::{Data, Entry, Node, Table};
use crate::diag::{Finding, Span};

/// The list at the top of a layer with the keys that go back to their defaults.
const UNSET: &str = "unset";

/// Lays `upper` over `lower`. Only the root and its tables merge; a value, an inline table such as
/// `{ secret = "…" }` too, covers the lower one whole. What `upper` unsets it unsets below itself, so that its own keys
/// stand.
pub(crate) fn lay_over(lower: &mut Table, mut upper: Table, findings: &mut Vec<Finding>) {
    // In `env` units a table of this name is theirs.
    let own = upper.get(UNSET).is_some_and(|entry| matches!(entry.node.data, Data::Table(_)));
    if let Some(entry) = if own { None } else { upper.0.remove(UNSET) } {
        unset(lower, entry.node, findings);
    }
    for (name, entry) in upper.0 {
        let Some(below) = lower.0.get_mut(&name) else {
            lower.0.insert(name, entry);
            continue;
        };
        match (&mut below.node.data, entry.node.data) {
            (Data::Table(lower_keys), Data::Table(upper_keys)) => {
                for (key, entry) in upper_keys.0 {
                    match lower_keys.0.get_mut(&key) {
                        Some(held) => held.cover(entry),
                        None => {
                            lower_keys.0.insert(key, entry);
                        }
                    }
                }
            }
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

fn unset(lower: &mut Table, list: Node, findings: &mut Vec<Finding>) {
    let mut bad = |span: Span| {
        let problem = "takes a list of keys with their tables, such as `[\"schedule.every\"]`";
        findings.push(bad_value::finding(UNSET, span, problem));
    };
    let Data::List(items) = list.data else { return bad(list.span) };
    for item in items {
        let path = match &item.data {
            Data::Text(text) => text.split_once('.'),
            _ => None,
        };
        let Some((table, key)) = path.filter(|(table, key)| !table.is_empty() && !key.is_empty()) else {
            bad(item.span);
            continue;
        };
        let nothing = Entry::new(item.span, Node { span: item.span, data: Data::Unset });
        let of = |data| Entry::new(item.span, Node { span: item.span, data });
        let held = lower.0.entry(table.to_owned()).or_insert_with(|| of(Data::Table(Table::default())));
        let Data::Table(keys) = &mut held.node.data else { continue };
        match keys.0.get_mut(key) {
            Some(held) => held.cover(nothing),
            None => {
                keys.0.insert(key.to_owned(), nothing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diag::SourceId;
    use crate::unit::parse;

    fn tree(layer: usize, text: &str) -> Table {
        let (root, errors) = parse::parse(SourceId(u32::try_from(layer).unwrap()), text);
        assert!(errors.is_empty(), "{text}");
        root
    }

    /// Keys with what all layers say of them, the highest first.
    fn shown(root: &Table) -> String {
        let mut lines = Vec::new();
        for (name, entry) in &root.0 {
            let Data::Table(keys) = &entry.node.data else { panic!("{name}") };
            for (key, entry) in &keys.0 {
                let layer = |node: &Node| format!("{:?}@{}", node.data, node.span.source.0);
                lines.push(format!(
                    "{name}.{key} = {}",
                    entry.layers().map(layer).collect::<Vec<_>>().join(" < ")
                ));
            }
        }
        lines.join("\n")
    }

    fn folded(layers: &[Table]) -> Table {
        let mut root = Table::default();
        layers.iter().for_each(|layer| lay_over(&mut root, layer.clone(), &mut Vec::new()));
        root
    }

    #[test]
    fn the_last_layer_counts_and_keeps_the_others_below() {
        let layers = ["[a]\nx = 1\ny = 2\n", "[a]\nx = 3\n", "unset = [\"a.x\", \"b.z\"]\n[a]\nz = 4\n"];
        let layers: Vec<Table> = layers.iter().enumerate().map(|(at, text)| tree(at, text)).collect();
        insta::assert_snapshot!(shown(&folded(&layers)), @r"
        a.x = Unset@2 < Integer(Some(3))@1 < Integer(Some(1))@0
        a.y = Integer(Some(2))@0
        a.z = Integer(Some(4))@2
        b.z = Unset@2
        ");
    }

    #[test]
    fn what_unset_does_not_take_is_told() {
        let mut findings = Vec::new();
        for text in ["unset = \"a.b\"\n", "unset = [\"a\", 1, \".b\"]\n"] {
            lay_over(&mut Table::default(), tree(0, text), &mut findings);
        }
        assert_eq!(findings.len(), 4);
    }

    /// A layer: some of nine keys with values, some of them unset.
    fn layer() -> impl Strategy<Value = String> {
        let keys = proptest::collection::vec((0..3usize, 0..3usize, 0..9u8), 0..6);
        let unset = proptest::collection::vec((0..3usize, 0..3usize), 0..3);
        (keys, unset).prop_map(|(keys, unset)| {
            let unset: Vec<String> =
                unset.iter().map(|(table, key)| format!("\"t{table}.k{key}\"")).collect();
            let mut text = format!("unset = [{}]\n", unset.join(", "));
            let mut tables = std::collections::BTreeMap::<_, std::collections::BTreeMap<_, _>>::new();
            for (table, key, value) in keys {
                tables.entry(table).or_default().insert(key, value);
            }
            for (table, keys) in tables {
                text.push_str(&format!("[t{table}]\n"));
                keys.iter().for_each(|(key, value)| text.push_str(&format!("k{key} = {value}\n")));
            }
            text
        })
    }

    /// What counts, without what lies below.
    fn top(root: &Table) -> String {
        let set =
            shown(root).lines().map(|line| line.split(" < ").next().unwrap().to_owned()).collect::<Vec<_>>();
        set.iter().map(|line| line.split('@').next().unwrap()).collect::<Vec<_>>().join("\n")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_by_one_is_the_same_as_the_fold(texts in proptest::collection::vec(layer(), 3..6), cut in 1usize..3) {
            let layers: Vec<Table> = texts.iter().enumerate().map(|(at, text)| tree(at, text)).collect();
            let (low, high) = layers.split_at(cut);
            let mut by_parts = folded(low);
            lay_over(&mut by_parts, folded(high), &mut Vec::new());
            prop_assert_eq!(shown(&folded(&layers)), shown(&by_parts));
        }

        #[test]
        fn a_layer_over_itself_changes_nothing(texts in proptest::collection::vec(layer(), 1..4)) {
            let layers: Vec<Table> = texts.iter().map(|text| tree(0, text)).collect();
            let once = folded(&layers);
            let mut twice = once.clone();
            lay_over(&mut twice, layers.last().unwrap().clone(), &mut Vec::new());
            prop_assert_eq!(top(&once), top(&twice));
        }

        #[test]
        fn layers_of_different_tables_may_change_places(a in layer(), b in layer()) {
            let b = b.replace('t', "u").replace("unseu", "unset");
            let (a, b) = (tree(0, &a), tree(1, &b));
            prop_assert_eq!(shown(&folded(&[a.clone(), b.clone()])), shown(&folded(&[b, a])));
        }
    }
}
