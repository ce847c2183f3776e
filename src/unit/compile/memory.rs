//! What a compiler remembers from the last time: parsed files and typed units, each good for as long as what it was
//! made of is the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::CompileEnv;
use crate::diag::{Finding, SourceId, SourceMap};
use crate::unit::defaults::Defaults;
use crate::unit::layers::{Doc, Layers};
use crate::unit::load::UnitFile;
use crate::unit::parse;
use crate::unit::plan::UnitName;
use crate::unit::registry::Registry;
use crate::unit::typed::{Surroundings, Typed};

/// See the module. What is not asked for in one compile is forgotten at its end.
#[derive(Debug, Default)]
pub(super) struct Memory {
    env: Option<CompileEnv>,
    defaults: Defaults,
    numbers: Numbers,
    docs: Twice<PathBuf, Arc<Doc>>,
    units: Twice<UnitName, (Layers, Arc<Typed>)>,
    kept: Twice<UnitName, (Layers, Arc<Typed>)>,
}

impl Memory {
    /// A compile begins.
    pub fn begin(&mut self, env: &CompileEnv) {
        if self.env.as_ref() != Some(env) {
            self.env = Some(env.clone());
            self.defaults = Defaults::default();
            self.units = Twice::default();
            self.kept = Twice::default();
        }
        self.docs.turn();
        self.units.turn();
        self.kept.turn();
    }

    /// A compile has ended: numbers of files that are gone are free again.
    pub fn end(&mut self, sources: &SourceMap) {
        self.docs.before.clear();
        self.units.before.clear();
        self.kept.before.clear();
        self.numbers.retain(sources);
    }

    /// The number of a file, which goes into the map with its text.
    pub fn source(&mut self, path: &Path, text: &Arc<str>, sources: &mut SourceMap) -> SourceId {
        let id = self.numbers.of(path);
        sources.put(id, path, text);
        id
    }

    /// A file parsed; not again if its text is the same. `unread`: it has no text, and this says why.
    pub fn doc(&mut self, file: &UnitFile, unread: Option<&Finding>, sources: &mut SourceMap) -> Arc<Doc> {
        let source = self.source(&file.path, &file.text, sources);
        let same = |doc: &Arc<Doc>| unread.is_none() && doc.source == source && doc.is_of(file);
        let doc = self.docs.before.remove(&file.path).filter(same);
        let doc = doc.unwrap_or_else(|| Arc::new(Doc::new(source, file, unread)));
        // Why it could not be read may be different next time.
        if unread.is_none() {
            self.docs.now.insert(file.path.clone(), Arc::clone(&doc));
        }
        doc
    }

    /// A unit typed; not again if its layers are the same.
    pub fn unit(
        &mut self,
        name: &UnitName,
        layers: Layers,
        registry: &Registry,
        env: &CompileEnv,
    ) -> Arc<Typed> {
        let known = self.units.before.remove(name).filter(|(of, _)| of.is_same(&layers));
        let typed = match known {
            Some((_, typed)) => typed,
            None => Arc::new(self.typed(name, &layers, registry, env)),
        };
        self.units.now.insert(name.clone(), (layers, Arc::clone(&typed)));
        typed
    }

    /// The last good version of a unit typed; not again if it is the same as the last time.
    pub fn kept(
        &mut self,
        name: &UnitName,
        layers: Layers,
        registry: &Registry,
        env: &CompileEnv,
    ) -> Arc<Typed> {
        std::mem::swap(&mut self.units, &mut self.kept);
        let typed = self.unit(name, layers, registry, env);
        std::mem::swap(&mut self.units, &mut self.kept);
        typed
    }

    fn typed(&mut self, name: &UnitName, layers: &Layers, registry: &Registry, env: &CompileEnv) -> Typed {
        let merged = layers.merged();
        let errors = || layers.all().flat_map(|doc| &doc.errors);
        let broken = errors().next().is_some();
        let dirs = layers.all().map(|doc| (doc.source, doc.dir.as_path())).collect();
        let mut around = Surroundings { registry, env, dirs, defaults: &mut self.defaults };
        let source = layers.main.source;
        let mut unit = Typed::new(name.clone(), source, layers.shipped, &merged.root, broken, &mut around);
        if broken {
            // What stands on a broken line was hardly read as it was meant.
            let text = |id| layers.all().find(|doc| doc.source == id).map_or("", |doc| &*doc.text);
            unit.report.findings.retain(|finding| {
                !errors().any(|error| {
                    error.span.source == finding.span.source
                        && parse::same_line(text(finding.span.source), error.span, finding.span)
                })
            });
        }
        // The unit is off because of them; they are told with their file.
        unit.report.findings.extend(merged.findings);
        unit.report.findings.extend(layers.all().filter_map(|doc| doc.errors.first()).cloned());
        unit
    }
}

/// What was known before, and what of it is known now.
#[derive(Debug)]
struct Twice<K, V> {
    before: HashMap<K, V>,
    now: HashMap<K, V>,
}

impl<K, V> Default for Twice<K, V> {
    fn default() -> Self {
        Self { before: HashMap::new(), now: HashMap::new() }
    }
}

impl<K, V> Twice<K, V> {
    fn turn(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }
}

/// Numbers of files, the same from one compile to the next.
#[derive(Debug, Default)]
struct Numbers {
    by_path: HashMap<PathBuf, SourceId>,
    free: Vec<SourceId>,
    next: u32,
}

impl Numbers {
    fn of(&mut self, path: &Path) -> SourceId {
        if let Some(id) = self.by_path.get(path) {
            return *id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.next = self.next.saturating_add(1);
            SourceId(self.next - 1)
        });
        self.by_path.insert(path.to_owned(), id);
        id
    }

    fn retain(&mut self, sources: &SourceMap) {
        let free = &mut self.free;
        self.by_path.retain(|_, id| {
            let used = sources.has(*id);
            if !used {
                free.push(*id);
            }
            used
        });
    }
}
