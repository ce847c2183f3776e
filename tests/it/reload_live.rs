//! Unit files that change while the real daemon runs: saved in every way, broken, mended, gone back from.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use workagent::control::wire::{ActiveState, StatusView, UnitView};

use super::support::binary::{Daemon, LONG, unit};
use super::support::scene::{Plan, Scene};

const NOTES: &str = "notes.connector";

fn file(scene: &Scene) -> PathBuf {
    scene.path("units/notes.connector.toml")
}

/// The unit's text with another interval in seconds.
fn every(scene: &Scene, seconds: u32) -> String {
    let text = fs::read_to_string(file(scene)).unwrap();
    let (before, rest) = text.split_once("every = \"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    format!("{before}every = \"{seconds}s\"{after}")
}

/// Whole or not at all.
fn save(path: &Path, text: &str) {
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, text).unwrap();
    fs::rename(temporary, path).unwrap();
}

fn has(view: &StatusView) -> bool {
    view.units.iter().any(|unit| unit.unit == NOTES)
}

fn runs_every(view: &StatusView, seconds: u32) -> bool {
    let found = view.units.iter().find(|unit| unit.unit == NOTES);
    found.is_some_and(|unit| unit.every == Some(Duration::from_secs(seconds.into())))
}

fn live(scene: &Scene, seconds: u32) -> StatusView {
    scene.status_when(&format!("every {seconds}s"), |view| runs_every(view, seconds)).0
}

/// What must not change for a unit that nobody touched.
fn inbox(view: &StatusView) -> (Option<workagent::model::time::Timestamp>, u32) {
    let UnitView { since, restarts, .. } = unit(view, "inbox.connector");
    (*since, *restarts)
}

fn start() -> (Scene, Daemon) {
    let scene = Scene::new(Plan::default());
    let daemon = scene.daemon(&[]);
    (scene, daemon)
}

#[test]
fn each_save_is_live_and_begins_the_unit_once() {
    let (scene, daemon) = start();
    let is_up = |view: &StatusView| unit(view, "inbox.connector").last_success.is_some();
    let (first, _) = scene.status_when("both run", |view| runs_every(view, 1) && is_up(view));
    let mut generation = first.generation;
    // One generation for each change: a second one would go past the one that is waited for.
    let mut next = |is_so: &dyn Fn(&StatusView) -> bool| {
        generation += 1;
        let what = format!("generation {generation}");
        scene.status_when(&what, |view| view.generation == generation && is_so(view)).0
    };
    for seconds in [2, 3] {
        save(&file(&scene), &every(&scene, seconds));
        next(&|view| runs_every(view, seconds));
    }
    let text = every(&scene, 4);
    fs::write(file(&scene), &text).unwrap();
    next(&|view| runs_every(view, 4));
    fs::remove_file(file(&scene)).unwrap();
    next(&|view| !has(view));
    fs::write(file(&scene), &text).unwrap();
    let last = next(&|view| runs_every(view, 4));
    assert_eq!(inbox(&last), inbox(&first));
    daemon.stop();
}

#[test]
fn links_are_followed_and_content_decides() {
    let scene = Scene::new(Plan::default());
    let store = |name: &str, text: &str| {
        let path = scene.write(&format!("store/{name}/notes.connector.toml"), text);
        let old = std::time::UNIX_EPOCH + Duration::from_secs(1);
        fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
    };
    for (name, seconds) in [("aaa", 1), ("same", 1), ("bbb", 2)] {
        store(name, &every(&scene, seconds));
    }
    let turn = |name: &str| {
        let link = scene.path("units/.new");
        symlink(format!("../store/{name}/notes.connector.toml"), &link).unwrap();
        fs::rename(link, file(&scene)).unwrap();
    };
    turn("aaa");
    let daemon = scene.daemon(&[]);
    let first = live(&scene, 1);
    turn("same");
    assert_eq!(scene.run(&["reload"]).code, Some(3));
    let same = live(&scene, 1);
    assert_eq!(same.generation, first.generation);
    assert_eq!(unit(&same, NOTES).running_since, unit(&first, NOTES).running_since);
    turn("bbb");
    live(&scene, 2);
    // The file behind the link, in place.
    scene.write("store/bbb/notes.connector.toml", &every(&scene, 5));
    live(&scene, 5);
    // A link that leads nowhere is this unit's fault alone.
    turn("nowhere");
    let (view, _) = scene.status_when("an error", |view| view.findings > 0);
    assert_eq!(unit(&view, "inbox.connector").active, ActiveState::Active);
    turn("aaa");
    scene.status_when("it to be mended", |view| view.findings == 0 && runs_every(view, 1));
    daemon.stop();
}

