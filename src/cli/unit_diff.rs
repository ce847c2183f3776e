//! `workagent diff`: what the files above the lowest of a unit change in it, key by key.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use serde::Serialize;
use toml_edit::{Document, Item};

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, count, path};
use super::units::names::{self, Selection};
use super::units::{UnitSet, all_names, place};
use crate::daemon::exit;
use crate::diag::mask::Masked;
use crate::unit::load::{Role, UnitFile};
use crate::unit::plan::UnitName;

/// `workagent diff`
#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    selection: Selection,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One unit, as an object of `--json`.
#[derive(Debug, Serialize)]
struct UnitDiff {
    unit: String,
    /// The lowest whole file.
    base: String,
    /// The files above it that count, in order.
    layers: Vec<String>,
    changes: Vec<KeyDiff>,
}

/// One key.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct KeyDiff {
    key: String,
    /// In the lowest file; nothing if it does not stand there.
    base: Option<String>,
    /// What counts.
    now: String,
    /// `FILE:LINE:COLUMN`; nothing is the default.
    origin: Option<String>,
}

/// Runs the command.
pub fn command(args: DiffArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let selected = args.selection.ready()?;
    let names: Vec<UnitName> =
        all_names(&set).into_iter().filter(|name| selected.has(&name.to_string())).collect();
    if names.is_empty()
        && let Some(word) = args.selection.one_name()
    {
        names::find(&set, word)?;
    }
    let diffs: Vec<UnitDiff> = names.iter().filter_map(|name| diff(&set, name)).collect();
    if args.json {
        context.out.write_all(pretty(&diffs).as_bytes())?;
        return Ok(exit::OK);
    }
    let mut text = String::new();
    for diff in &diffs {
        text.push_str(&shown(diff, context.paint(), set.home.as_deref()));
        text.push('\n');
    }
    let verb = if diffs.len() == 1 { "differs" } else { "differ" };
    text.push_str(&format!("{} {verb} from what lies below.\n", count(diffs.len(), "unit")));
    context.page(&text);
    Ok(exit::OK)
}

/// `None`: the unit is made of one file.
fn diff(set: &UnitSet, name: &UnitName) -> Option<UnitDiff> {
    let files = set.files(name);
    let main = files.main?;
    let is_main = |file: &&UnitFile| matches!(file.role, Role::Main(_));
    let base = files.replaced.iter().copied().find(is_main).unwrap_or(main);
    let above: Vec<&UnitFile> = files.all().filter(|file| file.path != base.path).collect();
    if above.is_empty() {
        return None;
    }
    let low = keys(&base.text);
    let mut changes = Vec::new();
    for origin in set.compiled.origins.get(name)?.iter() {
        let sources = &set.compiled.sources;
        let key = format!("{}.{}", origin.table, origin.key);
        let before = low.get(&key);
        let from_base = origin.span.is_some_and(|span| sources.path(span.source) == base.path);
        let same = before.map_or(origin.span.is_none(), |value| *value == canonical(&origin.value));
        if from_base || same {
            continue;
        }
        let shown = |value: &str| {
            let prefix = format!("{key} = ");
            let masked = Masked::new(&format!("{prefix}{value}"), []).text;
            masked.strip_prefix(&prefix).unwrap_or("…").to_owned()
        };
        changes.push(KeyDiff {
            base: before.map(|value| shown(value)),
            now: shown(&origin.value),
            origin: origin.span.map(|span| place(sources, span, None)),
            key,
        });
    }
    let display = |file: &UnitFile| file.path.display().to_string();
    Some(UnitDiff {
        unit: name.to_string(),
        base: display(base),
        layers: above.into_iter().map(display).collect(),
        changes,
    })
}

/// `table.key` → value in one line, of one file.
fn keys(text: &str) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let Ok(document) = Document::parse(text) else { return keys };
    for (table, item) in document.iter() {
        let Some(inner) = item.as_table_like() else { continue };
        for (key, item) in inner.iter() {
            if let Item::Value(value) = item {
                keys.insert(format!("{table}.{key}"), canonical(&value.to_string()));
            }
        }
    }
    keys
}

/// A value without the layout it was written in.
fn canonical(value: &str) -> String {
    match format!("x = {}", value.trim()).parse::<toml::Table>() {
        Ok(table) => table.get("x").map_or_else(String::new, ToString::to_string),
        Err(_) => value.trim().to_owned(),
    }
}

fn shown(diff: &UnitDiff, paint: Paint, home: Option<&Path>) -> String {
    let short = |text: &str| path(Path::new(text), home);
    let mut out = format!("{}\n", paint.bold(&diff.unit));
    out.push_str(&format!("{}\n", paint.dim(format!("--- {}", short(&diff.base)))));
    for layer in &diff.layers {
        out.push_str(&format!("{}\n", paint.dim(format!("+++ {}", short(layer)))));
    }
    for change in &diff.changes {
        if let Some(base) = &change.base {
            out.push_str(&format!("{}\n", paint.red(format!("- {} = {base}", change.key))));
        }
        let origin = change.origin.as_deref().map_or_else(|| "default".to_owned(), short);
        let line = paint.green(format!("+ {} = {}", change.key, change.now));
        out.push_str(&format!("{line}  {}\n", paint.dim(format!("# {origin}"))));
    }
    if diff.changes.is_empty() {
        out.push_str("  the same keys with the same values\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_without_layout() {
        let keys = keys("[a]\nb = [ 1,2 ] # x\n[c]\nd = 'e'\n[bad]\n");
        let shown: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(shown, ["a.b=[1, 2]", "c.d=\"e\""]);
        assert_eq!(canonical(" \"e\""), canonical("'e'"));
    }

    #[test]
    fn a_unit_with_its_layers_and_changes() {
        let diff = UnitDiff {
            unit: "inbox.connector".into(),
            base: "<built-in>/inbox.connector.toml".into(),
            layers: vec!["/home/me/u/inbox.connector.d/enabled.toml".into()],
            changes: vec![
                KeyDiff {
                    key: "install.enabled".into(),
                    base: Some("false".into()),
                    now: "true".into(),
                    origin: Some("/home/me/u/inbox.connector.d/enabled.toml:2:11".into()),
                },
                KeyDiff {
                    key: "schedule.every".into(),
                    base: Some("\"1m\"".into()),
                    now: "\"5m\"".into(),
                    origin: None,
                },
            ],
        };
        insta::assert_snapshot!(shown(&diff, Paint { colour: false }, Some(Path::new("/home/me"))), @r#"
        inbox.connector
        --- <built-in>/inbox.connector.toml
        +++ ~/u/inbox.connector.d/enabled.toml
        - install.enabled = false
        + install.enabled = true  # ~/u/inbox.connector.d/enabled.toml:2:11
        - schedule.every = "1m"
        + schedule.every = "5m"  # default
        "#);
    }
}
