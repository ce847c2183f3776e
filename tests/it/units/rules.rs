//! Every rule: its own example has it, the mended one does not; and what the examples cannot show.

use workagent::diag::Severity;
use workagent::unit::CHECKS;

use super::*;

/// What an example may refer to.
const AROUND: [(&str, &str); 2] = [
    ("template.engine.toml", "[engine]\nengine = \"template\"\n"),
    (
        "inbox.connector.toml",
        "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://example.org/a.xml\"\n[install]\nenabled = true\n",
    ),
];

fn codes(file: &str, text: &str) -> Vec<&'static str> {
    let mut files = AROUND.to_vec();
    files.push((file, text));
    compile_texts(&files).findings.iter().map(|finding| finding.check.code).collect()
}

#[test]
fn each_rule_is_told_in_full_and_its_example_has_it() {
    for check in CHECKS {
        assert!(!check.summary.is_empty() && check.why.len() > 20, "{}", check.code);
        let Some(example) = check.example else { continue };
        let before = codes(example.file, example.before);
        assert!(before.contains(&check.code), "{}: {before:?}", check.code);
        assert!(before.iter().all(|code| *code == check.code), "{}: {before:?}", check.code);
        let after = codes(example.file, example.after);
        assert!(after.is_empty(), "{}: {after:?}", check.code);
    }
}

