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
    insta::assert_snapshot!(conditions(text).join("\n"), @r#"
    path_exists = "/home/me/mail" 2:16
    path_exists = "!/etc/100%" 2:26
    command_exists = "git" 3:18
    secret_exists = "!old" 4:17
    env_set = "DISPLAY" 5:11
    os = "linux" 6:7
    host = "work-*" 7:8
    network = false 8:11
    active = "!inbox.connector" 9:10
    assert path_exists = "/u/1/x" 11:15
    "#);
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
    insta::assert_snapshot!(short(&compiled, Path::new("/u/1")), @r#"
    a.env.toml:2:15: error[wrong-type]: `condition.path_exists` takes a path such as `"~/mail"`, or a list of them, not a whole number
    a.env.toml:3:16: error[bad-value]: `condition.os` cannot be `windows`
    a.env.toml:4:11: error[wrong-type]: `condition.network` takes `true` or `false`, not a text
    a.env.toml:5:10: error[bad-value]: `condition.active` takes full names of units, with the kind: `inbox.connector`
    a.env.toml:6:11: error[bad-value]: `condition.env_set` is empty
    "#);
    let daemon = compile_texts(&[("workagent.daemon.toml", "[condition]\nos = \"linux\"\n")]);
    insta::assert_snapshot!(short(&daemon, Path::new("/u/1")), @r#"workagent.daemon.toml:1:2: error[unknown-table]: unknown table `[condition]`"#);
}

fn shipped_with(extra: &[(&str, &str)]) -> Compiled {
    let registry = CATALOG.registry();
    let path = SearchPath { builtin: true, dirs: Vec::new(), files: Vec::new() };
    let mut all = load(&path, registry.shipped);
    all.files.extend(loaded(extra).files);
    compile(&all, &registry, &env())
}

fn members(compiled: &Compiled, target: &str) -> String {
    match compiled.plan.targets.get(target).unwrap() {
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
        ("here.route.toml", "[route]\nengines = [\"here\"]\npriority = 1\n[match]\nlabels = [\"a\"]\n"),
        ("both.route.toml", "[route]\nengines = [\"here\", \"there\"]\n"),
        (
            "news.connector.toml",
            "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://a/\"\n[install]\nenabled = true\n\
             wanted_by = [\"night\"]\n",
        ),
        ("night.target.toml", "[unit]\nwants = [\"both.route\"]\n"),
    ]);
    assert_eq!(human(&compiled, Path::new("/u/1")), "");
    assert_eq!(members(&compiled, "night"), "both.route news.connector");
    assert_eq!(
        members(&compiled, "offline"),
        "here.engine here.route ingest.runtime onboarding.runtime pending.runtime review.runtime rotation.runtime \
         scheduler.runtime \
         template.engine worker.runtime"
    );
    assert_eq!(members(&compiled, "safe"), "pending.runtime review.runtime");
    let outside: Vec<String> =
        compiled.plan.outside("offline").unwrap().keys().map(ToString::to_string).collect();
    assert_eq!(
        outside.join(" "),
        "both.route default.target news.connector night.target outbound.runtime safe.target sync.runtime there.engine"
    );
    let outside = compiled.plan.outside("default").unwrap();
    assert!(outside.keys().all(|name| name.kind == Kind::Target), "{outside:?}");
}

#[test]
fn a_target_that_is_not_there_is_an_error() {
    let compiled = compile_texts(&[("a.env.toml", "[install]\nwanted_by = [\"night\"]\n")]);
    insta::assert_snapshot!(short(&compiled, Path::new("/u/1")), @r#"a.env.toml:2:14: error[dangling-reference]: there is no target unit `night`"#);
}

fn edges(files: &[(&str, &str)]) -> String {
    let compiled = compile_texts(files);
    let line = |edge: &workagent::unit::plan::Edge| {
        format!("{} {} {} {}", edge.from, edge.kind.word(), edge.to, edge.place.line)
    };
    compiled.plan.edges.iter().map(|edge| line(edge)).collect::<Vec<_>>().join("\n")
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
            "[channel]\nchannel = \"command\"\n[unit]\nafter = [\"inbox.connector\"]\n[install]\nenabled = true\n",
        ),
        ("keys.env.d/x.toml", "[unit]\non_failure = [\"inbox.connector\"]\n"),
    ];
    insta::assert_snapshot!(edges(&files), @r#"
    inbox.connector wants mail.secret 6
    keys.env on_failure inbox.connector 2
    keys.env wants other.secret 1
    mail.channel after inbox.connector 4
    "#);
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
        (Kind::Daemon, "log", "level", false),
        (Kind::Daemon, "log", "file", true),
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
    insta::assert_snapshot!(human(&compiled, Path::new("/u/1")), @r#"
    error[dependency-cycle]: units wait for each other: a.env -> b.env -> c.env -> a.env
     --> a.env.toml:2:10
      |
    2 | after = ["b.env"]
      |          ^^^^^^^ `a.env` starts after `b.env`
      |
     ::: b.env.toml:2:13
      |
    2 | requires = ["c.env"]
      |             ------- `b.env` requires `c.env`
      |
     ::: c.env.toml:2:10
      |
    2 | wants = ["a.env"]
      |          ------- `c.env` wants `a.env`
      |
      = help: take one of these out
    "#);
}

/// Findings of an engine unit by the real catalog.
fn engine_findings(text: &str) -> String {
    let compiled = compile(&loaded(&[("a.engine.toml", text)]), &CATALOG.registry(), &env());
    short(&compiled, Path::new("/u/1"))
}

#[test]
fn money_is_written_in_dollars() {
    let check = |money: &str, expected: &str| {
        let text = format!("[engine]\nengine = \"template\"\n[template]\ntext = \"x\"\n{money}\n");
        let found = engine_findings(&text);
        assert_eq!(
            found
                .lines()
                .map(|line| line.split_once("error").map_or(line, |(_, rest)| rest))
                .collect::<Vec<_>>()
                .join("|"),
            expected
        );
    };
    for amount in ["5", "0.5", "\"0.50\"", "1_000", "\"0.000001\""] {
        check(&format!("[budget]\ndaily_usd = {amount}"), "");
    }
    let wrong = "[bad-value]: `budget.daily_usd`: not an amount in US dollars; write `\"0.50\"` or `5`, with at most six digits behind the point";
    for amount in ["-1", "\"5 USD\"", "0.0000001", "inf", "2_000_000"] {
        check(&format!("[budget]\ndaily_usd = {amount}"), wrong);
    }
    check("[price]\ninput = 1", "[bad-value]: `price.input` needs `output` beside it");
    check("[price]\ncache_read = 1", "[bad-value]: `price.cache_read` needs `input` and `output` beside it");
    let date = "[bad-value]: `price.valid_to` is not a date such as `\"2026-11-30\"`";
    check("[price]\ninput = 1\noutput = 2\nvalid_to = \"soon\"", date);
}

#[test]
fn a_search_path_is_a_list_of_absolute_directories() {
    let check = |path: &str, expected: &str| {
        let found = engine_findings(&format!(
            "[engine]\nengine = \"template\"\npath = {path}\n[template]\ntext = \"x\"\n"
        ));
        let told = found.split_once("[bad-value]: `engine.path`: ").map_or(found.as_str(), |(_, rest)| rest);
        assert_eq!(told.trim(), expected);
    };
    check("[\"/opt/bin\", \"%h/bin\"]", "");
    check(
        "[\"/opt/bin:/usr/bin\"]",
        "`/opt/bin:/usr/bin` holds several directories; write each as one of the list",
    );
    check("[\"bin\"]", "`bin` is no absolute path; `%h` stands for your home directory");
}

#[test]
fn caps_over_unknown_prices_and_open_connections_are_told() {
    let chat = |url: &str, more: &str| {
        engine_findings(&format!(
            "[engine]\nengine = \"openai-chat\"\nmodel = \"m\"\n[openai-chat]\nbase_url = \"{url}\"\n{more}"
        ))
    };
    assert_eq!(chat("http://127.0.0.1:11434", "[budget]\ndaily_usd = 1\n"), "", "what is local is free");
    assert_eq!(
        chat("http://192.168.1.20:11434", "").trim(),
        "a.engine.toml:5:12: warning[plain-http]: `openai-chat.base_url` is plain http to another machine"
    );
    let unknown = chat("https://api.example.org", "[budget]\nmonthly_usd = 1\n");
    assert!(
        unknown.contains("warning[unkept-budget]") && unknown.contains("its price is not known"),
        "{unknown}"
    );
    let unbounded =
        chat("https://api.example.org", "[budget]\nmonthly_usd = 1\n[price]\ninput = 1\noutput = 2\n");
    assert!(unbounded.contains("how much a run may write is not bounded"), "{unbounded}");
    for enough in ["max_tokens = 100\n[price]\ninput = 1\noutput = 2\n", "[price]\nplan = true\n"] {
        assert_eq!(
            chat("https://api.example.org", &format!("{enough}[budget]\nmonthly_usd = 1\n")),
            "",
            "{enough}"
        );
    }
}
