//! The unit files in the binary, with the real catalog.

use workagent::catalog::CATALOG;
use workagent::unit::kinds;
use workagent::unit::schema::TableSpec;

use super::*;

fn compile_shipped(extra: &[(&str, &str)]) -> Compiled {
    let registry = CATALOG.registry();
    let mut all = load(&SearchPath { builtin: true, dirs: Vec::new(), files: Vec::new() }, registry.shipped);
    all.files.extend(loaded(extra).files);
    compile(&all, &registry, &env())
}

#[test]
fn all_of_them_compile_without_a_word() {
    let compiled = compile_shipped(&[]);
    assert_eq!(short(&compiled, Path::new("")), "");
    assert_eq!(compiled.daemon_off, None);
    let enabled: Vec<_> = compiled
        .plan
        .connectors
        .iter()
        .filter(|(_, standing)| matches!(standing, Standing::Active(_)))
        .map(|(name, _)| name)
        .collect();
    assert!(enabled.is_empty(), "connectors ship disabled: {enabled:?}");
    assert!(compiled.plan.routes.is_empty(), "no route sends work to an engine that nobody chose");
    insta::assert_snapshot!(standings(&compiled), @r#"
    caldav.connector disabled: [install] enabled = false
    command.connector disabled: [install] enabled = false
    directory.connector disabled: [install] enabled = false
    feed.connector disabled: [install] enabled = false
    github.connector disabled: [install] enabled = false
    gitlab.connector disabled: [install] enabled = false
    imap.connector disabled: [install] enabled = false
    jira.connector disabled: [install] enabled = false
    linear.connector disabled: [install] enabled = false
    maildir.connector disabled: [install] enabled = false
    matrix.connector disabled: [install] enabled = false
    mcp.connector disabled: [install] enabled = false
    slack.connector disabled: [install] enabled = false
    acp.engine disabled: [install] enabled = false
    anthropic.engine disabled: [install] enabled = false
    claude.engine disabled: [install] enabled = false
    codex.engine disabled: [install] enabled = false
    command.engine disabled: [install] enabled = false
    gemini.engine disabled: [install] enabled = false
    openai-chat.engine disabled: [install] enabled = false
    openai-responses.engine disabled: [install] enabled = false
    template.engine on
    ingest.runtime on
    onboarding.runtime on
    outbound.runtime on
    pending.runtime on
    review.runtime on
    rotation.runtime on
    scheduler.runtime on
    sync.runtime on
    worker.runtime on
    default.target on
    offline.target on
    safe.target on
    "#);
}

/// The text of a shipped file with one commented key made real, for each such key.
fn uncommented(text: &str) -> Vec<(String, String)> {
    let key = |line: &str| {
        let line = line.strip_prefix('#')?;
        let (name, _) = line.split_once(" = ")?;
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| name.to_owned())
    };
    let lines: Vec<&str> = text.lines().collect();
    let commented = lines.iter().enumerate().filter_map(|(at, line)| Some((at, key(line)?)));
    commented
        .map(|(at, name)| {
            let bare = |(line, text): (usize, &&str)| text[usize::from(line == at)..].to_owned();
            let copy: Vec<String> = lines.iter().enumerate().map(bare).collect();
            (name, copy.join("\n").replace("enabled = false", "enabled = true"))
        })
        .collect()
}

#[test]
fn what_they_show_in_comments_can_be_written() {
    for unit in CATALOG.registry().shipped {
        for (key, text) in uncommented(unit.text) {
            let compiled = compile_shipped(&[(&format!("9:{}", unit.file), &text)]);
            let wrong = [
                "syntax-error",
                "unknown-key",
                "unknown-table",
                "wrong-type",
                "out-of-range",
                "literal-secret",
            ];
            // A reference to an env unit of the user's is an example.
            let mut bad = compiled.findings.iter().filter(|finding| wrong.contains(&finding.check.code));
            assert!(bad.next().is_none(), "{}: {key}\n{}", unit.file, human(&compiled, Path::new("/u/9")));
        }
    }
}

