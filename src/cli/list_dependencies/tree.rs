//! The tree of units, bounded: what comes up below itself or again is named and not gone into.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::cli::look::Paint;
use crate::cli::units::{standing_glyph, why_off};
use crate::unit::Compiled;
use crate::unit::plan::{EdgeKind, UnitName};

/// Lines of one tree: with `--all` a graph of few units has very many ways through it.
const LINES_MAX: usize = 2000;

/// Levels: each is a call, and nobody reads further to the right.
const DEPTH_MAX: usize = 64;

/// Units and the edges that are asked for.
pub struct Forest<'a> {
    compiled: &'a Compiled,
    below: BTreeMap<UnitName, BTreeMap<UnitName, BTreeSet<EdgeKind>>>,
    again: bool,
}

/// One unit with what is below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tree {
    /// The full name.
    pub unit: String,
    /// How the unit above it names it; empty at the top.
    pub edges: Vec<&'static str>,
    /// `on`, or the state it is off in.
    pub state: &'static str,
    /// It was shown before, or is above itself: nothing is below it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<&'static str>,
    /// What it needs, or who needs it.
    pub below: Vec<Tree>,
}

/// What was met so far.
struct Way {
    above: Vec<UnitName>,
    shown: BTreeSet<UnitName>,
    lines: usize,
}

impl<'a> Forest<'a> {
    /// `reverse`: from what is needed to who needs it. `all`: everything there is.
    #[must_use]
    pub fn new(compiled: &'a Compiled, reverse: bool, all: bool) -> Self {
        let mut below: BTreeMap<UnitName, BTreeMap<UnitName, BTreeSet<EdgeKind>>> = BTreeMap::new();
        for edge in if all { &compiled.references } else { &compiled.plan.edges } {
            let order = matches!(edge.kind, EdgeKind::After | EdgeKind::Before | EdgeKind::Conflicts);
            if order && !all {
                continue;
            }
            let (from, to) = if reverse { (&edge.to, &edge.from) } else { (&edge.from, &edge.to) };
            below.entry(from.clone()).or_default().entry(to.clone()).or_default().insert(edge.kind);
        }
        Self { compiled, below, again: all }
    }

    /// Units that name others and that none names.
    #[must_use]
    pub fn roots(&self) -> Vec<UnitName> {
        let named: BTreeSet<&UnitName> = self.below.values().flat_map(BTreeMap::keys).collect();
        let roots: Vec<UnitName> = self.below.keys().filter(|name| !named.contains(name)).cloned().collect();
        // All of them on one ring: any is as good as another.
        if roots.is_empty() { self.below.keys().next().cloned().into_iter().collect() } else { roots }
    }

    /// A unit with everything below it.
    #[must_use]
    pub fn tree(&self, root: &UnitName) -> Tree {
        let mut way = Way { above: Vec::new(), shown: BTreeSet::new(), lines: 0 };
        self.grow(root, Vec::new(), &mut way)
    }

    /// The same for people, a line each.
    pub fn show(&self, root: &UnitName, paint: Paint, out: &mut String) {
        let tree = self.tree(root);
        out.push_str(&format!("{} {}\n", self.mark(&tree, paint), tree.unit));
        self.branches(&tree.below, "", paint, out);
    }

    fn grow(&self, name: &UnitName, edges: Vec<&'static str>, way: &mut Way) -> Tree {
        way.lines += 1;
        let off = why_off(self.compiled, name);
        let missing = !self.compiled.plan.sources.contains_key(name);
        let state = off.map_or(if missing { "not-found" } else { "on" }, |off| off.state.word());
        let mut tree = Tree { unit: name.to_string(), edges, state, cut: None, below: Vec::new() };
        let Some(below) = self.below.get(name) else { return tree };
        if way.above.contains(name) {
            tree.cut = Some("a ring");
        } else if !self.again && way.shown.contains(name) {
            tree.cut = Some("as above");
        } else if way.lines >= LINES_MAX || way.above.len() >= DEPTH_MAX {
            tree.cut = Some("too many to show");
        } else {
            way.shown.insert(name.clone());
            way.above.push(name.clone());
            for (other, kinds) in below {
                let words = kinds.iter().map(|kind| kind.word()).collect();
                tree.below.push(self.grow(other, words, way));
            }
            way.above.pop();
        }
        tree
    }

