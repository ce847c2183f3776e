//! The canonical form: what a unit means, written out so that compiling it again gives the same unit.

use proptest::prelude::*;
use workagent::catalog::CATALOG;
use workagent::unit::plan::{Off, OffState, Plan};
use workagent::unit::schema::TableSpec;
use workagent::unit::{as_files, kinds};

use super::*;

fn canonical(files: &[(&str, &str)], unit: &str) -> String {
    let compiled = compile_texts(files);
    let found = compiled.canonical.iter().find(|(name, _)| name.to_string() == unit);
    found.unwrap_or_else(|| panic!("{unit} is off: {}", short(&compiled, Path::new("/u/1")))).1.to_string()
}

#[test]
fn it_is_a_whole_file_with_every_value() {
    let files = [
        (
            "inbox.connector.toml",
            "# mine\n[install]\nenabled = true\n[imap]\nuser = \"me\" # me\nhost = \"mail.example.org\"\n\
             password = { secret = 'mail' }\n[connector]\nplatform = \"imap\"\n",
        ),
        ("inbox.connector.d/x.toml", "[unit]\nafter = [\"news.connector\"]\n[connector]\nhold = \"90s\"\n"),
        ("news.connector.toml", "[connector]\nplatform = \"feed\"\noutbound = \"reviewed\"\n"),
        ("news.connector.d/x.toml", "[feed]\nurl = \"https://a/\"\n[install]\nenabled = true\n"),
    ];
    insta::assert_snapshot!(canonical(&files, "inbox.connector"), @r#"
    [unit]
    after = ["news.connector"]

    [connector]
    platform = "imap"
    outbound = "reviewed"
    backlog = "new"
    hold = "1m30s"
    shadow = false
    stop_timeout = "30s"

    [auto]
    after = 0
    agreement = 95

    [schedule]
    every = "15m"
    at_start = true
    jitter = "0s"
    on_resume = "once"

    [restart]
    network_first = "5s"
    network_max = "15m"
    config_first = "1m"
    config_max = "1h"
    auth_every = "1h"
    bug_first = "10s"
    bug_max = "30m"
    bug_attempts = 10

    [imap]
    host = "mail.example.org"
    port = 993
    user = "me"
    password = { secret = "mail" }

    [install]
    enabled = true
    "#);
    insta::assert_snapshot!(canonical(&files, "news.connector"), @r#"
    [connector]
    platform = "feed"
    outbound = "never"
    backlog = "new"
    hold = "30s"
    shadow = false
    stop_timeout = "30s"

    [auto]
    after = 0
    agreement = 95

    [schedule]
    every = "15m"
    at_start = true
    jitter = "0s"
    on_resume = "once"

    [restart]
    network_first = "5s"
    network_max = "15m"
    config_first = "1m"
    config_max = "1h"
    auth_every = "1h"
    bug_first = "10s"
    bug_max = "30m"
    bug_attempts = 10

    [feed]
    url = "https://a/"

    [install]
    enabled = true
    "#);
}

#[test]
fn paths_are_absolute_and_stay_what_they_are() {
    let command = |program: &str| {
        let text = format!("[engine]\nengine = \"command\"\n[command]\nprogram = \"{program}\"\n");
        let text = canonical(&[("a.engine.toml", &text)], "a.engine");
        text.lines().find_map(|line| line.strip_prefix("program = ")).unwrap().to_owned()
    };
    assert_eq!(command("~/bin/100%%"), "\"/home/me/bin/100%%\"");
    assert_eq!(command("bin/x"), "\"/u/1/bin/x\"");
}

#[test]
fn texts_of_every_shape_are_kept() {
    let files = [(
        "a.env.toml",
        "[set]\nA = \"a\\nb\\t\\\"c\\\" \\\\ 'd'\"\nB = { env = \"B\" }\nC = \"\"\nD = '''\n\"\"\"\n'''\nE = \"\\u0001 ä\"\n",
    )];
    insta::assert_snapshot!(canonical(&files, "a.env"), @r#"
    [set]
    A = '''
    a
    b	"c" \ 'd''''
    B = { env = "B" }
    C = ""
    D = '''
    """
    '''
    E = "\u0001 ä"

    [install]
    enabled = true
    "#);
}

/// What a plan says of the units that are on, without where it is said.
fn meaning(plan: &Plan) -> String {
    fn on<T: std::fmt::Debug>(all: &BTreeMap<String, Standing<T>>) -> String {
        let on = all.iter().filter(|(_, standing)| matches!(standing, Standing::Active(_)));
        format!("{:#?}", on.collect::<Vec<_>>())
    }
    let mut edges: Vec<_> = plan.edges.iter().map(|edge| (&edge.from, &edge.to, edge.kind)).collect();
    edges.sort();
    let conditions: Vec<_> = plan
        .conditions
        .iter()
        .map(|(name, all)| {
            (name, all.iter().map(|one| (&one.test, one.negated, one.assert)).collect::<Vec<_>>())
        })
        .collect();
    let parts = [
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
    ];
    parts.join("\n")
}

fn all_off(plan: &Plan) -> BTreeMap<UnitName, Off> {
    plan.off().map(|(name, off)| (name, off.clone())).collect()
}

/// Compiles the canonical form of a compile, and checks that nothing of it has changed.
fn again(first: &Compiled) {
    let off: BTreeMap<UnitName, OffState> =
        all_off(&first.plan).into_iter().map(|(name, off)| (name, off.state)).collect();
    let files = as_files(&first.canonical, off.iter().map(|(name, state)| (name, *state)));
    let second = compile(&files, &CATALOG.registry(), &env());
    assert_eq!(first.canonical, second.canonical, "{}", human(&second, Path::new("/canonical")));
    assert_eq!(meaning(&first.plan), meaning(&second.plan));
    let on_alone = off.is_empty();
    assert!(!on_alone || first.plan.hash == second.plan.hash);
}

/// TOML for a value of this type; mostly one that the key takes.
fn value(spec: &KeySpec) -> BoxedStrategy<String> {
    let text = |strategy: &str| {
        let strategy = proptest::string::string_regex(strategy).unwrap();
        strategy.prop_map(|text| toml::Value::String(text).to_string()).boxed()
    };
    let words = |words: &'static [&'static str]| proptest::sample::select(words);
    match spec.value {
        ValueType::Text => text("(?s)[a-z%\"'\\\\\n\t é#=]{0,12}|\\PC{0,12}"),
        ValueType::Bool => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
        ValueType::Integer { min, max } => (min..=max).prop_map(|number| number.to_string()).boxed(),
        ValueType::Duration { min_s, max_s } => {
            (min_s..=max_s).prop_map(|span| format!("\"{span}s\"")).boxed()
        }
        ValueType::Size => prop_oneof!["\"[0-9]{1,3}[KMG]\"", "[1-9][0-9]{0,9}"].boxed(),
        ValueType::Path => text("(~/|/|)[a-z]{1,5}(%%|%h|%n|/[a-z é]{1,3}){0,3}"),
        ValueType::Url => text("https://[a-z]{1,5}\\.example/[a-z%?&]{0,5}"),
        ValueType::Host => text("[a-z]{1,5}\\.example"),
        ValueType::Choice(all) => words(all).prop_map(|word| format!("\"{word}\"")).boxed(),
        ValueType::Choices(all) => {
            proptest::collection::vec(words(all), 0..3).prop_map(|words| format!("{words:?}")).boxed()
        }
        ValueType::List => proptest::collection::vec(text("[a-z%* ]{0,8}"), 0..3)
            .prop_map(|items| format!("[{}]", items.join(", ")))
            .boxed(),
        ValueType::Units(kind) => match kind {
            "unit" => Just("[\"a.env\", \"gone.env\"]"),
            "env" => Just("[\"a\", \"a.env.env\"]"),
            "engine" => Just("[\"e\", \"off\"]"),
            _ => Just("[]"),
        }
        .prop_map(str::to_owned)
        .boxed(),
        ValueType::Unit(_) => Just("\"a\"".to_owned()).boxed(),
        ValueType::Secret => Just("{ secret = \"a/b\" }".to_owned()).boxed(),
        ValueType::Backlog => prop_oneof!["\"new\"", "\"all\"", "\"[1-9]d\""].boxed(),
        _ => Just(spec.default.unwrap_or("{}").to_owned()).boxed(),
    }
}

/// A file with some keys of these tables.
fn file(tables: Vec<TableSpec>, fixed: &'static [(&'static str, &'static str)]) -> BoxedStrategy<String> {
    let table = move |spec: TableSpec| {
        let keys: Vec<_> = spec
            .keys
            .iter()
            .map(|key| match fixed.iter().find(|(name, _)| *name == key.name) {
                Some((_, value)) => Just(Some(format!("{} = {value}\n", key.name))).boxed(),
                None => {
                    let line = value(key).prop_map(|value| format!("{} = {value}\n", key.name));
                    if key.required {
                        line.prop_map(Some).boxed()
                    } else {
                        proptest::option::of(line).boxed()
                    }
                }
            })
            .collect();
        let name = spec.name;
        keys.prop_map(move |lines| format!("[{name}]\n{}", lines.into_iter().flatten().collect::<String>()))
    };
    let tables: Vec<_> = tables.into_iter().map(table).collect();
    tables.prop_map(|tables| format!("{}[install]\nenabled = true\n", tables.concat())).boxed()
}

/// A unit file of each kind, of each platform and each engine.
fn files() -> BoxedStrategy<Vec<(String, String)>> {
    let registry = CATALOG.registry();
    let tables = |kind: Kind, own: Option<TableSpec>| {
        kinds::spec(kind).tables.iter().filter(|spec| !spec.free).copied().chain(own).collect::<Vec<_>>()
    };
    let mut all: Vec<BoxedStrategy<(String, String)>> = Vec::new();
    let mut add = |name: String, text: BoxedStrategy<String>| {
        all.push(text.prop_map(move |text| (name.clone(), text)).boxed());
    };
    for view in &registry.platforms {
        let fixed: &'static [_] = Box::leak(Box::new([("platform", &*format!("\"{}\"", view.name).leak())]));
        let own = TableSpec::new(view.name, view.keys, "");
        add(format!("{}.connector.toml", view.name), file(tables(Kind::Connector, Some(own)), fixed));
    }
    for view in &registry.engines {
        let fixed: &'static [_] =
            Box::leak(Box::new([("engine", &*format!("\"{}\"", view.name).leak()), ("model", "\"m\"")]));
        let own = TableSpec::new(view.name, view.keys, "");
        add(format!("{}.engine.toml", view.name), file(tables(Kind::Engine, Some(own)), fixed));
    }
    add("sync.runtime.toml".into(), file(tables(Kind::Runtime, None), &[("runtime", "\"sync\"")]));
    add("workagent.daemon.toml".into(), file(tables(Kind::Daemon, None), &[]));
    for kind in [Kind::Route, Kind::Env, Kind::Channel, Kind::Timer, Kind::Secret, Kind::Target] {
        add(format!("some.{}.toml", kind.word()), file(tables(kind, None), &[]));
    }
    let fixed = [
        ("a.env.toml", "[set]\nA = \"%h\"\n"),
        ("a.env.env.toml", ""),
        (
            "a.connector.toml",
            "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://a/\"\n[install]\nenabled = true\n",
        ),
        ("e.engine.toml", "[engine]\nengine = \"template\"\n[unit]\nwants = [\"off.engine\"]\n"),
        ("off.engine.toml", "[install]\nenabled = false\n"),
    ];
    all.prop_map(move |mut files| {
        files.extend(fixed.map(|(name, text)| (name.to_owned(), text.to_owned())));
        files
    })
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plan_to_canonical_to_plan_is_identity(files in files()) {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        again(&compile(&loaded(&files), &CATALOG.registry(), &env()));
    }
}

#[test]
fn the_units_in_the_binary_are_their_own_form() {
    let registry = CATALOG.registry();
    let path = SearchPath { builtin: true, dirs: Vec::new(), files: Vec::new() };
    again(&compile(&load(&path, registry.shipped), &registry, &env()));
}
