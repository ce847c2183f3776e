//! The canonical form of a unit: a whole unit file that says what the unit means, without how it was written. All layers
//! are merged, defaults filled in, specifiers and relative paths resolved; tables and keys stand in the order of the
//! schema. Compiling it gives the same unit, and its own canonical form is itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use toml_edit::{Array, InlineTable, Value as Toml};

use super::decode::{duration, specifier};
use super::graph::Units;
use super::kinds::common;
use super::layout::Layout;
use super::load::{Loaded, Role, UnitFile};
use super::plan::{Off, OffState, UnitName};
use super::registry::Registry;
use super::schema::{KeySpec, TableSpec, Tested, ValueType};
use super::typed::Typed;
use super::value::{Setting, Settings, Value};
use crate::model::secret_ref::SecretRef;
use crate::model::text::hex;

/// A unit's canonical form.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    /// The file's text.
    pub text: Arc<str>,
    /// SHA-256 of the text.
    digest: [u8; 32],
}

/// Writes a unit out. Paths that are not UTF-8 are the one thing TOML cannot hold; they lose what it cannot say.
pub(crate) fn write(unit: &Typed, registry: &Registry) -> Canonical {
    let chosen = Layout::selector(unit.name.kind).and_then(|(table, key)| unit.settings(table).text(key));
    let layout = Layout::new(unit.name.kind, chosen, registry);
    let mut text = String::new();
    let first = layout.tables().filter(|spec| spec.name == "unit");
    let others = layout.tables().filter(|spec| spec.name != "unit" && spec.name != "install");
    for spec in first.chain(others) {
        table(&mut text, spec, unit.settings(spec.name));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str("[install]\nenabled = true\n");
    if let Some(spec) = common::TABLES.iter().find(|spec| spec.name == "install") {
        // That it takes part is said; that it is not masked follows.
        let keys = spec.keys.iter().filter(|key| !matches!(key.name, "enabled" | "masked"));
        keys.for_each(|key| line(&mut text, key, unit.settings("install")));
    }
    let digest = Sha256::digest(text.as_bytes()).into();
    Canonical { text: text.into(), digest }
}

/// SHA-256 over all units in the order of their names: of those that are on, the canonical form; of those that are off,
/// the state and the reason. Places, comments, layout and file names are no part of it.
pub(crate) fn hash(
    units: &Units,
    on: &BTreeMap<UnitName, &Canonical>,
    off: &BTreeMap<UnitName, Off>,
) -> String {
    let mut sha = Sha256::new();
    // Each text goes in with its length in front, so that nothing can run together.
    let mut part = |bytes: &[u8]| {
        sha.update((bytes.len() as u64).to_le_bytes());
        sha.update(bytes);
    };
    for name in units.keys() {
        part(name.to_string().as_bytes());
        if let Some(canonical) = on.get(name) {
            part(&canonical.digest);
        } else if let Some(why) = off.get(name) {
            part(why.state.word().as_bytes());
            part(why.reason.as_bytes());
        }
    }
    hex(&sha.finalize())
}

/// Canonical forms as files on one level, to be compiled again. `off` are units that are off: others may name them, so
/// they stand in for themselves as disabled or masked ones.
#[must_use]
pub fn as_files<'a>(
    canonical: impl IntoIterator<Item = (&'a UnitName, &'a Arc<str>)>,
    off: impl IntoIterator<Item = (&'a UnitName, OffState)>,
) -> Loaded {
    let file = |name: &UnitName, text: Arc<str>| UnitFile {
        level: 1,
        path: PathBuf::from("/canonical").join(format!("{name}.toml")),
        dir: PathBuf::from("/canonical"),
        role: Role::Main(name.clone()),
        text,
    };
    let on = canonical.into_iter().map(|(name, text)| file(name, Arc::clone(text)));
    let off = off.into_iter().map(|(name, state)| {
        let key = if state == OffState::Masked { "masked = true" } else { "enabled = false" };
        file(name, format!("[install]\n{key}\n").into())
    });
    Loaded { files: on.chain(off).collect(), ..Loaded::default() }
}

fn table(text: &mut String, spec: &TableSpec, settings: &Settings) {
    if settings.0.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "[{}]", spec.name);
    if spec.free {
        for (name, setting) in settings.map(spec.name).into_iter().flatten() {
            let value = match setting {
                Setting::Text(value) => Toml::from(value.as_str()),
                Setting::Secret(reference) => secret(reference),
            };
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    spec.keys.iter().for_each(|key| line(text, key, settings));
}

fn line(text: &mut String, spec: &KeySpec, settings: &Settings) {
    if let Some(value) = settings.get(spec.name) {
        let _ = writeln!(text, "{} = {}", spec.name, toml(spec, value));
    }
}

/// A value as it is written under its key.
pub(crate) fn toml(spec: &KeySpec, value: &Value) -> Toml {
    match value {
        Value::Text(text) => name(spec, text).into(),
        Value::Bool(flag) => Toml::from(*flag),
        Value::Integer(number) => Toml::from(*number),
        Value::Duration(span) => duration::shown(*span).into(),
        Value::Size(bytes) => i64::try_from(*bytes).map_or_else(|_| bytes.to_string().into(), Toml::from),
        Value::Usd(micro) => crate::model::money::exact_usd(*micro).into(),
        Value::Path(path) => name(spec, &path.to_string_lossy()).into(),
        Value::List(items) => {
            Toml::Array(items.iter().map(|item| Toml::from(name(spec, item))).collect::<Array>())
        }
        Value::Secret(reference) => secret(reference),
        Value::Map(map) => Toml::InlineTable(
            map.iter()
                .map(|(name, setting)| {
                    let value = match setting {
                        Setting::Text(text) => Toml::from(text.as_str()),
                        Setting::Secret(reference) => secret(reference),
                    };
                    (name.as_str(), value)
                })
                .collect::<InlineTable>(),
        ),
    }
}

/// A text. A unit's name that ends like its kind (`a.env` of kind `env`) needs the kind behind it, or it would lose its end.
/// Where specifiers are filled in, what looks like one must not be read as one.
fn name(spec: &KeySpec, text: &str) -> String {
    let text = if spec.specifiers { &specifier::escaped(text, spec.value == ValueType::Url) } else { text };
    match spec.value {
        // A path takes specifiers, so what is left of them must not be read as one.
        ValueType::Tests(Tested::Path) => text.replace('%', "%%"),
        ValueType::Unit(kind) | ValueType::Units(kind)
            if kind != common::ANY_UNIT
                && text.strip_suffix(kind).is_some_and(|rest| rest.ends_with('.')) =>
        {
            format!("{text}.{kind}")
        }
        _ => text.to_owned(),
    }
}

fn secret(reference: &SecretRef) -> Toml {
    let (key, name) = match reference {
        SecretRef::Stored(name) => ("secret", name),
        SecretRef::Env(name) => ("env", name),
    };
    Toml::InlineTable(InlineTable::from_iter([(key, name.as_str())]))
}