    fn branches(&self, trees: &[Tree], margin: &str, paint: Paint, out: &mut String) {
        for (index, tree) in trees.iter().enumerate() {
            let is_last = index + 1 == trees.len();
            let (corner, further) = if is_last { ("└─", "  ") } else { ("├─", "│ ") };
            let mut about = tree.edges.join(", ");
            if !matches!(tree.state, "on") {
                about.push_str(&format!("; {}", tree.state));
            }
            if let Some(cut) = tree.cut {
                about.push_str(&format!("; {cut} …"));
            }
            let about = paint.dim(format!("({about})"));
            out.push_str(&format!("{} {margin}{corner}{} {about}\n", self.mark(tree, paint), tree.unit));
            self.branches(&tree.below, &format!("{margin}{further}"), paint, out);
        }
    }

    fn mark(&self, tree: &Tree, paint: Paint) -> String {
        let off = UnitName::parse(&tree.unit).and_then(|name| why_off(self.compiled, &name));
        let (glyph, code) = if tree.state == "not-found" { ("×", "31") } else { standing_glyph(off) };
        paint.with(code, glyph).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;
    use crate::unit::load::{Loaded, Role, UnitFile};
    use crate::unit::{CompileEnv, compile};

    fn check(units: &[(&str, &str)], root: &str, reverse: bool, all: bool, expected: &str) {
        let files = units.iter().map(|(name, text)| UnitFile {
            level: 1,
            path: format!("/u/{name}.toml").into(),
            dir: "/u".into(),
            role: Role::Main(UnitName::parse(name).unwrap()),
            text: (*text).into(),
        });
        let loaded = Loaded { files: files.collect(), ..Loaded::default() };
        let env = CompileEnv { home: None, state_dir: "/s".into(), ..CompileEnv::default() };
        let compiled = compile(&loaded, &CATALOG.registry(), &env);
        let mut out = String::new();
        let forest = Forest::new(&compiled, reverse, all);
        forest.show(&UnitName::parse(root).unwrap(), Paint { colour: false }, &mut out);
        assert_eq!(out, expected);
    }

    const ROUTE: &str = "[route]\nengines = [\"a\", \"b\"]\n[unit]\nwants = [\"p.env\"]\n";
    const ENGINE: &str =
        "[engine]\nengine = \"command\"\nenv = [\"p\"]\n[command]\nprogram = \"/bin/true\"\n";
    const ENV: &str = "[set]\nA = \"1\"\n";

    #[test]
    fn what_a_unit_needs_and_who_needs_it() {
        let units = [("all.route", ROUTE), ("a.engine", ENGINE), ("b.engine", ENGINE), ("p.env", ENV)];
        check(
            &units,
            "all.route",
            false,
            false,
            "● all.route\n● ├─a.engine (uses)\n● │ └─p.env (uses)\n● ├─b.engine (uses)\n● │ └─p.env (uses)\n\
             ● └─p.env (wants)\n",
        );
        check(
            &units,
            "p.env",
            true,
            false,
            "● p.env\n● ├─a.engine (uses)\n● │ └─all.route (uses)\n● ├─all.route (wants)\n● └─b.engine (uses)\n\
             ●   └─all.route (uses)\n",
        );
    }

    #[test]
    fn what_was_shown_is_not_gone_into_again_unless_asked() {
        let env = format!("{ENV}[unit]\nwants = [\"q.env\"]\n");
        let units = [
            ("all.route", ROUTE),
            ("a.engine", ENGINE),
            ("b.engine", ENGINE),
            ("p.env", env.as_str()),
            ("q.env", ENV),
        ];
        let check = |all, once: &str, twice: &str| {
            let again = if all { "● │   └─q.env (wants)\n" } else { "" };
            let last = if all { "●   └─q.env (wants)\n" } else { "" };
            let expected = format!(
                "● all.route\n● ├─a.engine (uses)\n● │ └─p.env (uses)\n● │   └─q.env (wants)\n● ├─b.engine (uses)\n\
                 ● │ └─p.env ({once})\n{again}● └─p.env ({twice})\n{last}"
            );
            check(&units, "all.route", false, all, &expected);
        };
        check(false, "uses; as above …", "wants; as above …");
        check(true, "uses", "wants");
    }

    #[test]
    fn units_that_are_off_and_rings_are_told_with_all() {
        let off = format!("{ENV}[install]\nenabled = false\n[unit]\nafter = [\"q.env\"]\n");
        let ring = format!("{ENV}[unit]\nbefore = [\"p.env\"]\nafter = [\"p.env\"]\n");
        let units = [("p.env", off.as_str()), ("q.env", ring.as_str())];
        check(&units, "p.env", false, false, "○ p.env\n");
        check(
            &units,
            "p.env",
            false,
            true,
            "○ p.env\n● └─q.env (after)\n○   └─p.env (after, before; disabled; a ring …)\n",
        );
    }
}
