//! Stopping in order, and what is found after a stop in disorder: with the real program.

use std::fs;

use rustix::process::Signal;
use workagent::model::case::{Case, CaseState};
use workagent::model::exit;
use workagent::model::outbound::ActionState;
use workagent::store::CaseRecord;

use crate::support::binary::{Daemon, wait_until};
use crate::support::proof::{Expected, check};
use crate::support::scene::{Plan, Scene, is_alive};

/// Longer than any test waits.
const FOR_EVER: &str = "3600";

fn expecting(scene: &Scene, mails: &[&str]) -> Expected {
    let mut expected = Expected::default();
    for id in mails {
        scene.deliver(id, "");
        expected.mail(id, 1..=1);
    }
    expected
}

/// The one engine that runs.
fn engine(scene: &Scene) -> i32 {
    let mut living = Vec::new();
    wait_until("the engine to run", || {
        living = scene.living_engines();
        living.len() == 1
    });
    living.remove(0)
}

/// Asks it to stop; it has begun to when this returns.
fn stopping(daemon: &Daemon) {
    daemon.signal(Signal::TERM);
    wait_until("the stop to begin", || daemon.log().contains("stopping: intake first"));
}

fn only(scene: &Scene) -> CaseRecord {
    let cases = scene.cases();
    let [case] = cases.as_slice() else { panic!("{cases:?}") };
    scene.record(case)
}

fn count(cases: &[Case], state: CaseState) -> usize {
    cases.iter().filter(|case| case.state == state).count()
}

/// Four cases, two places, an engine that never ends; killed ten times.
#[test]
#[cfg(target_os = "linux")]
fn a_dead_daemons_cases_and_engines_hold_no_place() {
    let scene = Scene::new(Plan { engine_seconds: FOR_EVER, ..Plan::default() });
    let expected = expecting(&scene, &["a", "b", "c", "d"]);
    for _ in 0..10 {
        let before = scene.engines();
        let daemon = scene.daemon(&[]);
        // After four tries a case steps aside, so the others get their turn.
        let mut running = 0;
        wait_until("each place to be used by a living engine", || {
            let cases = scene.cases();
            let parked = count(&cases, CaseState::Parked);
            running = count(&cases, CaseState::Running);
            let queued = count(&cases, CaseState::Queued);
            let placed = running == (4 - parked).min(2) && queued == 4 - parked - running;
            cases.len() == 4 && placed && scene.living_engines().len() == running
        });
        assert!(!before.iter().any(|pid| is_alive(*pid)), "an engine of a dead daemon lives");
        assert_eq!(scene.names("state/children").len(), running);
        assert_eq!(scene.names("state/runs").len(), running);
        daemon.kill();
    }
    // Each interrupted try is in the record, and a person may grant another one.
    scene.engine_seconds("0");
    let daemon = scene.daemon(&[]);
    for case in scene.cases().iter().filter(|case| case.state == CaseState::Parked) {
        let reason = "its tries are used up; the last one was interrupted";
        assert_eq!((case.reason.as_deref(), case.until.is_some()), (Some(reason), true));
        // It may wake by itself at this very moment.
        scene.run(&["case", "retry", &case.id.to_string()]);
    }
    for record in check(&scene, &expected) {
        let (last, before) = record.runs.split_last().unwrap();
        assert_eq!(last.outcome, "reply");
        assert!(before.len() >= 4 && before.iter().all(|run| run.outcome == "interrupted"), "{record:?}");
    }
    daemon.stop();
}

#[test]
fn an_engine_that_needs_long_is_ended_and_its_case_goes_back() {
    let scene = Scene::new(Plan { engine_seconds: FOR_EVER, stop_timeout: "1s", ..Plan::default() });
    let expected = expecting(&scene, &["a"]);
    let daemon = scene.daemon(&[]);
    let engine = engine(&scene);
    daemon.stop();
    assert!(!is_alive(engine));
    let record = only(&scene);
    assert_eq!(record.case.state, CaseState::Queued);
    assert_eq!(record.runs[0].outcome, "interrupted");
    assert!(record.journal.iter().any(|row| row.event == "given back"), "{record:?}");

    scene.engine_seconds("0");
    let daemon = scene.daemon(&[]);
    check(&scene, &expected);
    daemon.stop();
}

#[test]
fn an_engine_that_is_deaf_to_term_is_ended_all_the_same() {
    let scene = Scene::new(Plan { stop_timeout: "1s", ..Plan::default() });
    scene.write("engine.sh", "trap '' TERM\necho $$ >>{root}/engine.pids\nwhile :; do sleep 0.1; done\n");
    expecting(&scene, &["a"]);
    let daemon = scene.daemon(&[]);
    let engine = engine(&scene);
    daemon.stop();
    assert!(!is_alive(engine));
    assert_eq!(only(&scene).case.state, CaseState::Queued);
}

