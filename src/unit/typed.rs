//! One merged unit → typed values, by the table of its kind. Everything that can be said of a unit without looking at
//! the others is said here.

mod layered;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::canon::{self, Canonical};
use super::check::{
    bad_name, bad_value, missing_key, not_enabled, unknown_channel, unknown_engine, unknown_key,
    unknown_platform, unknown_runtime, unknown_table, wrong_type,
};
use super::compile::{CompileEnv, KeyOrigin};
use super::decode::{At, Reference, decode};
use super::defaults::Defaults;
use super::kinds::{self, connector, daemon, engine, route, runtime, schedule, secret, timer};
use super::layout::Layout;
use super::origins;
use super::plan::{Kind, UnitName};
use super::registry::Registry;
use super::report::Report;
use super::schema::{KeySpec, TableSpec, ValueType};
use super::tree::{Data, Entry, Node, Table};
use super::value::{Setting, Settings, Value};
use crate::diag::{SourceId, Span};
use crate::model::secret_ref::SecretRef;

static NOTHING: Settings = Settings(BTreeMap::new());

/// A unit with typed values.
#[derive(Debug)]
pub(crate) struct Typed {
    /// Its name.
    pub name: UnitName,
    /// Its main file.
    pub source: SourceId,
    /// It comes from the binary, unchanged by anybody.
    pub shipped: bool,
    /// Units it names.
    pub references: Vec<Reference>,
    /// Secrets in the store that it reads.
    pub secrets: Vec<SecretUse>,
    /// Findings so far.
    pub report: Report,
    /// Not checked and off.
    pub masked: bool,
    /// Takes part.
    pub enabled: bool,
    /// Keys may have been lost, or are still to come: its syntax has errors, or it is a template.
    pub broken: bool,
    tables: BTreeMap<&'static str, Settings>,
    spans: BTreeMap<&'static str, BTreeMap<&'static str, KeySpans>>,
    unset: BTreeMap<(&'static str, &'static str), KeySpans>,
    free: BTreeMap<String, KeySpans>,
    headers: BTreeMap<&'static str, Span>,
    made: Made,
}

/// What was made of a unit, kept with it.
#[derive(Debug, Default)]
struct Made {
    origins: OnceLock<Arc<[KeyOrigin]>>,
    canonical: OnceLock<Canonical>,
    part: Mutex<Option<Part>>,
}

/// A unit of the plan, of whatever kind.
type Part = Arc<dyn Any + Send + Sync>;

/// A secret in the store that a unit reads.
#[derive(Clone, Debug)]
pub(crate) struct SecretUse {
    /// Its name in the store.
    pub name: String,
    /// Where it is named.
    pub span: Span,
    /// By which key: "imap.password".
    pub path: String,
}

/// Where a key stands.
#[derive(Clone, Debug)]
pub(crate) struct KeySpans {
    /// The value.
    pub value: Span,
    /// The elements, if it is a list.
    pub items: Vec<Span>,
    /// What lower layers say, the nearest first.
    pub shadows: Vec<Span>,
}

/// What typing needs besides the unit.
pub(crate) struct Surroundings<'a> {
    /// Platforms and engines.
    pub registry: &'a Registry,
    /// Home and state directory.
    pub env: &'a CompileEnv,
    /// For each file of the unit, where its relative paths begin.
    pub dirs: Vec<(SourceId, &'a Path)>,
    /// Decoded defaults.
    pub defaults: &'a mut Defaults,
}

