//! The layers of a unit: which files count, and what they make together.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::check::orphan_drop_in;
use super::load::{Role, Target, UnitFile};
use super::merge;
use super::parse;
use super::plan::UnitName;
use super::tree::{Data, Entry, Node, Table};
use crate::diag::{Finding, SourceId, SourceMap, Span};

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

    /// Drop-ins of units that are not there.
    pub fn orphans(&self, parsed: &Parsed<'_>) -> Vec<Finding> {
        let orphan = |(target, _): &(&Target, &str), file: &&UnitFile| match target {
            Target::Unit(name) if !self.mains.contains_key(name) => {
                let source = parsed.docs.get(file.path.as_path())?.source;
                Some(orphan_drop_in::finding(Span::file(source), name, self.mains.keys()))
            }
            _ => None,
        };
        self.drop_ins.iter().filter_map(|(key, file)| orphan(key, file)).collect()
    }
}

/// A parsed file.
pub(crate) struct Doc {
    /// In the source map.
    pub source: SourceId,
    /// As far as it could be read.
    pub root: Table,
    /// The first thing wrong with its syntax.
    pub broken: Option<Finding>,
    /// Everything wrong with its syntax.
    pub broken_spans: Vec<Span>,
}

/// All parsed files.
#[derive(Default)]
pub(crate) struct Parsed<'a> {
    /// By their place.
    pub docs: HashMap<&'a Path, Doc>,
    /// For each source, where its relative paths begin.
    pub dirs: Vec<PathBuf>,
    /// What is wrong with their syntax.
    pub findings: Vec<Finding>,
}

impl<'a> Parsed<'a> {
    /// Parses a file. `unread`: it has no text, and this says why.
    pub fn add(&mut self, file: &'a UnitFile, unread: Option<&Finding>, sources: &mut SourceMap) {
        let source = sources.add(file.path.clone(), file.text.clone());
        let (root, mut errors) = parse::parse(source, &file.text);
        errors.extend(unread.cloned());
        self.dirs.resize(source.0 as usize, PathBuf::new());
        self.dirs.push(file.dir.clone());
        let broken_spans = errors.iter().map(|finding| finding.span).collect();
        let broken = errors.first().cloned();
        self.findings.extend(errors);
        self.docs.insert(&file.path, Doc { source, root, broken, broken_spans });
    }
}

/// One unit with all of its layers.
pub(crate) struct Merged {
    /// Its main file.
    pub source: SourceId,
    /// It comes from the binary, unchanged by anybody.
    pub shipped: bool,
    /// What its layers say together.
    pub root: Table,
    /// What is wrong with the layers' fitting together.
    pub findings: Vec<Finding>,
    /// The first syntax error of each layer that has one.
    pub broken: Vec<Finding>,
    /// All places of syntax errors.
    pub broken_spans: Vec<Span>,
}

/// Lays a unit's drop-ins over its main file: those of its kind, then its own.
pub(crate) fn merged(
    name: &UnitName,
    main: &UnitFile,
    files: &Effective<'_>,
    docs: &HashMap<&Path, Doc>,
) -> Option<Merged> {
    let doc = docs.get(main.path.as_path())?;
    let mut merged = Merged {
        source: doc.source,
        shipped: main.level == 0,
        root: doc.root.clone(),
        findings: Vec::new(),
        broken: doc.broken.iter().cloned().collect(),
        broken_spans: doc.broken_spans.clone(),
    };
    if let Role::Mask(_) = main.role {
        merged.root = masked(Span::file(doc.source));
    }
    for target in [Target::Kind(name.kind), Target::Unit(name.clone())] {
        for layer in files.layers(&target) {
            let Some(doc) = docs.get(layer.path.as_path()) else { continue };
            merge::lay_over(&mut merged.root, doc.root.clone(), &mut merged.findings);
            merged.broken.extend(doc.broken.clone());
            merged.broken_spans.extend(&doc.broken_spans);
            merged.shipped = false;
        }
    }
    Some(merged)
}

/// What a link to null says.
fn masked(link: Span) -> Table {
    let entry = |data| Entry::new(link, Node { span: link, data });
    let install = Table([("masked".to_owned(), entry(Data::Bool(true)))].into());
    Table([("install".to_owned(), entry(Data::Table(install)))].into())
}
