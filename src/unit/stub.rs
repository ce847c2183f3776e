//! A new unit file with all keys in comments, for `workagent new`.

use std::fmt::Write as _;

use super::kinds::{self, common};
use super::plan::Kind;
use super::registry::Registry;
use super::schema::{KeySpec, Tested, ValueType};
use super::{json_schema, words};

/// The text of a new unit of this kind. Connectors, engines and channels begin with a shipped file, `from` its name; of the other
/// kinds all keys are listed.
///
/// # Errors
/// There is no such shipped file, or the kind needs one and none was named; the message lists them.
pub fn text(kind: Kind, from: Option<&str>, registry: &Registry) -> Result<String, String> {
    let shipped: Vec<(&str, &str)> = registry
        .shipped
        .iter()
        .filter_map(|unit| Some((unit.file.strip_suffix(&format!(".{}.toml", kind.word()))?, unit.text)))
        .collect();
    let known = || words::any_of(shipped.iter().map(|(name, _)| *name));
    match from {
        Some(from) => match shipped.iter().find(|(name, _)| *name == from) {
            Some((_, text)) => Ok(copied(kind, text)),
            None if shipped.is_empty() => Err(format!("no {} unit is shipped to begin with", kind.word())),
            None => Err(format!(
                "there is no shipped {} unit `{}`; there is {}",
                kind.word(),
                words::shown(from),
                known()
            )),
        },
        None if matches!(kind, Kind::Connector | Kind::Engine | Kind::Channel) => {
            Err(format!("say which one to begin with, `--from`: {}", known()))
        }
        None => Ok(listed(kind)),
    }
}

const HELP: &str = "# Lines that begin with `#` and a key show its default or an example; `workagent validate` says what is\n\
                    # missing, `man workagent.units` what each key means.\n";

/// A shipped file without its opening remarks, which say how to copy it.
fn copied(kind: Kind, text: &str) -> String {
    let body: Vec<&str> = text.lines().skip_while(|line| line.starts_with('#') || line.is_empty()).collect();
    format!("{}\n{HELP}\n{}\n", json_schema::line(kind), body.join("\n").trim_end())
}

fn listed(kind: Kind) -> String {
    let spec = kinds::spec(kind);
    let mut out = format!("{}\n# {}\n#\n{HELP}", json_schema::line(kind), spec.doc);
    // What it is, then what is its own, then whether it takes part.
    let (first, last): (Vec<_>, Vec<_>) = common::TABLES
        .iter()
        .filter(|table| common::has(kind, table))
        .partition(|table| table.name == "unit");
    for table in first.into_iter().chain(spec.tables).chain(last) {
        let _ = write!(out, "\n# {}\n[{}]\n", table.doc, table.name);
        if table.free {
            out.push_str("#NAME = \"value\"\n#TOKEN = { secret = \"name/of/secret\" }\n");
        }
        for key in table.keys {
            let _ = writeln!(out, "# {}", key.doc);
            let example = example(table.name, key, spec.enabled);
            // A timer without a time is refused.
            let needed = key.required || (kind == Kind::Timer && key.name == "calendar");
            let comment = if needed { "" } else { "#" };
            let _ = writeln!(out, "{comment}{} = {example}", key.name);
        }
    }
    out
}