impl Typed {
    /// Types a merged tree. `broken`: its syntax has errors, so that keys may have been lost.
    pub fn new(
        name: UnitName,
        source: SourceId,
        shipped: bool,
        root: &Table,
        broken: bool,
        around: &mut Surroundings<'_>,
    ) -> Self {
        let mut typed = Self {
            source,
            shipped,
            references: Vec::new(),
            secrets: Vec::new(),
            report: Report::default(),
            masked: flag(root, "masked") == Some(true),
            enabled: flag(root, "enabled").unwrap_or(broken || kinds::spec(name.kind).enabled),
            broken: broken || name.is_template(),
            tables: BTreeMap::new(),
            spans: BTreeMap::new(),
            unset: BTreeMap::new(),
            free: BTreeMap::new(),
            headers: BTreeMap::new(),
            made: Made::default(),
            name,
        };
        // Instances complete a template, so nothing is missing in it by itself.
        let broken = typed.broken;
        typed.note_spans(root);
        typed.contradiction(&around.dirs);
        if typed.masked {
            return typed;
        }
        if typed.name.kind == Kind::Daemon && typed.name.name != daemon::NAME {
            typed.report.push(bad_name::daemon(Span::file(source)));
        }
        let chosen = Layout::selector(typed.name.kind).and_then(|(table, key)| choice(root, table, key));
        let layout = Layout::new(typed.name.kind, chosen.map(|(word, _)| word), around.registry);
        typed.check_choice(root, chosen, around.registry);
        let mut excused = typed.unknown_roots(root, &layout);
        for spec in layout.tables() {
            typed.table(spec, root, &layout, broken, &mut excused, around);
        }
        typed.own_check(&layout, around.registry);
        if typed.name.kind == Kind::Engine && !broken && !excused.contains(&("engine", "model")) {
            engine::check(&typed, around.registry).into_iter().for_each(|finding| typed.report.push(finding));
        }
        if typed.name.kind == Kind::Route {
            route::check(&typed).into_iter().for_each(|finding| typed.report.push(finding));
        }
        if typed.name.kind == Kind::Secret && !broken {
            secret::check(&typed).into_iter().for_each(|finding| typed.report.push(finding));
        }
        if typed.name.kind == Kind::Daemon {
            secret::check_daemon(&typed).into_iter().for_each(|finding| typed.report.push(finding));
        }
        if matches!(typed.name.kind, Kind::Connector | Kind::Timer | Kind::Channel) {
            let mut findings = schedule::check(&typed);
            if typed.name.kind == Kind::Timer && !broken {
                findings.extend(timer::check(&typed));
            }
            findings.into_iter().for_each(|finding| typed.report.push(finding));
        }
        if typed.name.kind == Kind::Connector {
            let own = chosen.and_then(|(word, _)| around.registry.platform(word));
            connector::check(&typed, around.registry)
                .into_iter()
                .for_each(|finding| typed.report.push(finding));
            if let Some(platform) = own {
                if !platform.guarantee.replies() {
                    let never = Value::Text("never".to_owned());
                    typed.tables.entry("connector").or_default().0.insert("outbound".to_owned(), never);
                }
                let schedule = typed.tables.entry("schedule").or_default();
                if schedule.list("calendar").is_empty() {
                    let every = Value::Duration(Duration::from_secs(platform.every_default_s));
                    schedule.0.entry("every".to_owned()).or_insert(every);
                }
            }
            if !shipped && typed.spans("install", "enabled").is_none() && !broken {
                typed.report.push(not_enabled::finding(Span::file(source)));
            }
        }
        typed
    }

    /// The values of a table; empty if there is none.
    pub fn settings(&self, table: &str) -> &Settings {
        self.tables.get(table).unwrap_or(&NOTHING)
    }

    /// Where a key stands, if it does.
    pub fn spans(&self, table: &str, key: &str) -> Option<&KeySpans> {
        self.spans.get(table)?.get(key)
    }

    /// Where a key of the table that takes any name stands.
    pub fn free_spans(&self, key: &str) -> Option<&KeySpans> {
        self.free.get(key)
    }

    /// Where a key was taken back to its default, and what lower layers say of it.
    pub fn unset(&self, table: &'static str, key: &'static str) -> Option<&KeySpans> {
        self.unset.get(&(table, key))
    }

    /// The header of a table, if it stands in the file.
    pub fn header(&self, table: &str) -> Option<Span> {
        self.headers.get(table).copied()
    }

    /// `[unit] description`.
    pub fn description(&self) -> String {
        self.settings("unit").text("description").unwrap_or_default().to_owned()
    }

    /// The unit's canonical form; only for a unit without errors.
    pub fn canonical(&self, registry: &Registry) -> &Canonical {
        self.made.canonical.get_or_init(|| canon::write(self, registry))
    }

    /// Where each of its keys comes from.
    pub fn origins(&self, registry: &Registry) -> Arc<[KeyOrigin]> {
        Arc::clone(self.made.origins.get_or_init(|| origins::of(self, registry)))
    }