#[test]
fn a_bad_edit_then_a_restart_then_the_mend() {
    let (scene, daemon) = start();
    live(&scene, 1);
    let good = fs::read_to_string(file(&scene)).unwrap();
    let broken = good.replace("every = \"1s\"", "every = \"1s");
    let wrong = good.replace("every = \"1s\"", "every = true");
    let kept = |view: &StatusView| view.findings > 0 && has(view) && unit(view, NOTES).kept.is_some();

    fs::write(file(&scene), &broken).unwrap();
    let (view, code) = scene.status_when("the last good version to be kept", kept);
    assert!(runs_every(&view, 1) && unit(&view, NOTES).active == ActiveState::Active, "{view:#?}");
    assert!(view.findings_since.is_some());
    assert_eq!(code, 3);
    scene.drop_note("one");
    scene.settled(1);
    let log = daemon.kill();
    assert_eq!(said(&log), 1, "{log}");

    let mut texts = [&wrong, &broken].into_iter();
    for _ in 0..2 {
        let daemon = scene.daemon(&[]);
        let (view, _) = scene.status_when("the last good version after a restart", kept);
        assert!(runs_every(&view, 1), "{view:#?}");
        assert_eq!(unit(&view, "inbox.connector").active, ActiveState::Active);
        assert_eq!(scene.run(&["is-healthy"]).code, Some(1));
        let before = said(&daemon.log());
        assert_eq!(before, 1, "{}", daemon.log());
        fs::write(file(&scene), texts.next().unwrap()).unwrap();
        // A look is done when the command is, and says that it is no good.
        assert_eq!(scene.run(&["reload"]).code, Some(1));
        assert_eq!(scene.run(&["reload"]).code, Some(1));
        let log = daemon.kill();
        assert_eq!(said(&log), 2, "{log}");
    }

    let daemon = scene.daemon(&[]);
    scene.status_when("the last good version once more", kept);
    fs::write(file(&scene), &good).unwrap();
    let (view, code) = scene.status_when("it to be mended", |view| view.findings == 0);
    assert!(unit(&view, NOTES).kept.is_none() && runs_every(&view, 1), "{view:#?}");
    assert_eq!(code, 0);
    daemon.stop();
}

/// How often the log names a place in the unit's file as an error.
fn said(log: &str) -> usize {
    log.lines().filter(|line| line.contains("ERROR") && line.contains("notes.connector.toml:")).count()
}

#[test]
fn a_hang_up_is_a_reload_that_the_service_manager_hears_of() {
    let scene = Scene::new(Plan::default());
    let path = scene.path("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(LONG)).unwrap();
    let mut daemon = scene.launch(&[], &[("NOTIFY_SOCKET", &path.display().to_string())]);
    scene.listens(&mut daemon);
    let hear = || {
        let mut buffer = [0; 4096];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(buffer.get(..length).unwrap()).into_owned()
    };
    while !hear().starts_with("READY=1") {}
    daemon.signal(Signal::HUP);
    let mut begun = hear();
    while !begun.starts_with("RELOADING=1\nMONOTONIC_USEC=") {
        begun = hear();
    }
    while !hear().starts_with("READY=1") {}
    daemon.stop();
}

#[test]
fn the_command_tells_by_its_exit_code_what_came_of_it() {
    let (scene, daemon) = start();
    live(&scene, 1);
    assert_eq!(scene.run(&["reload"]).code, Some(3));
    assert_eq!(scene.run(&["reload", "--dry-run"]).code, Some(3));
    // The watcher may be faster; then there is nothing left to do.
    let wins = |expected: i32, edit: &dyn Fn(u32)| {
        let won = (10..60).any(|seconds| {
            edit(seconds);
            let ran = scene.run(&["reload", "--json"]);
            let view: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            if expected == 0 {
                assert!(matches!(ran.code, Some(0 | 3)), "{view}");
            }
            ran.code == Some(expected)
        });
        assert!(won, "never {expected}");
    };
    wins(0, &|seconds| save(&file(&scene), &every(&scene, seconds)));
    wins(4, &|seconds| {
        scene.unit(
            "bad.route.toml",
            &format!("[route]\nengines = [\"nobody{seconds}\"]\n[install]\nenabled = true\n"),
        );
        save(&file(&scene), &every(&scene, seconds));
    });
    assert_eq!(scene.run(&["reload"]).code, Some(1));
    daemon.stop();
    assert_eq!(scene.run(&["reload"]).code, Some(69));
}

#[test]
fn back_to_an_earlier_plan_and_forward_again() {
    let (scene, daemon) = start();
    let first = live(&scene, 1).generation;
    save(&file(&scene), &every(&scene, 5));
    let second = live(&scene, 5).generation;
    let out = scene.ok(&["plan", "rollback"]);
    assert!(out.starts_with(&format!("pinned to generation {first}\n")), "{out}");
    let view = live(&scene, 1);
    assert_eq!((view.generation, view.pinned), (first, Some(first)));
    // Not followed meanwhile, also over a restart.
    save(&file(&scene), &every(&scene, 7));
    assert_eq!(scene.run(&["reload"]).code, Some(3));
    daemon.kill();
    let daemon = scene.daemon(&[]);
    let view = live(&scene, 1);
    assert_eq!((view.generation, view.pinned), (first, Some(first)));
    let diff = scene.ok(&["plan", "diff"]);
    assert!(diff.contains("-every = \"1s\"\n+every = \"7s\""), "{diff}");

    scene.ok(&["plan", "unpin"]);
    let view = live(&scene, 7);
    assert_eq!(view.pinned, None);
    assert!(view.generation > second, "{view:#?}");
    daemon.stop();

    let out = scene.ok(&["plan", "rollback", &first.to_string()]);
    assert!(out.contains("the daemon is not running"), "{out}");
    let list: serde_json::Value = scene.json(&["plan", "list", "--json"]);
    assert_eq!(list["pinned"], first);
    assert_eq!(scene.run(&["plan", "rollback"]).code, Some(2));
    assert_eq!(scene.run(&["plan", "show", "999"]).code, Some(2));
}