#[test]
fn rules_stand_in_order_and_each_once() {
    let codes: Vec<_> = CHECKS.iter().map(|check| check.code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(codes, sorted);
    assert_eq!(workagent::unit::explain("unknown-key").map(|check| check.severity), Some(Severity::Error));
}

/// The findings of some files, and the states of their units.
fn check(files: &[(&str, &str)], expected: &str) {
    let compiled = compile_texts(files);
    let found = short(&compiled, Path::new("/u/1"));
    let shown = format!("{found}{}", standings(&compiled));
    assert_eq!(shown.trim(), expected.trim(), "\n{shown}");
}

const TEMPLATE: (&str, &str) = ("t.engine.toml", "[engine]\nengine = \"template\"\n");
const CLOUD: (&str, &str) = (
    "cloud.engine.toml",
    "[engine]\nengine = \"openai-chat\"\n[openai-chat]\nbase_url = \"https://api.example.org/v1\"\nmodel = \"m\"\n",
);

#[test]
fn a_private_route_refuses_an_engine_that_sends_text_away() {
    check(
        &[TEMPLATE, CLOUD, ("r.route.toml", "[route]\nprivate = true\nengines = [\"t\", \"cloud\"]\n")],
        "r.route.toml:3:17: error[private-route-cloud-engine]: `cloud.engine` sends text to another machine
cloud.engine on
t.engine on
r.route bad-setting: `cloud.engine` sends text to another machine",
    );
}

#[test]
fn a_subscription_that_is_given_an_api_key_is_told_that_it_never_gets_it() {
    let check = |auth: &str, env: &str, expected: &str| {
        let engine = "[engine]\nengine = \"claude\"\nenv = [\"work\"]\n[claude]\nprogram = \"/opt/claude\"\n";
        let engine = format!("{engine}auth = \"{auth}\"\n");
        let files = loaded(&[("c.engine.toml", &engine), ("work.env.toml", env)]);
        let compiled = compile(&files, &workagent::catalog::CATALOG.registry(), &super::env());
        assert_eq!(short(&compiled, Path::new("/u/1")).trim(), expected);
    };
    let told = |name: &str| {
        format!(
            "c.engine.toml:6:8: warning[subscription-with-api-key]: `{name}` of `work.env` is taken away from this engine"
        )
    };
    let set = "[set]\nANTHROPIC_API_KEY = { secret = \"ai/key\" }\n";
    check("subscription", set, &told("ANTHROPIC_API_KEY"));
    let pass = "[pass]\nnames = [\"HTTP_PROXY\", \"ANTHROPIC_AUTH_TOKEN\"]\n";
    check("subscription", pass, &told("ANTHROPIC_AUTH_TOKEN"));
    check("api-key", set, "");
}

#[test]
fn a_route_behind_one_that_takes_all_is_told() {
    check(
        &[
            TEMPLATE,
            ("a.route.toml", "[route]\nengines = [\"t\"]\n"),
            ("b.route.toml", "[route]\nengines = [\"t\"]\n[match]\nkind = [\"mail\"]\n"),
            ("c.route.toml", "[route]\npriority = 1\nengines = [\"t\"]\n[match]\nkind = [\"mail\"]\n"),
        ],
        "b.route.toml:3:1: warning[shadowed-route]: this route never gets a case: `c.route` takes them all
t.engine on
a.route on
b.route on
c.route on",
    );
}

#[test]
fn a_disabled_engine_is_told_and_stays_in_the_route() {
    let off = ("off.engine.toml", "[engine]\nengine = \"template\"\n[install]\nenabled = false\n");
    let files = [TEMPLATE, off, ("r.route.toml", "[route]\nengines = [\"off\", \"t\"]\n")];
    check(
        &files,
        "r.route.toml:2:12: warning[reference-to-disabled]: `off.engine` is disabled
off.engine disabled: [install] enabled = false
t.engine on
r.route on",
    );
    let compiled = compile_texts(&files);
    insta::assert_snapshot!(compiled.findings[0].notes[0], @"cases that come to it wait: another engine is taken only where `route.on` names `config`");
    let falls_back = ("r.route.toml", "[route]\nengines = [\"off\", \"t\"]\non = [\"config\"]\n");
    let next = compile_texts(&[TEMPLATE, off, falls_back]);
    insta::assert_snapshot!(next.findings[0].notes[0], @"the next engine is used, because `route.on` names `config`");
    let Some(Standing::Active(route)) = compiled.plan.routes.get("r") else { panic!("{compiled:?}") };
    // The router must see that the first choice is off: another one takes its place only where the route says so.
    assert_eq!(route.engines, ["off", "t"]);
}

#[test]
fn what_needs_a_broken_unit_is_off_without_a_finding_of_its_own() {
    check(
        &[
            ("e.env.toml", "[unsett]\nnames = []\n"),
            ("t.engine.toml", "[engine]\nengine = \"template\"\nenv = [\"e\"]\n"),
            ("r.route.toml", "[route]\nengines = [\"t\"]\n"),
            ("w.env.toml", "[unit]\nwants = [\"e.env\"]\n"),
        ],
        "e.env.toml:1:2: error[unknown-table]: unknown table `[unsett]`
t.engine dependency: needs `e.env`, which is off (bad-setting)
e.env bad-setting: unknown table `[unsett]`
w.env on
r.route dependency: needs `t.engine`, which is off (dependency)",
    );
}

#[test]
fn wants_takes_a_disabled_unit_and_requires_does_not() {
    check(
        &[
            ("off.env.toml", "[install]\nenabled = false\n"),
            ("a.env.toml", "[unit]\nwants = [\"off.env\"]\n"),
            ("b.env.toml", "[unit]\nrequires = [\"off.env\"]\n"),
        ],
        "b.env.toml:2:13: error[reference-to-disabled]: `off.env` is disabled
a.env on
b.env dependency: `off.env` is disabled
off.env disabled: [install] enabled = false",
    );
}

#[test]
fn units_that_exclude_each_other_cannot_both_be_on() {
    check(
        &[("a.env.toml", "[unit]\nconflicts = [\"b.env\"]\n"), ("b.env.toml", "")],
        "a.env.toml:2:14: error[conflicting-units]: `b.env` is enabled too
a.env bad-setting: `b.env` is enabled too
b.env on",
    );
    check(
        &[
            ("a.runtime.toml", "[runtime]\nruntime = \"worker\"\n"),
            ("b.runtime.toml", "[runtime]\nruntime = \"worker\"\n"),
        ],
        "b.runtime.toml:2:11: error[conflicting-units]: the runtime `worker` already has the unit `a.runtime`
worker.runtime on",
    );
}

#[test]
fn schedules_that_never_run_are_told() {
    let timer = |schedule: &str| format!("[timer]\ntitle = \"T\"\n[schedule]\n{schedule}\n");
    let told = |schedule: &str| {
        let text = timer(schedule);
        let compiled = compile_texts(&[("t.timer.toml", &text)]);
        compiled.findings.iter().map(|finding| format!("{}\n", finding.title)).collect::<String>()
    };
    assert_eq!(told("calendar = \"2031-02-29\""), "no year has this date\n");
    assert_eq!(
        told("calendar = [\"Mon 09:00\", \"*-*-* 24:00\"]"),
        "`schedule.calendar`: there is no hour 24; it goes from 0 to 23\n"
    );
    assert_eq!(told("jitter = \"5m\""), "the timer has neither `schedule.every` nor `schedule.calendar`\n");
    assert_eq!(
        told("every = \"1d\"\nquiet = [\"00:00-18:00\", \"17:00-24:00\"]"),
        "the quiet hours leave no time to run\n"
    );
    let shut = "every = \"1d\"\nactive = \"Sat,Sun\"\nquiet = \"Fri..Sun\"";
    assert_eq!(told(shut), "the quiet hours leave no time to run\n");
    assert_eq!(
        told("every = \"1d\"\nactive = \"Mon 8-9\""),
        "`schedule.active`: `8` is no time of day; write `08:00`\n"
    );
    assert_eq!(told("every = \"10s\""), "`schedule.every` is too small\n");
    for fine in ["every = \"1d\"\ncalendar = \"Mon 09:00\"", "at_start = true", "calendar = \"2020-01-01\""] {
        assert_eq!(told(fine), "", "{fine}");
    }
}

#[test]
fn a_timer_says_only_what_it_knows_and_has_a_name_of_its_own() {
    let text = "[timer]\ntitle = \"{{ weak }}\"\n[schedule]\nevery = \"1d\"\n";
    let finding = compile_texts(&[("t.timer.toml", text)]).findings.remove(0);
    assert_eq!(finding.title, "`timer.title` knows no `{{ weak }}`");
    let [feed, timer] =
        [AROUND[1], ("inbox.timer.toml", "[timer]\ntitle = \"T\"\n[schedule]\nevery = \"1d\"\n")];
    check(
        &[feed, timer],
        "inbox.timer.toml: error[conflicting-units]: the unit `inbox.connector` has this name too
inbox.connector on",
    );
    let plan = compile_texts(&[feed, timer]).plan;
    assert!(matches!(plan.timers.get("inbox"), Some(Standing::Off(_))));
}

#[test]
fn a_route_may_ask_for_a_timer() {
    let timer = ("weekly.timer.toml", "[timer]\ntitle = \"T\"\n[schedule]\nevery = \"1d\"\n");
    let route = ("r.route.toml", "[route]\nengines = [\"t\"]\n[match]\nconnector = [\"weekly\"]\n");
    check(&[TEMPLATE, timer, route], "t.engine on\nr.route on");
}

#[test]
fn a_cycle_over_three_kinds_of_edges_names_them_all() {
    let files = [
        ("a.env.toml", "[unit]\nrequires = [\"b.env\"]\n"),
        ("b.env.toml", "[unit]\nwants = [\"c.env\"]\n"),
        ("c.env.toml", ""),
        ("d.env.toml", "[unit]\nbefore = [\"c.env\"]\nafter = [\"a.env\"]\n"),
        ("e.env.toml", "[unit]\nafter = [\"a.env\"]\n"),
    ];
    check(
        &files,
        "a.env.toml:2:13: error[dependency-cycle]: units wait for each other: a.env -> b.env -> c.env -> d.env -> a.env
a.env bad-setting: units wait for each other: a.env -> b.env -> c.env -> d.env -> a.env
b.env bad-setting: units wait for each other: a.env -> b.env -> c.env -> d.env -> a.env
c.env bad-setting: units wait for each other: a.env -> b.env -> c.env -> d.env -> a.env
d.env bad-setting: units wait for each other: a.env -> b.env -> c.env -> d.env -> a.env
e.env on",
    );
    let finding = &compile_texts(&files).findings[0];
    let steps: Vec<&str> = finding.labels.iter().map(|label| label.text.as_str()).collect();
    assert_eq!(finding.label, "`a.env` requires `b.env`");
    assert_eq!(
        steps,
        [
            "`b.env` wants `c.env`",
            "`c.env` starts after `d.env`: `before` is said there",
            "`d.env` starts after `a.env`"
        ]
    );
}

#[test]
fn a_chain_of_ten_thousand_units_neither_overflows_nor_lingers() {
    let texts: Vec<(String, String)> = (0..10_000)
        .map(|n| (format!("e{n}.env.toml"), format!("[unit]\nafter = [\"e{}.env\"]\n", (n + 1) % 10_000)))
        .collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let compiled = compile_texts(&files);
    assert_eq!(compiled.findings.len(), 1);
    assert!(compiled.findings[0].title.contains("more"), "{}", compiled.findings[0].title);
}

#[test]
fn a_table_of_another_platform_is_told_as_such() {
    let text = "[connector]\nplatform = \"imap\"\n[imap]\nhost = \"a\"\nuser = \"b\"\npassword = { env = \"P\" }\n[feed]\nurl = \"https://a\"\n[install]\nenabled = true\n";
    let compiled = compile_texts(&[("a.connector.toml", text)]);
    assert_eq!(
        compiled.findings[0].notes,
        ["`[feed]` belongs to `platform = \"feed\"`, but this unit says `platform = \"imap\"`"]
    );
}

#[test]
fn many_findings_of_one_file_are_cut_and_counted() {
    let keys: String = (0..50).map(|n| format!("zzz{n} = 1\n")).collect();
    let compiled = compile_texts(&[("a.env.toml", &format!("[pass]\n{keys}"))]);
    assert_eq!((compiled.findings.len(), compiled.cut[0].1), (20, 30));
}

#[test]
fn the_daemon_has_one_name_and_says_when_it_is_broken() {
    check(
        &[("other.daemon.toml", "")],
        "other.daemon.toml: error[bad-name]: there is one daemon unit, and it is named `workagent.daemon.toml`",
    );
    let compiled = compile_texts(&[("workagent.daemon.toml", "[daemon]\nworkers = 0\n")]);
    assert_eq!(compiled.daemon_off.map(|off| off.reason).as_deref(), Some("`daemon.workers` is too small"));
    let compiled =
        compile_texts(&[("workagent.daemon.toml", "[daemon]\nworkers = 9\nmode = \"rehearsal\"\n")]);
    assert_eq!(
        (compiled.daemon_off, compiled.plan.daemon.workers, compiled.plan.daemon.rehearsal),
        (None, 9, true)
    );
}

#[test]
fn broken_lines_are_told_once_and_the_rest_is_still_checked() {
    let text =
        "[connector]\nplatform = feed\noutbond = \"never\"\n[feed\nurl = \"x\n[install]\nenabled = true\n";
    check(
        &[("a.connector.toml", text)],
        "a.connector.toml:2:12: error[syntax-error]: a text must stand in quotes
a.connector.toml:3:1: error[unknown-key]: unknown key `connector.outbond`
a.connector.toml:4:6: error[syntax-error]: a table header that is not closed
a.connector bad-setting: unknown key `connector.outbond`",
    );
}

#[test]
fn common_slips_of_syntax_have_words_of_ours() {
    for (line, expected) in [
        ("a = feed", "a text must stand in quotes"),
        ("a = 5m", "a text must stand in quotes"),
        ("a = Yes", "not a value"),
        ("a =", "a key without a value"),
        ("a", "a key without a value"),
        ("a: 1", "a `:` in place of `=`"),
        ("a == 1", "one `=` too many"),
        ("a = \"x\" y", "more on the line than one value"),
        ("a = \"x", "a text that is not closed"),
        ("a = 'x", "a text that is not closed"),
        ("a = \"\"\"x", "a text that is not closed"),
        ("a = \"C:\\q\"", "a wrong escape in a text"),
        ("a = [1, 2", "a list that is not closed"),
        ("a = { x = 1", "a `{` that is not closed"),
        ("[a", "a table header that is not closed"),
        ("[]", "a key or table without a name"),
        ("ä = 1", "a key with a character that needs quotes"),
        ("a = 012", "a number with a leading zero"),
        ("a.b = 1\na = 2", "`a` stands twice"),
    ] {
        let compiled = compile_texts(&[("a.env.toml", line)]);
        let syntax = ["syntax-error", "duplicate-key"];
        let mut titles = compiled.findings.iter().filter(|finding| syntax.contains(&finding.check.code));
        assert_eq!(titles.next().map(|finding| finding.title.as_str()), Some(expected), "{line}");
        assert_eq!(titles.count(), 0, "{line}");
    }
}

#[test]
fn what_is_required_may_not_be_empty() {
    check(
        &[("r.route.toml", "[route]\nengines = []\n")],
        "r.route.toml:2:11: error[bad-value]: `route.engines` is empty
r.route bad-setting: `route.engines` is empty",
    );
}

#[test]
fn a_missing_table_is_told_where_it_became_necessary() {
    check(
        &[("a.connector.toml", "[connector]\nplatform = \"feed\"\n[install]\nenabled = true\n")],
        "a.connector.toml:2:12: error[missing-key]: missing key `feed.url`
a.connector bad-setting: missing key `feed.url`",
    );
}

#[test]
fn on_failure_names_what_can_be_kicked_where_something_fails() {
    let feed = |unit: &str| {
        format!(
            "[unit]\non_failure = {unit}\n[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://example.org/a\"\n\
             [install]\nenabled = true\n"
        )
    };
    check(
        &[
            TEMPLATE,
            ("a.connector.toml", &feed("[\"a.connector\", \"t.engine\", \"b.connector\", \"tell.timer\"]")),
            ("b.connector.toml", &feed("[\"mine.runtime\", \"sync.runtime\"]")),
            (
                "mine.runtime.toml",
                "[runtime]\nruntime = \"pending\"\n[unit]\non_failure = [\"a.connector\"]\n",
            ),
            ("sync.runtime.toml", "[runtime]\nruntime = \"sync\"\n"),
            ("tell.timer.toml", "[timer]\ntitle = \"a is down\"\n[unit]\non_failure = [\"b.connector\"]\n"),
            ("idle.timer.toml", "[timer]\ntitle = \"never\"\n"),
        ],
        "
a.connector.toml:2:15: warning[never-kicked]: a unit is not kicked by its own failure
a.connector.toml:2:30: warning[never-kicked]: `t.engine` has nothing that a kick could run
b.connector.toml:2:31: warning[never-kicked]: `sync.runtime` has nothing that a kick could run
idle.timer.toml:1:1: error[never-runs]: the timer has neither `schedule.every` nor `schedule.calendar`
tell.timer.toml:4:15: warning[never-kicked]: `tell.timer` never fails by itself
a.connector on
b.connector on
t.engine on
pending.runtime on
sync.runtime on
",
    );
}

#[test]
fn first_waits_are_not_longer_than_the_longest() {
    let feed = |restart: &str| {
        format!(
            "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://example.org/a\"\n[restart]\n{restart}\
             [install]\nenabled = true\n"
        )
    };
    check(
        &[
            ("a.connector.toml", &feed("network_first = \"20m\"\n")),
            ("b.connector.toml", &feed("config_max = \"30s\"\n")),
            ("c.connector.toml", &feed("bug_first = \"40m\"\nbug_max = \"40m\"\nauth_every = \"10s\"\n")),
        ],
        "
a.connector.toml:6:17: error[bad-value]: `restart.network_first` is longer than `network_max`, which is 15m
b.connector.toml:6:14: error[bad-value]: `restart.config_max` is shorter than `config_first`, which is 1m
c.connector.toml:8:14: error[out-of-range]: `restart.auth_every` is too small
a.connector bad-setting: `restart.network_first` is longer than `network_max`, which is 15m
b.connector bad-setting: `restart.config_max` is shorter than `config_first`, which is 1m
c.connector bad-setting: `restart.auth_every` is too small
",
    );
}