    /// What the plan has of the unit: made once, and again when `still` says that it is not right any more.
    pub fn part<T: Send + Sync + 'static>(
        &self,
        still: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Option<T>,
    ) -> Option<Arc<T>> {
        let mut held = self.made.part.lock().unwrap_or_else(PoisonError::into_inner);
        let known = held.as_ref().and_then(|part| Arc::clone(part).downcast::<T>().ok());
        if let Some(part) = known.filter(|part| still(part)) {
            return Some(part);
        }
        let part = Arc::new(make()?);
        *held = Some(Arc::clone(&part) as Part);
        Some(part)
    }

    fn note_spans(&mut self, root: &Table) {
        // `[install]` is read before anything else is known, so its places are noted before too.
        for key in ["enabled", "masked"] {
            let entry = root.table("install").and_then(|table| table.get(key));
            if let Some(entry) = entry.filter(|entry| !entry.is_unset()) {
                self.spans.entry("install").or_default().insert(key, KeySpans::of(entry, &entry.node));
            }
        }
    }

    fn check_choice(&mut self, root: &Table, chosen: Option<(&str, Span)>, registry: &Registry) {
        let finding = match (self.name.kind, chosen) {
            (Kind::Connector, Some((word, span))) if registry.platform(word).is_none() => {
                let known: Vec<_> = registry.platforms.iter().map(|view| view.name).collect();
                unknown_platform::finding(word, span, &known)
            }
            (Kind::Engine, Some((word, span))) if registry.engine(word).is_none() => {
                let known: Vec<_> = registry.engines.iter().map(|view| view.name).collect();
                unknown_engine::finding(word, span, &known)
            }
            (Kind::Channel, Some((word, span))) if registry.channel(word).is_none() => {
                let known: Vec<_> = registry.channels.iter().map(|view| view.name).collect();
                unknown_channel::finding(word, span, &known)
            }
            (Kind::Runtime, _) => match choice(root, "runtime", "runtime") {
                Some((word, span)) if !runtime::RUNTIMES.contains(&word) => {
                    unknown_runtime::finding(word, span, &runtime::RUNTIMES)
                }
                _ => return,
            },
            _ => return,
        };
        self.report.push(finding);
    }

    /// Tables and keys at the top that mean nothing. Returns what was probably meant, so that its absence is not told too.
    fn unknown_roots(&mut self, root: &Table, layout: &Layout) -> BTreeSet<(&'static str, &'static str)> {
        let mut excused = BTreeSet::new();
        for (name, entry) in &root.0 {
            if let Some(spec) = layout.table(name) {
                if !matches!(entry.node.data, Data::Table(_)) {
                    self.report.push(wrong_type::table(name, &entry.node));
                    excused.extend(spec.keys.iter().map(|key| (spec.name, key.name)));
                }
                continue;
            }
            let tables = match &entry.node.data {
                Data::Table(_) => true,
                Data::List(items) => {
                    !items.is_empty() && items.iter().all(|item| matches!(item.data, Data::Table(_)))
                }
                _ => false,
            };
            if !tables {
                self.unknown_key("", name, entry, layout, &mut excused);
            } else if !layout.may_be_own(name) {
                self.report.push(unknown_table::finding(name, entry.key, layout));
                if let Some(spec) = unknown_table::guess(name, layout).and_then(|meant| layout.table(meant)) {
                    excused.extend(spec.keys.iter().map(|key| (spec.name, key.name)));
                }
            }
        }
        excused
    }

    fn unknown_key(
        &mut self,
        table: &str,
        key: &str,
        entry: &Entry,
        layout: &Layout,
        excused: &mut BTreeSet<(&'static str, &'static str)>,
    ) {
        let guess = unknown_key::guess(table, key, layout);
        if let Some((place, name)) = guess.meant {
            excused.insert((place, name));
            // A misspelt key for a secret holds the secret all the same.
            let spec = layout.table(place).and_then(|spec| spec.key(name));
            if spec.is_some_and(|spec| spec.value == ValueType::Secret) {
                self.report.hide(entry.node.span);
            }
        }
        let mut finding = unknown_key::finding(table, key, entry.key, &guess, layout);
        if let Some(patch) = finding.suggestion.as_mut().and_then(|suggestion| suggestion.patch.as_mut())
            && entry.is_unset()
        {
            // It stands in the list `unset`, with its table and in quotes.
            patch.replacement = format!("\"{table}.{}\"", patch.replacement);
        }
        self.report.push(finding);
    }

    fn table(
        &mut self,
        spec: &TableSpec,
        root: &Table,
        layout: &Layout,
        broken: bool,
        excused: &mut BTreeSet<(&'static str, &'static str)>,
        around: &mut Surroundings<'_>,
    ) {
        let entry = root.get(spec.name);
        let keys = root.table(spec.name);
        if let (Some(entry), Some(_)) = (entry, keys) {
            self.headers.insert(spec.name, entry.node.span);
        }
        if spec.free {
            if let Some(entry) = entry.filter(|_| keys.is_some()) {
                let whole = KeySpec::new(spec.name, ValueType::EnvMap, spec.doc);
                for (name, entry) in keys.iter().flat_map(|table| &table.0) {
                    let path = format!("{}.{name}", spec.name);
                    self.report.findings.extend(super::shadows::idle_unset(&path, entry));
                    if !entry.is_unset() {
                        self.free.insert(name.clone(), KeySpans::of(entry, &entry.node));
                    }
                }
                self.key(spec.name, &whole, &entry.node, around);
            }
            return;
        }
        for (name, entry) in keys.iter().flat_map(|table| &table.0) {
            if spec.key(name).is_none() {
                self.unknown_key(spec.name, name, entry, layout, excused);
            }
        }
        for key in spec.keys {
            let entry = keys.and_then(|table| table.get(key.name));
            if let Some(entry) = entry.filter(|entry| entry.is_unset()) {
                self.unset.insert((spec.name, key.name), KeySpans::of(entry, &entry.node));
            }
            if let Some(entry) = entry
                && !self.shadows(spec.name, key, entry, around)
            {
                continue;
            }
            match entry.filter(|entry| !entry.is_unset()) {
                Some(entry) => self.entry(spec.name, key, entry, around),
                None if key.required && !broken && !excused.contains(&(spec.name, key.name)) => {
                    let (span, why) = self.who_needs(spec, layout);
                    self.report.push(missing_key::finding(spec.name, key, span, &why));
                }
                None => self.default(spec.name, key, around),
            }
        }
    }

    /// What makes a table's required keys necessary, and where it stands.
    fn who_needs(&self, spec: &TableSpec, layout: &Layout) -> (Span, String) {
        if let Some(header) = self.header(spec.name) {
            return (header, "this table needs it".to_owned());
        }
        let chosen = Layout::selector(layout.kind).and_then(|(table, key)| self.spans(table, key));
        match chosen.filter(|_| layout.own().is_some_and(|own| own.name == spec.name)) {
            Some(spans) => (spans.value, format!("needs a table `[{}]`", spec.name)),
            None => (Span::file(self.source), format!("needs a table `[{}]`", spec.name)),
        }
    }

    fn key(&mut self, table: &'static str, spec: &KeySpec, node: &Node, around: &mut Surroundings<'_>) {
        let dir = around.dirs.iter().find(|(source, _)| *source == node.span.source);
        let dir = dir.map_or(Path::new(""), |(_, dir)| dir);
        let at = At { unit: &self.name, table, key: spec.name, dir, env: around.env };
        if let Some(value) = decode(at, spec, node, &mut self.report, &mut self.references) {
            let empty = match &value {
                Value::Text(text) => text.is_empty(),
                Value::List(items) => items.is_empty(),
                _ => false,
            };
            if spec.required && empty {
                self.report.push(bad_value::finding(&at.path(), node.span, "is empty"));
                return;
            }
            self.note_secrets(&value, node.span, &at.path());
            self.tables.entry(table).or_default().0.insert(spec.name.to_owned(), value);
        }
    }

    fn note_secrets(&mut self, value: &Value, span: Span, path: &str) {
        let mut note = |reference: &SecretRef| {
            if let SecretRef::Stored(name) = reference {
                self.secrets.push(SecretUse { name: name.clone(), span, path: path.to_owned() });
            }
        };
        match value {
            Value::Secret(reference) => note(reference),
            Value::Map(map) => {
                for setting in map.values() {
                    if let Setting::Secret(reference) = setting {
                        note(reference);
                    }
                }
            }
            _ => {}
        }
    }

    fn default(&mut self, table: &'static str, spec: &'static KeySpec, around: &mut Surroundings<'_>) {
        if let Some(value) = around.defaults.get(&self.name, table, spec, around.env) {
            self.tables.entry(table).or_default().0.insert(spec.name.to_owned(), value);
        }
    }

    /// The platform's or engine's look at its own table, once all of its keys are right.
    fn own_check(&mut self, layout: &Layout, registry: &Registry) {
        let Some(own) = layout.own().filter(|_| !self.name.is_template()) else { return };
        let check = match layout.kind {
            Kind::Connector => registry.platform(own.name).map(|view| view.check),
            Kind::Engine => registry.engine(own.name).map(|view| view.check),
            Kind::Channel => registry.channel(own.name).map(|view| view.check),
            _ => None,
        };
        let Some(check) = check.filter(|_| self.report.first_error().is_none()) else { return };
        for problem in check(self.settings(own.name)) {
            let path = format!("{}.{}", own.name, problem.key);
            let span = self.spans(own.name, problem.key).map(|spans| spans.value);
            let span = span.unwrap_or_else(|| self.who_needs(own, layout).0);
            self.report.push(bad_value::finding(&path, span, &problem.message));
        }
    }
}

impl KeySpans {
    /// `node`: the value that all layers make together.
    fn of(entry: &Entry, node: &Node) -> Self {
        let items = match &node.data {
            Data::List(items) => items.iter().map(|item| item.span).collect(),
            _ => Vec::new(),
        };
        let set = entry.below.iter().filter(|node| !matches!(node.data, Data::Unset));
        Self { value: entry.node.span, items, shadows: set.map(|node| node.span).collect() }
    }
}

fn flag(root: &Table, key: &str) -> Option<bool> {
    match root.table("install")?.get(key)?.node.data {
        Data::Bool(flag) => Some(flag),
        _ => None,
    }
}

fn choice<'a>(root: &'a Table, table: &str, key: &str) -> Option<(&'a str, Span)> {
    let node = &root.table(table)?.get(key)?.node;
    match &node.data {
        Data::Text(word) => Some((word, node.span)),
        _ => None,
    }
}
