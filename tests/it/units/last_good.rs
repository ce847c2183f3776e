//! Units that are broken now and run by their last good version.

use workagent::unit::compile::{Compiler, LastGood};
use workagent::unit::load::{Notice, Trouble};

use super::*;

const GOOD: [(&str, &str); 5] = [
    (
        "inbox.connector.toml",
        "[connector]\nplatform = \"imap\"\n[imap]\nhost = \"a.example\"\nuser = \"me\"\npassword = { secret = \"m\" }\n\
         [install]\nenabled = true\n",
    ),
    ("keys.env.toml", "[set]\nA = \"1\"\n"),
    ("t.engine.toml", "[engine]\nengine = \"template\"\nenv = [\"keys\"]\n"),
    ("mail.route.toml", "[route]\nengines = [\"t\"]\n"),
    ("workagent.daemon.toml", "[daemon]\nworkers = 7\n"),
];

/// Compiles the good files, then these in their place (an empty text removes the file), and shows what is kept and
/// what is off.
fn after(edits: &[(&str, &str)]) -> (Compiled, Compiled) {
    let good = compile_texts(&GOOD);
    let mut files: BTreeMap<&str, &str> = GOOD.into_iter().collect();
    files.extend(edits.iter().copied());
    files.retain(|_, text| !text.is_empty());
    let files: Vec<(&str, &str)> = files.into_iter().collect();
    let last_good: LastGood = good.canonical.clone();
    let now = Compiler::new(registry()).compile(&loaded(&files), &env(), &last_good);
    (good, now)
}

fn shown(compiled: &Compiled) -> String {
    let kept = compiled.plan.kept.iter().map(|(name, off)| {
        let place = off.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        format!("{name} kept: {}{place}", off.reason)
    });
    let off = compiled.plan.off().map(|(name, off)| format!("{name} {}: {}", off.state.word(), off.reason));
    kept.chain(off).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_broken_unit_runs_on_and_so_do_those_that_need_it() {
    let (good, now) = after(&[("keys.env.toml", "[set]\nA = 1\n")]);
    insta::assert_snapshot!(shown(&now), @r#"
    keys.env kept: `set.A` takes a text in quotes or a reference, not a whole number at /u/1/keys.env.toml:2:5
    "#);
    assert_eq!(good.plan.hash, now.plan.hash);
    assert_eq!(good.canonical, now.canonical);
    assert_eq!(short(&now, Path::new("/u/1")).lines().count(), 1);
}

#[test]
fn broken_syntax_and_settings_and_names_are_all_kept() {
    let (good, now) = after(&[
        ("inbox.connector.toml", "[connector\nplatform = \"imap\"\n"),
        ("t.engine.toml", "[engine]\nengine = \"tempalte\"\n"),
        ("mail.route.toml", "[route]\nengines = [\"tt\"]\n"),
    ]);
    insta::assert_snapshot!(shown(&now), @r#"
    inbox.connector kept: unknown table `[platform]` at /u/1/inbox.connector.toml:2:1
    mail.route kept: there is no engine unit `tt` at /u/1/mail.route.toml:2:12
    t.engine kept: there is no engine `tempalte` at /u/1/t.engine.toml:2:10
    "#);
    assert_eq!(good.plan.hash, now.plan.hash);
}

#[test]
fn the_daemons_own_unit_too() {
    let (_, now) = after(&[("workagent.daemon.toml", "[daemon]\nworkers = \"x\"\n")]);
    assert_eq!((now.plan.daemon.workers, now.daemon_off.clone()), (7, None));
    insta::assert_snapshot!(shown(&now), @r#"
    workagent.daemon kept: `daemon.workers` takes a whole number from 1 to 256, not a text at /u/1/workagent.daemon.toml:2:11
    "#);
}

#[test]
fn switching_off_and_removing_take_effect() {
    let (_, now) = after(&[
        ("inbox.connector.toml", "[connector]\nplatform = 3\n[install]\nenabled = false\n"),
        ("mail.route.toml", "[install]\nmasked = true\n[route"),
        ("t.engine.toml", ""),
    ]);
    insta::assert_snapshot!(shown(&now), @r#"
    inbox.connector disabled: [install] enabled = false
    mail.route masked: [install] masked = true
    "#);
}

#[test]
fn a_version_that_does_not_stand_any_more_is_no_way_out() {
    // The last good route names an engine that is gone; that of the engine names an environment that is off.
    let (_, now) = after(&[("t.engine.toml", ""), ("mail.route.toml", "[route]\nengines = 1\n")]);
    insta::assert_snapshot!(shown(&now), @r#"
    mail.route bad-setting: `route.engines` takes a list of names of engine units such as `["a", "b"]`, not a whole number
    "#);
    let (_, now) = after(&[
        ("keys.env.toml", "[install]\nenabled = false\n"),
        ("t.engine.toml", "[engine]\nengine = 1\n"),
        ("mail.route.toml", "[route]\nengines = 1\n"),
    ]);
    insta::assert_snapshot!(shown(&now), @r#"
    t.engine bad-setting: `engine.engine` takes a text, not a whole number
    keys.env disabled: [install] enabled = false
    mail.route bad-setting: `route.engines` takes a list of names of engine units such as `["a", "b"]`, not a whole number
    "#);
}

#[test]
fn a_file_that_cannot_be_read_is_broken_and_a_directory_keeps_what_it_may_hold() {
    let good = compile_texts(&GOOD);
    let mut files = loaded(&GOOD);
    let gone = files.files.remove(0);
    let mut by_file = files.clone();
    let why = || Trouble::Unreadable("permission denied".into());
    by_file.notices.push(Notice { path: gone.path, trouble: why(), instead_of: Some((1, gone.role)) });
    let now = Compiler::new(registry()).compile(&by_file, &env(), &good.canonical);
    insta::assert_snapshot!(shown(&now), @r#"
    inbox.connector kept: cannot read it: permission denied at /u/1/inbox.connector.toml:1:1
    "#);

    files.notices.push(Notice {
        path: "/u/1".into(),
        trouble: Trouble::Directory("permission denied".into()),
        instead_of: None,
    });
    let now = Compiler::new(registry()).compile(&files, &env(), &good.canonical);
    insta::assert_snapshot!(shown(&now), @r#"
    inbox.connector kept: /u/1 cannot be read
    "#);
    assert_eq!(good.plan.hash, now.plan.hash);
}