#[test]
fn what_ends_in_time_is_recorded_and_nothing_new_begins() {
    let scene = Scene::new(Plan { engine_seconds: "1", concurrency: 1, ..Plan::default() });
    let expected = expecting(&scene, &["a", "b"]);
    let daemon = scene.daemon(&[]);
    engine(&scene);
    daemon.stop();
    assert_eq!(scene.engines().len(), 1);
    let cases = scene.cases();
    assert_eq!((count(&cases, CaseState::Review), count(&cases, CaseState::Queued)), (1, 1), "{cases:?}");

    let daemon = scene.daemon(&[]);
    let records = check(&scene, &expected);
    assert!(records.iter().all(|record| record.case.attempts == 1));
    daemon.stop();
}

#[test]
fn a_second_term_hurries() {
    let scene = Scene::new(Plan { engine_seconds: FOR_EVER, stop_timeout: "1h", ..Plan::default() });
    expecting(&scene, &["a"]);
    let daemon = scene.daemon(&[]);
    let engine = engine(&scene);
    stopping(&daemon);
    assert!(is_alive(engine), "there was time");
    daemon.stop();
    assert!(!is_alive(engine));
    assert_eq!(only(&scene).case.state, CaseState::Queued);
}

#[test]
fn a_send_on_its_way_comes_to_its_end() {
    let exit = "sendmail = [\"/bin/sh\", \"{root}/sendmail.sh\"]";
    let scene = Scene::new(Plan { exit, ..Plan::default() });
    scene.write(
        "sendmail.sh",
        "echo >>{root}/began\ncat >>{root}/taken\nwhile [ ! -e {root}/go ]; do sleep 0.05; done\n",
    );
    scene.deliver("a", "");
    let daemon = scene.daemon(&[]);
    wait_until("the send to begin", || scene.path("began").exists());
    stopping(&daemon);
    scene.write("go", "");
    let (status, log) = daemon.end();
    assert_eq!(status.code(), Some(0), "{log}");
    assert_eq!(only(&scene).case.state, CaseState::Sent);

    let daemon = scene.daemon(&[]);
    assert_eq!(only(&scene).case.state, CaseState::Sent);
    daemon.stop();
    assert_eq!(fs::read_to_string(scene.path("began")).unwrap(), "\n");
}

/// Nobody can ask such a program whether it took the mail: the user is.
#[test]
fn a_send_that_nobody_saw_the_end_of_is_the_users() {
    let exit = "sendmail = [\"/bin/sh\", \"{root}/sendmail.sh\"]";
    let scene = Scene::new(Plan { exit, ..Plan::default() });
    scene.write("sendmail.sh", "cat >/dev/null\necho >>{root}/began\nsleep 3600\n");
    scene.deliver("a", "");
    let daemon = scene.daemon(&[]);
    wait_until("the send to begin", || scene.path("began").exists());
    daemon.kill();

    let daemon = scene.daemon(&[]);
    wait_until("the send to be held", || only(&scene).actions[0].state == ActionState::Held);
    let held = &only(&scene).actions[0];
    assert_eq!(held.attempts, 1);
    assert_eq!(fs::read_to_string(scene.path("began")).unwrap(), "\n");
    scene.ok(&["outbox", "release", &held.id.to_string(), "--was-sent"]);
    assert_eq!(only(&scene).case.state, CaseState::Sent);
    daemon.stop();
}

#[test]
fn a_term_during_the_start_is_an_orderly_one() {
    let scene = Scene::new(Plan::default());
    let daemon = scene.start(None);
    wait_until("the lock", || scene.path("state/instance.json").exists());
    daemon.stop();
    assert!(!scene.path("state/instance.json").exists());
}

#[test]
fn a_second_daemon_is_told_who_holds_the_state() {
    let scene = Scene::new(Plan::default());
    let daemon = scene.daemon(&[]);
    let pid = daemon.pid();
    let second = scene.run(&["run"]);
    assert_eq!(second.code, Some(i32::from(exit::HELD)), "{second:?}");
    let expected = format!("another workagent (process {pid}) holds {}", scene.path("state").display());
    assert!(second.err.contains(&expected), "{second:?}");
    assert_eq!(scene.status().0.pid, Some(pid));
    daemon.kill();

    let daemon = scene.daemon(&[]);
    assert_ne!(daemon.pid(), pid);
    daemon.stop();
}
