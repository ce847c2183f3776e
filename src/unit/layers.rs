//! The layers of a unit: which files count, and what they make together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::orphan_drop_in;
use super::load::{Role, Target, UnitFile};
use super::merge;
use super::parse;
use super::plan::UnitName;
use super::tree::{Data, Entry, Node, Table};
use crate::diag::{Finding, SourceId, Span};

/// The files that count: of each unit the highest, and of each drop-in's name the highest.
pub(crate) struct Effective<'a> {
    /// Main files.
    pub mains: BTreeMap<UnitName, &'a UnitFile>,
    /// Drop-ins by target, then by their own name.
    pub drop_ins: BTreeMap<(&'a Target, &'a str), &'a UnitFile>,
}

impl<'a> Effective<'a> {
    /// Picks them out of what was read, in whatever order.
    pub fn of(files: impl Iterator<Item = &'a UnitFile>) -> Self {
        let mut effective = Self { mains: BTreeMap::new(), drop_ins: BTreeMap::new() };
        for file in files {
            let higher = |held: &&UnitFile| (file.level, &file.path) > (held.level, &held.path);
            match &file.role {
                Role::Main(name) | Role::Mask(name) => {
                    if effective.mains.get(name).is_none_or(higher) {
                        effective.mains.insert(name.clone(), file);
                    }
                }
                Role::DropIn { target, file: own } => {
                    let key = (target, own.as_str());
                    if effective.drop_ins.get(&key).is_none_or(higher) {
                        effective.drop_ins.insert(key, file);
                    }
                }
            }
        }
        effective
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &'a UnitFile> {
        self.mains.values().chain(self.drop_ins.values()).copied()
    }

    /// The drop-ins of a target, by file name.
    fn layers(&self, target: &Target) -> impl Iterator<Item = &'a UnitFile> {
        let mine = self.drop_ins.range((target, "")..).take_while(move |((of, _), _)| *of == target);
        mine.map(|(_, file)| *file).collect::<Vec<_>>().into_iter()
    }

    /// The main file of a unit: its own, else its template's.
    pub fn main(&self, name: &UnitName) -> Option<&'a UnitFile> {
        self.mains.get(name).or_else(|| self.mains.get(&name.template()?)).copied()
    }

    /// The units that files alone make: those with a main file, and instances with a drop-in and a template.
    pub fn units(&self) -> BTreeSet<UnitName> {
        let mains = self.mains.keys().filter(|name| !name.is_template());
        let instances = self.drop_ins.keys().filter_map(|(target, _)| match target {
            Target::Unit(name) if name.instance().is_some() && self.main(name).is_some() => Some(name),
            _ => None,
        });
        mains.chain(instances).cloned().collect()
    }

    /// Templates.
    pub fn templates(&self) -> BTreeSet<UnitName> {
        self.mains.keys().filter(|name| name.is_template()).cloned().collect()
    }

    /// Drop-ins of units and templates that are not there.
    pub fn orphans(&self, docs: &Docs<'_>) -> Vec<Finding> {
        let has_instances =
            |template: &UnitName| self.mains.keys().any(|name| name.template().as_ref() == Some(template));
        let orphan = |(target, _): &(&Target, &str), file: &&UnitFile| match target {
            Target::Unit(name) if self.main(name).is_none() && !has_instances(name) => {
                let source = docs.get(file.path.as_path())?.source;
                Some(orphan_drop_in::finding(Span::file(source), name, self.mains.keys()))
            }
            _ => None,
        };
        self.drop_ins.iter().filter_map(|(key, file)| orphan(key, file)).collect()
    }
}

/// A parsed file.
#[derive(Debug)]
pub(crate) struct Doc {
    /// In the source map.
    pub source: SourceId,
    /// What was parsed.
    pub text: Arc<str>,
    /// It is a link to null.
    mask: bool,
    /// Where its relative paths begin.
    pub dir: PathBuf,
    /// As far as it could be read.
    pub root: Table,
    /// Everything wrong with its syntax.
    pub errors: Vec<Finding>,
}

/// All parsed files by their place.
pub(crate) type Docs<'a> = HashMap<&'a Path, Arc<Doc>>;

impl Doc {
    /// Parses a file. `unread`: it has no text, and this says why.
    pub fn new(source: SourceId, file: &UnitFile, unread: Option<&Finding>) -> Self {
        let (mut root, mut errors) = parse::parse(source, &file.text);
        errors.extend(unread.cloned());
        let mask = matches!(file.role, Role::Mask(_));
        if mask {
            root = masked(Span::file(source));
        }
        Self { source, text: Arc::clone(&file.text), mask, dir: file.dir.clone(), root, errors }
    }

    /// Parsing the file would give the same.
    pub fn is_of(&self, file: &UnitFile) -> bool {
        let same = Arc::ptr_eq(&self.text, &file.text) || self.text == file.text;
        same && self.dir == file.dir && self.mask == matches!(file.role, Role::Mask(_))
    }
}

/// What a unit is made of.
#[derive(Clone, Debug)]
pub(crate) struct Layers {
    /// Its main file.
    pub main: Arc<Doc>,
    /// Lower first.
    pub drop_ins: Vec<Arc<Doc>>,
    /// It comes from the binary, unchanged by anybody.
    pub shipped: bool,
}

/// One unit with all of its layers.
pub(crate) struct Merged {
    /// What its layers say together.
    pub root: Table,
    /// What is wrong with the layers' fitting together.
    pub findings: Vec<Finding>,
}

impl Layers {
    /// The main file of a unit, the drop-ins of its kind, those of its template, then its own.
    pub fn of(name: &UnitName, files: &Effective<'_>, docs: &Docs<'_>) -> Option<Self> {
        let main = files.main(name)?;
        let doc = docs.get(main.path.as_path())?;
        let mut layers = Self { main: Arc::clone(doc), drop_ins: Vec::new(), shipped: main.level == 0 };
        let widths = [Some(Target::Kind(name.kind)), name.template().map(Target::Unit)];
        for target in widths.into_iter().flatten().chain([Target::Unit(name.clone())]) {
            let found = files.layers(&target).filter_map(|layer| docs.get(layer.path.as_path()));
            layers.drop_ins.extend(found.cloned());
        }
        layers.shipped &= layers.drop_ins.is_empty();
        Some(layers)
    }

    /// A main file alone.
    pub fn single(main: Arc<Doc>) -> Self {
        Self { main, drop_ins: Vec::new(), shipped: false }
    }

    /// Made of the same parsed files.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shipped == other.shipped
            && self.drop_ins.len() == other.drop_ins.len()
            && self.all().zip(other.all()).all(|(one, two)| Arc::ptr_eq(one, two))
    }

    /// All of them, lower first.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Doc>> {
        std::iter::once(&self.main).chain(&self.drop_ins)
    }

    /// Lays the drop-ins over the main file, and that over nothing: it may change lists and unset keys too.
    pub fn merged(&self) -> Merged {
        let mut merged = Merged { root: Table::default(), findings: Vec::new() };
        for layer in self.all() {
            merge::lay_over(&mut merged.root, layer.root.clone(), &mut merged.findings);
        }
        merged
    }
}

/// What a link to null says.
fn masked(link: Span) -> Table {
    let entry = |data| Entry::new(link, Node { span: link, data });
    let install = Table([("masked".to_owned(), entry(Data::Bool(true)))].into());
    Table([("install".to_owned(), entry(Data::Table(install)))].into())
}