/// The default, or something that could stand there.
fn example(table: &str, key: &KeySpec, enabled: bool) -> String {
    if let Some(default) = key.default {
        return default.to_owned();
    }
    match (table, key.name) {
        ("install", "enabled") => return enabled.to_string(),
        ("runtime", "runtime") => return "\"sync\"".to_owned(),
        _ => {}
    }
    match &key.value {
        ValueType::Text | ValueType::Host => "\"…\"".to_owned(),
        ValueType::Bool => "true".to_owned(),
        ValueType::Integer { min, .. } => min.max(&1).to_string(),
        ValueType::Duration { min_s, .. } if *min_s >= 3600 => "\"30d\"".to_owned(),
        ValueType::Duration { .. } => "\"5m\"".to_owned(),
        ValueType::Size => "\"64K\"".to_owned(),
        ValueType::Usd => "\"1.00\"".to_owned(),
        ValueType::Path => "\"~/…\"".to_owned(),
        ValueType::Url => "\"https://example.org/\"".to_owned(),
        ValueType::Choice(words) | ValueType::Choices(words) => {
            let word = words.first().copied().unwrap_or_default();
            if matches!(key.value, ValueType::Choices(_)) {
                format!("[\"{word}\"]")
            } else {
                format!("\"{word}\"")
            }
        }
        ValueType::List => "[\"…\"]".to_owned(),
        ValueType::Units(common::ANY_UNIT) => "[\"inbox.connector\"]".to_owned(),
        ValueType::Units("engine") => "[\"template\"]".to_owned(),
        ValueType::Units(_) => "[\"…\"]".to_owned(),
        ValueType::Unit(_) => "\"…\"".to_owned(),
        ValueType::Secret => "{ secret = \"name/of/secret\" }".to_owned(),
        ValueType::EnvMap => "{ NAME = \"value\" }".to_owned(),
        ValueType::Calendars => "\"Mon..Fri 09:00\"".to_owned(),
        ValueType::Tests(Tested::Path) => "\"~/…\"".to_owned(),
        ValueType::Tests(Tested::Unit) => "\"inbox.connector\"".to_owned(),
        ValueType::Tests(Tested::Word(words)) => {
            format!("\"{}\"", words.first().copied().unwrap_or_default())
        }
        ValueType::Tests(Tested::Text) => "\"…\"".to_owned(),
        ValueType::Windows => "\"Mon..Fri 08:00-19:00\"".to_owned(),
        ValueType::LogFilter => "\"info,inbox.connector=debug\"".to_owned(),
        ValueType::Backlog => "\"new\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;
    use crate::diag::{Severity, short};
    use crate::unit::load::{Role, UnitFile, load};
    use crate::unit::plan::UnitName;
    use crate::unit::search::SearchPath;
    use crate::unit::{CompileEnv, compile};

    /// Compiles a new unit of each sort and expects no error.
    fn check(kind: Kind, from: Option<&str>) {
        let registry = CATALOG.registry();
        let text = text(kind, from, &registry).unwrap();
        // There is one daemon, and one unit for each runtime: a new one takes the place of the shipped one.
        let name = match kind {
            Kind::Daemon => "workagent",
            Kind::Runtime => from.unwrap_or("sync"),
            _ => "x",
        };
        let name = UnitName { name: name.to_owned(), kind };
        let file = |name: &UnitName, text: &str| UnitFile {
            level: 1,
            path: format!("/u/{name}.toml").into(),
            dir: "/u".into(),
            role: Role::Main(name.clone()),
            text: text.into(),
        };
        let shipped = SearchPath { builtin: true, dirs: Vec::new(), files: Vec::new() };
        let mut loaded = load(&shipped, registry.shipped);
        loaded.files.push(file(&name, &text));
        let env =
            CompileEnv { home: Some("/home/me".into()), state_dir: "/state".into(), ..CompileEnv::default() };
        let mut compiled = compile(&loaded, &registry, &env);
        compiled.findings.retain(|finding| finding.severity == Severity::Error);
        let told = short::lines(&compiled.findings, &compiled.sources);
        assert!(told.is_empty(), "{told}\n{text}");
        assert!(text.starts_with("#:schema ../schema/"), "{text}");
    }

    #[test]
    fn each_kind_begins_without_an_error() {
        for kind in Kind::ALL
            .into_iter()
            .filter(|kind| !matches!(kind, Kind::Connector | Kind::Engine | Kind::Channel))
        {
            check(kind, None);
        }
        for unit in CATALOG.registry().shipped {
            let (name, word) = unit.file.strip_suffix(".toml").unwrap().rsplit_once('.').unwrap();
            check(Kind::from_word(word).unwrap(), Some(name));
        }
    }

    #[test]
    fn a_connector_needs_something_to_begin_with() {
        let registry = CATALOG.registry();
        let told = text(Kind::Connector, None, &registry).unwrap_err();
        assert!(told.contains("`imap`"), "{told}");
        let told = text(Kind::Engine, Some("nope"), &registry).unwrap_err();
        assert!(told.contains("`openai-chat`"), "{told}");
    }
}
