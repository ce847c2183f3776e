//! The shared cases of broken and dangling units, and twelve faults in one folder.

use workagent::unit::load;
use workagent::unit::plan::Standing;

use super::*;

#[test]
fn s01_an_unknown_key_is_named_with_its_path_and_the_nearest_one() {
    let dir = fixtures("s01");
    let compiled = compile_dir(&dir);
    insta::assert_snapshot!(human(&compiled, &dir), @r#"
    error[unknown-key]: unknown key `schedule.everyy`
     --> typo.connector.toml:8:1
      |
    8 | everyy = "5m"
      | ^^^^^^ not a key of `[schedule]`
      |
    help: did you mean `schedule.every`?
      |
    8 - everyy = "5m"
    8 + every = "5m"
      |

    error[unknown-key]: unknown key `connector.every`
     --> wrong-section.connector.toml:3:1
      |
    3 | every = "5m"        # real key, wrong table
      | ^^^^^ not a key of `[connector]`
      |
      = help: this key belongs into `[schedule]`

    error[unknown-table]: unknown table `[fead]`
     --> wrong-section.connector.toml:5:2
      |
    5 | [fead]              # whole table misspelt
      |  ^^^^ not a table of connector units
      |
    help: did you mean `[feed]`?
      |
    5 - [fead]              # whole table misspelt
    5 + [feed]              # whole table misspelt
      |
    "#);
    insta::assert_snapshot!(standings(&compiled), @r#"
    good.connector on
    typo.connector bad-setting: unknown key `schedule.everyy`
    wrong-section.connector bad-setting: unknown table `[fead]`
    "#);
}

#[test]
fn s02_a_placeholder_is_never_taken_as_a_value() {
    let dir = fixtures("s02");
    let compiled = compile_dir(&dir);
    insta::assert_snapshot!(human(&compiled, &dir), @r#"
    error[placeholder]: `openai-chat.api_key` names `${WA_CASE_S02_KEY}`, which nobody fills in
     --> local-api.engine.toml:7:11
      |
    7 | api_key = "${WA_CASE_S02_KEY}"
      |           ^^^^^^^^^^^^^^^^^^^^ taken as it stands
      |
      = note: units have no text interpolation
    help: take it from the daemon's environment
      |
    7 - api_key = "${WA_CASE_S02_KEY}"
    7 + api_key = { env = "WA_CASE_S02_KEY" }
      |
    "#);
    insta::assert_snapshot!(standings(&compiled), @r#"
    local-api.engine bad-setting: `openai-chat.api_key` names `${WA_CASE_S02_KEY}`, which nobody fills in
    other.engine on
    "#);
}

#[test]
fn s02_a_value_cannot_change_the_structure_of_a_unit() {
    let text = "[engine]\nengine = \"template\"\nmodel = \"a\\\"\\n[install]\\nenabled = false\"\n";
    let compiled = compile_texts(&[("a.engine.toml", text)]);
    let Some(Standing::Active(engine)) = compiled.plan.engines.get("a") else { panic!("{compiled:?}") };
    assert_eq!(engine.model, "a\"\n[install]\nenabled = false");
}

#[test]
fn s03_a_broken_unit_and_a_disabled_one_leave_the_rest_alone() {
    let dir = fixtures("s03");
    let compiled = compile_dir(&dir);
    insta::assert_snapshot!(short(&compiled, &dir), @r#"
    broken-mail.connector.toml:4:1: error[missing-key]: missing key `imap.host`
    disabled-chat.connector.toml: info[disabled-incomplete]: this unit is disabled; enabled, it would have 1 problem
    "#);
    insta::assert_snapshot!(standings(&compiled), @r#"
    broken-mail.connector bad-setting: missing key `imap.host`
    disabled-chat.connector disabled: [install] enabled = false
    ok-feed.connector on
    "#);
}

#[test]
fn s03_the_order_of_files_does_not_matter() {
    let mut files = load(&search(&fixtures("s03")), &[]);
    let first = compile(&files, &registry(), &env());
    files.files.reverse();
    let second = compile(&files, &registry(), &env());
    assert_eq!(standings(&first), standings(&second));
    assert_eq!(first.plan.hash, second.plan.hash);
}

#[test]
fn s04_what_editors_leave_is_listed_once_and_loads_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    let text = std::fs::read_to_string(fixtures("s04").join("mail.connector.toml")).unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(dir.join(name), text).unwrap();
    write("mail.connector.toml", text.as_bytes());
    let before = compile_dir(dir);
    write("mail.connector.toml~", text.replace("2m", "9m").as_bytes());
    write("#mail.connector.toml#", text.replace("2m", "7m").as_bytes());
    write("mail.connector.toml.bak", text.replace("enabled = true", "enabled = tru").as_bytes());
    write(".mail.connector.toml.swp", b"b0VIM\0\x10\xff\xfeswap-like\0\x01");
    write("4913", b"");
    std::os::unix::fs::symlink("user@host.1234", dir.join(".#mail.connector.toml")).unwrap();
    let compiled = compile_dir(dir);
    assert_eq!(before.plan.hash, compiled.plan.hash);
    insta::assert_snapshot!(standings(&compiled), @"mail.connector on");
    let text = human(&compiled, temp.path().parent().unwrap());
    let name = dir.file_name().unwrap().to_string_lossy();
    insta::assert_snapshot!(text.replace(&*name, "units"), @r#"
    info[ignored-file]: ignored 6 names that are no unit files
    --> units
     = note: `#mail.connector.toml#`: an editor's autosave
     = note: `.#mail.connector.toml`: hidden
     = note: `.mail.connector.toml.swp`: hidden
     = note: `4913`: does not end in .toml
     = note: `mail.connector.toml.bak`: a backup copy
     = note: `mail.connector.toml~`: a backup copy
    "#);
}

#[test]
fn s04_a_unit_that_cannot_be_read_is_reported_and_the_others_are_read() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    std::os::unix::fs::symlink("/nonexistent/target", dir.join("a.env.toml")).unwrap();
    std::fs::create_dir(dir.join("b.env.toml")).unwrap();
    std::fs::write(dir.join("c.env.toml"), b"[set]\nA = \"\xff\"\n").unwrap();
    std::fs::write(dir.join("d.evn.toml"), "").unwrap();
    std::fs::write(dir.join("e.toml"), "").unwrap();
    std::fs::write(dir.join("f g.env.toml"), "").unwrap();
    std::fs::write(dir.join("h.env.toml"), vec![b'#'; 300 * 1024]).unwrap();
    std::fs::write(dir.join("ok.env.toml"), "").unwrap();
    let compiled = compile_dir(dir);
    insta::assert_snapshot!(short(&compiled, dir), @r#"
    a.env.toml: error[unreadable]: a link to something that does not exist
    b.env.toml: error[unreadable]: a directory under the name of a unit file
    c.env.toml: error[unreadable]: not UTF-8 text in line 2
    d.evn.toml: warning[unknown-kind]: there is no kind of unit `evn`
    e.toml: warning[unknown-kind]: the file name does not say which kind of unit this is
    f g.env.toml: error[bad-name]: `f g.env.toml` is not a name for a unit
    h.env.toml: error[unreadable]: larger than 256 KB
    "#);
    insta::assert_snapshot!(standings(&compiled), @r#"
    a.env bad-setting: a link to something that does not exist
    b.env bad-setting: a directory under the name of a unit file
    c.env bad-setting: not UTF-8 text in line 2
    h.env bad-setting: larger than 256 KB
    ok.env on
    "#);
}

#[test]
fn s05_missing_names_disabled_targets_and_cycles_are_told_in_one_run() {
    let dir = fixtures("s05");
    let compiled = compile_dir(&dir);
    insta::assert_snapshot!(human(&compiled, &dir), @r#"
    error[dependency-cycle]: units wait for each other: a.connector -> b.connector -> a.connector
     --> a.connector.toml:2:10
      |
    2 | after = ["b.connector"]
      |          ^^^^^^^^^^^^^ `a.connector` starts after `b.connector`
      |
     ::: b.connector.toml:2:10
      |
    2 | after = ["a.connector"]
      |          ------------- `b.connector` starts after `a.connector`
      |
      = help: take one of these out

    error[dangling-reference]: there is no engine unit `clade`
     --> feeds.route.toml:2:12
      |
    2 | engines = ["clade"]
      |            ^^^^^^^ named by `route.engines`
      |
    help: did you mean `claude`?
      |
    2 | engines = ["claude"]
      |                +

    error[reference-to-disabled]: `local.engine` is disabled
     --> mail.route.toml:2:12
      |
    2 | engines = ["local"]
      |            ^^^^^^^ named by `route.engines`
      |
     ::: local.engine.toml:9:11
      |
    9 | enabled = false
      |           ----- disabled here
      |
      = help: enable `local.engine`, or take the name out
    "#);
    insta::assert_snapshot!(standings(&compiled), @r#"
    a.connector bad-setting: units wait for each other: a.connector -> b.connector -> a.connector
    b.connector bad-setting: units wait for each other: a.connector -> b.connector -> a.connector
    claude.engine on
    local.engine disabled: [install] enabled = false
    feeds.route dependency: there is no engine unit `clade`
    mail.route dependency: `local.engine` is disabled
    sound.route on
    "#);
}

#[test]
fn twelve_faults_are_twelve_findings_with_their_places() {
    let dir = fixtures("twelve");
    let compiled = compile_dir(&dir);
    insta::assert_snapshot!(short(&compiled, &dir), @r#"
    a-syntax.connector.toml:5:7: error[syntax-error]: a text must stand in quotes
    b-key.connector.toml:8:3: error[unknown-key]: unknown key `schedule.evry`
    c-table.route.toml:4:2: error[unknown-table]: unknown table `[metch]`
    d-missing.connector.toml:4:1: error[missing-key]: missing key `imap.user`
    e-type.engine.toml:3:15: error[wrong-type]: `engine.concurrency` takes a whole number from 1 to 64, not a text
    f-range.engine.toml:3:11: error[out-of-range]: `engine.timeout` is too large
    g-platform.connector.toml:2:12: error[unknown-platform]: there is no platform `imapp`
    h-secret.connector.toml:7:12: error[literal-secret]: `imap.password` holds a secret itself
    i-placeholder.engine.toml:7:11: error[placeholder]: `openai-chat.api_key` names `${OPENAI_KEY}`, which nobody fills in
    j-dangling.route.toml:4:5: error[dangling-reference]: there is no engine unit `templete`
    k-cycle.env.toml:2:10: error[dependency-cycle]: units wait for each other: k-cycle.env -> l-cycle.env -> k-cycle.env
    l-cycle.env.toml:5:16: error[literal-secret]: `set.GITHUB_TOKEN` holds what looks like a secret
    "#);
    let everything = format!("{}{}", human(&compiled, &dir), json(&compiled));
    assert!(!everything.to_lowercase().contains("canary"), "{everything}");
}
