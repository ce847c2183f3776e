//! What must hold for unit files whatever stands in them. The fuzzer calls this with texts it makes up, and
//! `tests/it/units/fuzzed.rs` with those it found something with.

use std::collections::BTreeMap;
use std::path::Path;

use workagent::catalog::CATALOG;
use workagent::diag::render::{Style, render};
use workagent::diag::{Span, json, short};
use workagent::unit::compile::{Compiler, LastGood};
use workagent::unit::load::{Role, Target, UnitFile};
use workagent::unit::plan::{Kind, OffState, Plan, Standing, UnitName};
use workagent::unit::{CompileEnv, Compiled, Loaded, as_files, compile, edit};

/// A line that begins with this begins a file: `%% inbox.connector.toml`, `%% 2:connector.d/x.toml` for one of level 2.
const HEAD: &str = "%% ";

/// Units in one input; more tell nothing new and take long.
const FILES_MAX: usize = 24;

/// Checks one input: some files, each behind its [`HEAD`]. What no loader would give is passed over.
pub fn check(input: &str) {
    let files = files(input);
    if files.is_empty() || files.len() > FILES_MAX {
        return;
    }
    let registry = CATALOG.registry();
    let all = Loaded { files, ..Loaded::default() };
    let first = compile(&all, &registry, &env());
    let told = told(&first);
    places(&first);

    let mut turned = all.clone();
    turned.files.reverse();
    let second = compile(&turned, &registry, &env());
    assert_eq!(told, self::told(&second), "the order of files counts");

    let mut fewer = all.clone();
    let last = fewer.files.pop();
    let mut compiler = Compiler::new(registry.clone());
    let before = compiler.compile(&fewer, &env(), &LastGood::new());
    let again = compiler.compile(&all, &env(), &LastGood::new());
    assert_eq!(told, self::told(&again), "what was compiled before counts");
    let kept = compiler.compile(&all, &env(), &before.canonical);
    places(&kept);
    self::told(&kept);

    let off: BTreeMap<UnitName, OffState> = first.plan.off().map(|(name, off)| (name, off.state)).collect();
    let files = as_files(&first.canonical, off.iter().map(|(name, state)| (name, *state)));
    let same = compile(&files, &registry, &env());
    assert_eq!(first.canonical, same.canonical, "{}", short::lines(&same.findings, &same.sources));
    assert_eq!(meaning(&first.plan), meaning(&same.plan));

    if let Some(file) = last
        && let Ok(text) = edit::set(&file.text, "enabled", true)
    {
        assert_eq!(edit::said(&text, "enabled"), edit::Said::Flag(true), "{text}");
    }
}

fn env() -> CompileEnv {
    CompileEnv {
        home: Some("/home/me".into()),
        state_dir: "/state".into(),
        host: Some("here".to_owned()),
        ..CompileEnv::default()
    }
}

/// The files of an input, as the loader would give them; of two with one place the first.
fn files(input: &str) -> Vec<UnitFile> {
    let mut files: Vec<UnitFile> = Vec::new();
    let marked = format!("\n{input}");
    let head = format!("\n{HEAD}");
    for part in marked.split(&head).skip(1) {
        let (head, text) = part.split_once('\n').unwrap_or((part, ""));
        let file = file(head, text);
        files.extend(file.filter(|file| files.iter().all(|other| other.path != file.path)));
    }
    files
}

fn file(head: &str, text: &str) -> Option<UnitFile> {
    let (level, place) = head.split_once(':').unwrap_or(("1", head));
    let level = level.parse().ok().filter(|level| (1..=3).contains(level))?;
    let role = match place.split_once(".d/") {
        Some((target, file)) => {
            let kind = Kind::from_word(target).map(Target::Kind);
            let target = kind.or_else(|| unit(target).map(Target::Unit))?;
            let file = file.strip_suffix(".toml").filter(|stem| is_plain(stem))?;
            Role::DropIn { target, file: format!("{file}.toml") }
        }
        None => Role::Main(unit(place.strip_suffix(".toml")?)?),
    };
    let dir = Path::new("/u").join(format!("{level}"));
    Some(UnitFile { level, path: dir.join(place), dir, role, text: text.into() })
}

fn unit(stem: &str) -> Option<UnitName> {
    let name = UnitName::parse(stem)?;
    let (prefix, instance) = name.name.split_once('@').unwrap_or((&name.name, ""));
    let fits = is_plain(prefix) && (instance.is_empty() || is_plain(instance)) && name.name.len() <= 128;
    fits.then_some(name)
}

fn is_plain(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphanumeric())
        && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// All that people and machines are told, in every form.
fn told(compiled: &Compiled) -> String {
    let Compiled { findings, sources, plan, .. } = compiled;
    let styles = [Style { colour: true, width: 80 }, Style { colour: false, width: 40 }];
    let mut told: Vec<String> = styles.map(|style| render(findings, sources, style)).into();
    told.push(short::lines(findings, sources));
    told.push(short::github(findings, sources));
    told.push(serde_json::to_string(&json::report(findings, sources, 1, 0)).unwrap());
    told.push(plan.hash.clone());
    told.push(format!("{:?}{:?}", compiled.references, compiled.canonical));
    told.join("\n")
}

/// Every place lies within its text, between characters.
fn places(compiled: &Compiled) {
    let within = |span: Span, of: &str| {
        let text = compiled.sources.text(span.source);
        assert!(text.get(span.range()).is_some(), "{of}: {span:?} in {text:?}");
        let (line, column) = compiled.sources.position(span);
        let lines = text.split('\n').count();
        assert!(line >= 1 && column >= 1 && line as usize <= lines, "{of}: {line}:{column} of {lines} lines");
    };
    for finding in &compiled.findings {
        within(finding.span, finding.check.code);
        finding.labels.iter().for_each(|label| within(label.span, finding.check.code));
        let patch = finding.suggestion.as_ref().and_then(|suggestion| suggestion.patch.as_ref());
        patch.into_iter().for_each(|patch| within(patch.span, finding.check.code));
    }
    for origin in compiled.origins.iter().flat_map(|(_, origins)| origins.to_vec()) {
        origin.span.iter().chain(&origin.shadows).for_each(|span| within(*span, &origin.key));
    }
}

/// What a plan says of the units that are on, without where it is said.
fn meaning(plan: &Plan) -> String {
    fn on<T: std::fmt::Debug>(all: &BTreeMap<String, Standing<T>>) -> String {
        let on = all.iter().filter(|(_, standing)| matches!(standing, Standing::Active(_)));
        format!("{:?}\n", on.collect::<Vec<_>>())
    }
    let edges: Vec<_> = plan.edges.iter().map(|edge| (&edge.from, &edge.to, edge.kind)).collect();
    let edges: std::collections::BTreeSet<_> = edges.into_iter().map(|edge| format!("{edge:?}")).collect();
    let conditions = plan.conditions.iter().map(|(name, all)| {
        (name, all.iter().map(|one| (&one.test, one.negated, one.assert)).collect::<Vec<_>>())
    });
    let conditions: Vec<_> = conditions.collect();
    [
        on(&plan.connectors),
        on(&plan.engines),
        on(&plan.envs),
        on(&plan.routes),
        on(&plan.runtimes),
        on(&plan.channels),
        on(&plan.timers),
        on(&plan.secrets),
        on(&plan.targets),
        format!("{:?}\n{conditions:?}\n{edges:?}", plan.daemon),
    ]
    .concat()
}
