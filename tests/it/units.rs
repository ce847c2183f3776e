//! Unit files from text to plan: the shared cases, the findings with their places, the purity of the compiler.

mod again;
mod canonical;
mod cases;
mod cli;
mod fuzzed;
mod instances;
mod kinds;
mod last_good;
mod layers;
mod loading;
mod meaning;
mod mend;
mod operations;
mod origins;
mod rules;
mod secrets;
mod shipped;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use workagent::diag::render::{Style, render};
use workagent::diag::{json, short};
use workagent::model::outbound::Guarantee;
use workagent::unit::load::{Role, Target, UnitFile};
use workagent::unit::plan::{Kind, Standing, UnitName};
use workagent::unit::registry::{ChannelView, EngineView, PlatformView, Registry};
use workagent::unit::schema::{KeyProblem, KeySpec, ValueType};
use workagent::unit::search::SearchPath;
use workagent::unit::value::Settings;
use workagent::unit::{CompileEnv, Compiled, Loaded, compile, load};

/// Small stand-ins for the platforms and engines, so that these tests say what the compiler does and nothing else.
fn registry() -> Registry {
    const FEED: &[KeySpec] = &[KeySpec::new("url", ValueType::Url, "The feed").specifiers().required()];
    const IMAP: &[KeySpec] = &[
        KeySpec::new("host", ValueType::Host, "The server").required(),
        KeySpec::new("port", ValueType::Integer { min: 1, max: 65_535 }, "Its port").default("993"),
        KeySpec::new("user", ValueType::Text, "The login name").specifiers().required(),
        KeySpec::new("password", ValueType::Secret, "The password").required(),
    ];
    const COMMAND: &[KeySpec] = &[KeySpec::new("program", ValueType::Path, "The program").required()];
    const CHAT: &[KeySpec] = &[
        KeySpec::new("base_url", ValueType::Url, "The server").required(),
        KeySpec::new("model", ValueType::Text, "The model").required(),
        KeySpec::new("api_key", ValueType::Secret, "The key"),
    ];
    fn fine(_: &Settings) -> Vec<KeyProblem> {
        Vec::new()
    }
    let platform = |name, keys, guarantee| PlatformView {
        name,
        summary: "a platform",
        keys,
        every_min_s: 30,
        every_default_s: 900,
        guarantee,
        check: fine,
        login: |_, _, _| None,
    };
    let engine = |name, keys, is_local| EngineView {
        name,
        summary: "an engine",
        keys,
        check: fine,
        is_local,
        needs_model: false,
    };
    Registry {
        platforms: vec![
            platform("feed", FEED, Guarantee::NoReplies),
            platform("imap", IMAP, Guarantee::Held),
        ],
        engines: vec![
            engine("template", &[], |_| true),
            engine("command", COMMAND, |_| false),
            engine("openai-chat", CHAT, |own| {
                own.text("base_url").is_some_and(|url| url.contains("//127.0.0.1"))
            }),
        ],
        channels: vec![ChannelView { name: "command", summary: "a channel", keys: &[], check: fine }],
        shipped: &[],
    }
}

fn env() -> CompileEnv {
    CompileEnv { home: Some("/home/me".into()), state_dir: "/state".into(), ..CompileEnv::default() }
}

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/units").join(name)
}

fn compile_dir(dir: &Path) -> Compiled {
    compile(&load(&search(dir), &[]), &registry(), &env())
}

fn compile_texts(files: &[(&str, &str)]) -> Compiled {
    compile(&loaded(files), &registry(), &env())
}

/// Files as the loader gives them; `x.d/y.toml` is a drop-in, `1:x` is `x` on level 1.
fn loaded(files: &[(&str, &str)]) -> Loaded {
    let unit = |stem: &str| {
        let (name, word) = stem.rsplit_once('.').unwrap();
        UnitName { name: name.to_owned(), kind: Kind::from_word(word).unwrap() }
    };
    let file = |(path, text): &(&str, &str)| {
        let (level, path) =
            path.split_once(':').map_or((1, *path), |(level, path)| (level.parse().unwrap(), path));
        let role = match path.split_once(".d/") {
            Some((stem, file)) => Role::DropIn {
                target: Kind::from_word(stem).map_or_else(|| Target::Unit(unit(stem)), Target::Kind),
                file: file.to_owned(),
            },
            None => Role::Main(unit(path.strip_suffix(".toml").unwrap())),
        };
        let dir = Path::new("/u").join(level.to_string());
        UnitFile { level, path: dir.join(path), dir, role, text: (*text).into() }
    };
    Loaded { files: files.iter().map(file).collect(), ..Loaded::default() }
}

/// All findings, one a line, without the directory.
fn short(compiled: &Compiled, dir: &Path) -> String {
    short::lines(&compiled.findings, &compiled.sources).replace(&format!("{}/", dir.display()), "")
}

fn human(compiled: &Compiled, dir: &Path) -> String {
    render(&compiled.findings, &compiled.sources, Style::default())
        .replace(&format!("{}/", dir.display()), "")
}

/// Each unit with its state: "a.connector on", "b.engine bad-setting: reason".
fn standings(compiled: &Compiled) -> String {
    fn add<T>(kind: &str, all: &BTreeMap<String, Standing<T>>, lines: &mut Vec<String>) {
        for (name, standing) in all {
            lines.push(match standing {
                Standing::Active(_) => format!("{name}.{kind} on"),
                Standing::Off(off) => format!("{name}.{kind} {}: {}", off.state.word(), off.reason),
            });
        }
    }
    let plan = &compiled.plan;
    let mut lines = Vec::new();
    add("connector", &plan.connectors, &mut lines);
    add("engine", &plan.engines, &mut lines);
    add("env", &plan.envs, &mut lines);
    add("route", &plan.routes, &mut lines);
    add("runtime", &plan.runtimes, &mut lines);
    add("target", &plan.targets, &mut lines);
    lines.join("\n")
}

fn json(compiled: &Compiled) -> String {
    serde_json::to_string_pretty(&json::report(&compiled.findings, &compiled.sources, 1, 0)).unwrap()
}

fn search(dir: &Path) -> SearchPath {
    SearchPath { builtin: false, dirs: vec![dir.to_owned()], files: Vec::new() }
}