#[test]
fn they_show_every_key_with_its_default() {
    for unit in CATALOG.registry().shipped {
        let (stem, kind) = unit.file.strip_suffix(".toml").unwrap().rsplit_once('.').unwrap();
        let kind = Kind::from_word(kind).unwrap();
        let mut tables: Vec<TableSpec> = kinds::spec(kind).tables.to_vec();
        if kind == Kind::Connector {
            tables.push(TableSpec::new(stem, CATALOG.platform(stem).unwrap().keys, ""));
        }
        if kind == Kind::Engine {
            tables.push(TableSpec::new(stem, CATALOG.engine(stem).unwrap().keys, ""));
        }
        if kind == Kind::Channel {
            tables.push(TableSpec::new("own", CATALOG.channel(stem).unwrap().keys, ""));
        }
        // The template engine neither costs nor waits.
        let read_only =
            CATALOG.platform(stem).is_some_and(|spec| kind == Kind::Connector && !spec.guarantee.replies());
        let skipped =
            |table: &TableSpec| stem == "template" && matches!(table.name, "engine" | "budget" | "restart");
        // Money in all its keys is shown once, with the engine that is paid by tokens.
        let money = |table: &TableSpec, key: &str| {
            kind == Kind::Engine
                && stem != "anthropic"
                && (table.name == "price" || table.name == "budget" && key != "daily_runs")
        };
        let starts_programs = tables.iter().any(|table| table.keys.iter().any(|key| key.name == "program"));
        // A login by OAuth is shown in full where nothing is known of the server, and briefly elsewhere.
        let login = |table: &TableSpec| table.name == "oauth" && stem != "mcp";
        let skipped =
            |table: &TableSpec| skipped(table) || login(table) || table.name == "sandbox" && !starts_programs;
        for table in tables.iter().filter(|table| !skipped(table)) {
            for key in table.keys.iter().filter(|key| key.name != "account" && !money(table, key.name)) {
                // What is never sent is not held, a program has no model that we know of, a server no environment
                // and no exit.
                let server = ["openai-chat", "anthropic", "openai-responses", "gemini"].contains(&stem);
                let idle = (stem, key.name) == ("command", "model")
                    || server && matches!(key.name, "env" | "path" | "exit_attempts");
                if (read_only && (table.name == "auto" || matches!(key.name, "hold" | "shadow" | "nudge")))
                    || (kind == Kind::Engine && idle)
                {
                    continue;
                }
                let shows = |line: &'static str| {
                    line.trim_start_matches('#').strip_prefix(key.name)?.strip_prefix(" = ")
                };
                let shown = section(unit.text, table.name).find_map(shows);
                let shown = shown.or_else(|| unit.text.lines().find_map(shows));
                let shown = shown.unwrap_or_else(|| panic!("{} does not show `{}`", unit.file, key.name));
                if let (Some(default), true) = (key.default, key.name != "outbound") {
                    assert_eq!(shown, default, "{}: `{}`", unit.file, key.name);
                }
            }
        }
    }
}

/// The lines of a table, which may be commented out; all lines where it has no header of its own.
fn section<'a>(text: &'a str, table: &str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    let header = format!("[{table}]");
    let is_header = |line: &str| line.starts_with('[') || line.starts_with("#[");
    match text.lines().position(|line| line.trim_start_matches('#') == header) {
        Some(at) => Box::new(text.lines().skip(at + 1).take_while(move |line| !is_header(line))),
        None => Box::new(text.lines()),
    }
}

#[test]
fn each_platform_and_engine_has_one_and_each_file_is_in_the_binary() {
    let shipped: Vec<&str> = CATALOG.registry().shipped.iter().map(|unit| unit.file).collect();
    let platforms = CATALOG.platforms.iter().map(|spec| format!("{}.connector.toml", spec.name));
    let engines = CATALOG.engines.iter().map(|spec| format!("{}.engine.toml", spec.name));
    for file in platforms.chain(engines) {
        assert!(shipped.contains(&file.as_str()), "{file} is not in units/");
    }
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("units")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(shipped.contains(&name.as_str()), "units/{name} is not in the catalog");
    }
}

#[test]
fn the_polling_interval_shown_is_the_platforms_own() {
    for spec in CATALOG.platforms {
        let every = "#every = \"".to_owned();
        let unit = CATALOG.registry();
        let unit =
            unit.shipped.iter().find(|unit| unit.file == format!("{}.connector.toml", spec.name)).unwrap();
        let text = unit.text.lines().find(|line| line.starts_with(&every)).unwrap();
        let uncommented = unit.text.replace(text, &text[1..]).replace("enabled = false", "enabled = true");
        let compiled = compile_shipped(&[(&format!("9:{}", unit.file), &uncommented)]);
        assert!(
            compiled.findings.iter().all(|finding| finding.check.code != "interval-under-limit"),
            "{}",
            unit.file
        );
        let shown = text[every.len()..].trim_end_matches('"');
        let seconds = |number: &str, scale: u64| number.parse::<u64>().unwrap() * scale;
        let shown = match shown.split_at(shown.len() - 1) {
            (number, "m") => seconds(number, 60),
            (number, "h") => seconds(number, 3600),
            (number, _) => seconds(number, 1),
        };
        assert_eq!(shown, spec.every_default_s, "{}", unit.file);
    }
}

#[test]
fn every_default_fits_its_own_type() {
    // A default that does not decode would be dropped in silence; here each one is written out.
    let registry = CATALOG.registry();
    let platforms = registry.platforms.iter().map(|view| (view.name, view.keys, "connector", "platform"));
    let engines = registry.engines.iter().map(|view| (view.name, view.keys, "engine", "engine"));
    for (name, keys, table, selector) in platforms.chain(engines) {
        for key in keys {
            let Some(default) = key.default else { continue };
            let text = format!(
                "[{table}]\n{selector} = \"{name}\"\n[{name}]\n{} = {default}\n[install]\nenabled = true\n",
                key.name
            );
            let compiled = compile_shipped(&[(&format!("9:x.{table}.toml"), &text)]);
            let path = format!("`{name}.{}`", key.name);
            let bad = compiled.findings.iter().find(|finding| finding.title.contains(&path));
            assert!(bad.is_none(), "{}", human(&compiled, Path::new("/u/9")));
        }
    }
    for unit in
        registry.platforms.iter().map(|view| view.keys).chain(registry.engines.iter().map(|view| view.keys))
    {
        for key in unit {
            assert!(!key.doc.is_empty(), "{} has no words for the manual", key.name);
            assert!(!key.required || key.default.is_none(), "{} is required and has a default", key.name);
        }
    }
}
