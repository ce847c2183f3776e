//! What kinds of units say to the plan: conditions, targets, secrets, and what cannot change live.

use workagent::catalog::CATALOG;
use workagent::unit::plan::{Condition, TargetUnit};
use workagent::unit::schema::needs_restart;

use super::*;

fn conditions(text: &str) -> Vec<String> {
    let compiled = compile_texts(&[("a.env.toml", text)]);
    assert_eq!(short(&compiled, Path::new("/u/1")), "");
    let shown = |one: &Condition| {
        format!("{}{one} {}:{}", if one.assert { "assert " } else { "" }, one.place.line, one.place.column)
    };
    compiled.plan.conditions.values().flatten().map(shown).collect()
}

#[test]
fn conditions_take_one_value_or_a_list() {
    let text = "[condition]\npath_exists = [\"~/mail\", \"!/etc/100%%\"]\ncommand_exists = \"git\"\n\
                secret_exists = \"!old\"\nenv_set = \"DISPLAY\"\nos = [\"linux\"]\nhost = \"work-*\"\nnetwork = false\n\
                active = \"!inbox.connector\"\n[assert]\npath_exists = \"x\"\n";
    insta::assert_snapshot!(conditions(text).join("\n"), @r#""#);
    assert!(conditions("").is_empty());
    let again = compile_texts(&[("a.env.toml", text)]);
    let canonical = again.canonical.values().next().unwrap().to_string();
    let shown = |text: &str| -> Vec<String> {
        let bare = |line: String| line.rsplit_once(' ').unwrap().0.to_owned();
        conditions(text).into_iter().map(bare).collect()
    };
    assert_eq!(shown(&canonical), shown(text), "{canonical}");
}

#[test]
fn a_condition_that_cannot_be_read_is_an_error() {
    let text = "[condition]\npath_exists = 3\nos = [\"linux\", \"windows\"]\nnetwork = \"yes\"\nactive = \"inbox\"\nenv_set = \"!\"\n";
    let compiled = compile_texts(&[("a.env.toml", text)]);
    insta::assert_snapshot!(short(&compiled, Path::new("/u/1")), @r#""#);
    let daemon = compile_texts(&[("workagent.daemon.toml", "[condition]\nos = \"linux\"\n")]);
    insta::assert_snapshot!(short(&daemon, Path::new("/u/1")), @r#""#);
}

fn shipped_with(extra: &[(&str, &str)]) -> Compiled {
    let registry = CATALOG.registry();
    let path = SearchPath { builtin: true, dirs: Vec::new(), files: Vec::new() };
    let mut all = load(&path, registry.shipped);
    all.files.extend(loaded(extra).files);
    compile(&all, &registry, &env())
}

fn members(compiled: &Compiled, target: &str) -> String {
    match &compiled.plan.targets[target] {
        Standing::Active(unit) => {
            let TargetUnit { members, .. } = &**unit;
            members.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        }
        Standing::Off(off) => panic!("{off:?}"),
    }
}

#[test]
fn targets_have_what_they_want_and_who_says_so() {
    let chat = |url: &str| {
        format!("[engine]\nengine = \"openai-chat\"\nmodel = \"m\"\n[openai-chat]\nbase_url = \"{url}\"\n")
    };
    let compiled = shipped_with(&[
        ("here.engine.toml", &chat("http://127.0.0.1:11434/v1")),
        ("there.engine.toml", &chat("https://api.example/v1")),
        ("here.route.toml", "[route]\nengines = [\"here\"]\n"),
        ("both.route.toml", "[route]\nengines = [\"here\", \"there\"]\n"),
        (
            "news.connector.toml",
            "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://a/\"\n[install]\nenabled = true\n\
             wanted_by = [\"night\"]\n",
        ),
        ("night.target.toml", "[unit]\nwants = [\"both.route\"]\n"),
    ]);
    assert_eq!(human(&compiled, Path::new("/u/1")), "");
    assert_eq!(members(&compiled, "night"), "news.connector both.route");
    insta::assert_snapshot!(members(&compiled, "offline"), @r#""#);
    insta::assert_snapshot!(members(&compiled, "safe"), @r#""#);
    let outside: Vec<String> =
        compiled.plan.outside("offline").unwrap().keys().map(ToString::to_string).collect();
    insta::assert_snapshot!(outside.join("\n"), @r#""#);
    let outside = compiled.plan.outside("default").unwrap();
    assert!(outside.keys().all(|name| name.kind == Kind::Target), "{outside:?}");
}

#[test]
fn a_target_that_is_not_there_is_an_error() {
    let compiled = compile_texts(&[("a.env.toml", "[install]\nwanted_by = [\"night\"]\n")]);
    insta::assert_snapshot!(short(&compiled, Path::new("/u/1")), @r#""#);
}

fn edges(files: &[(&str, &str)]) -> String {
    let compiled = compile_texts(files);
    let line = |edge: &workagent::unit::plan::Edge| {
        format!("{} {} {} {}", edge.from, edge.kind.word(), edge.to, edge.place.line)
    };
    compiled.plan.edges.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn who_reads_a_secret_is_tied_to_its_unit() {
    let inbox = "[connector]\nplatform = \"imap\"\n[imap]\nhost = \"a.example\"\nuser = \"me\"\n\
                 password = { secret = \"mail/me\" }\n[install]\nenabled = true\n";
    let files = [
        ("inbox.connector.toml", inbox),
        ("keys.env.toml", "[set]\nA = { secret = \"other\" }\nB = { env = \"mail\" }\n"),
        ("mail.secret.toml", "[secret]\nentry = \"mail/me\"\n"),
        ("other.secret.toml", ""),
        (
            "mail.channel.toml",
            "[channel]\nchannel = \"connector\"\nconnector = \"inbox\"\n[install]\nenabled = true\n",
        ),
        ("keys.env.d/x.toml", "[unit]\non_failure = [\"inbox.connector\"]\n"),
    ];
    insta::assert_snapshot!(edges(&files), @r#""#);
    // It is read all the same when its unit is off.
    let mut off = files;
    off[2].1 = "[install]\nenabled = false\n[secret]\nentry = \"mail/me\"\n";
    let compiled = compile_texts(&off);
    assert!(matches!(compiled.plan.connectors["inbox"], Standing::Active(_)));
}

#[test]
fn keys_that_are_read_at_the_start_are_named() {
    for (kind, table, key, expected) in [
        (Kind::Daemon, "store", "path", true),
        (Kind::Daemon, "store", "synchronous", true),
        (Kind::Daemon, "log", "level", true),
        (Kind::Daemon, "daemon", "workers", false),
        (Kind::Connector, "connector", "hold", false),
        (Kind::Connector, "store", "path", false),
        (Kind::Daemon, "store", "nothing", false),
    ] {
        assert_eq!(needs_restart(kind, table, key), expected, "{table}.{key}");
    }
}

#[test]
fn a_hundred_findings_in_forty_files_are_sorted_and_the_same_each_time() {
    let texts: Vec<(String, String)> = (0..40)
        .map(|number| {
            // 37 and 40 have no common divisor, so the files come in another order than their names.
            let name = format!("unit-{:02}.engine.toml", number * 37 % 40);
            let mut text = "[engine]\nengine = \"template\"\nconcurrency = 0\ntimout = \"1m\"\n".to_owned();
            if number % 2 == 0 {
                text.push_str("[budgt]\ndaily_runs = 1\n");
            }
            (name, text)
        })
        .collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let compiled = compile_texts(&files);
    assert_eq!(compiled.findings.len(), 100);
    let key = |finding: &workagent::diag::Finding| {
        (compiled.sources.path(finding.span.source).to_owned(), finding.span.start)
    };
    assert!(compiled.findings.is_sorted_by_key(key));
    let reversed: Vec<(&str, &str)> = files.iter().rev().copied().collect();
    assert_eq!(json(&compiled), json(&compile_texts(&reversed)));
}

#[test]
fn a_cycle_of_three_shows_every_edge_with_its_place() {
    let compiled = compile_texts(&[
        ("a.env.toml", "[unit]\nafter = [\"b.env\"]\n"),
        ("b.env.toml", "[unit]\nrequires = [\"c.env\"]\n"),
        ("c.env.toml", "[unit]\nwants = [\"a.env\"]\n"),
    ]);
    insta::assert_snapshot!(human(&compiled, Path::new("/u/1")), @r#""#);
}
