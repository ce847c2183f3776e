//! One daemon per state, signals, the service manager: with real processes.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use workagent::daemon::lock::InstanceLock;
use workagent::daemon::paths::Paths;
use workagent::daemon::service_manager::ServiceManager;
use workagent::daemon::signals::{Hangup, Orders, Signals};
use workagent::model::time::Timestamp;

use crate::support::again::{self, Again};

/// Not a test: what the processes below do.
#[test]
fn in_role() {
    let Some((role, environment)) = again::role() else { return };
    let root = environment.get("ROOT").map(PathBuf::from).unwrap_or_default();
    match role.as_str() {
        "hold" => match acquire(&root, &root.join("state/workagent.db")) {
            Ok(_lock) => {
                again::say("held");
                again::wait_for_parent();
            }
            Err(why) => again::say(&why),
        },
        "bequeath" => {
            let state = fs::File::open(root.join("state")).unwrap();
            state.lock().unwrap();
            #[expect(
                clippy::disallowed_methods,
                clippy::zombie_processes,
                reason = "it outlives its parent"
            )]
            std::process::Command::new("/bin/sleep").arg("0.3").stdin(state).spawn().unwrap();
            again::say("left to a child");
            again::wait_for_parent();
        }
        "signals" => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(hear_signals(if environment.get("TERMINAL").is_some() {
                Hangup::Stop
            } else {
                Hangup::Reload
            }));
        }
        "service" => {
            let manager = ServiceManager::of(&environment);
            manager.ready("3 connectors,\nMAINPID=1");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let stop = tokio_util::sync::CancellationToken::new();
            runtime.block_on(async {
                let _ =
                    tokio::time::timeout(Duration::from_millis(300), manager.watchdog(|| true, &stop)).await;
            });
            manager.stopping("2 runs still end", Duration::from_secs(200));
        }
        "reloads" => {
            let manager = ServiceManager::of(&environment);
            manager.reloading().done("3 connectors, generation 2");
            drop(manager.reloading());
        }
        other => panic!("{other}"),
    }
}

fn acquire(root: &Path, database: &Path) -> Result<InstanceLock, String> {
    InstanceLock::acquire(&Paths::below(root).unwrap(), database, Timestamp(0))
        .map_err(|error| error.to_string())
}

async fn hear_signals(hangup: Hangup) {
    let orders = Orders::default();
    let signals = Signals::catch(hangup).unwrap();
    again::say("ready");
    let story = async {
        loop {
            tokio::select! {
                () = orders.reload.notified() => again::say("reload"),
                () = orders.stop.cancelled() => break,
            }
        }
        again::say("stop");
        orders.hurry.cancelled().await;
        again::say("hurry");
    };
    tokio::select! {
        () = signals.run(&orders) => (),
        () = story => (),
    }
}

/// A root with a running holder.
struct Held {
    root: tempfile::TempDir,
    holder: Again,
}

impl Held {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let holder = hold(root.path());
        assert_eq!(holder.hear(), "held");
        Self { root, holder }
    }

    fn check_refused(&self, root: &Path) {
        hold_is_refused(root, self.holder.pid());
    }
}

fn hold_is_refused(root: &Path, pid: u32) {
    let expected = format!("another workagent (process {pid}) holds ");
    let second = hold(root).hear();
    assert!(second.starts_with(&expected), "{second}");
}

fn hold(root: &Path) -> Again {
    Again::start("instance::in_role", "hold", &[("ROOT", root.to_str().unwrap())])
}

#[test]
fn a_second_daemon_is_refused_and_told_who_holds_it() {
    let held = Held::new();
    held.check_refused(held.root.path());
    held.check_refused(held.root.path());
}

#[test]
fn after_kill_9_a_start_works_with_no_hand_work() {
    let Held { root, holder } = Held::new();
    holder.kill();
    assert!(root.path().join("state/instance.json").exists());
    assert_eq!(hold(root.path()).hear(), "held");
}

/// Killed between fork and exec of a child: the child holds all that its parent held, for a moment.
#[test]
fn a_lock_that_a_killed_daemon_left_to_its_child_is_waited_for() {
    let root = tempfile::tempdir().unwrap();
    drop(acquire(root.path(), &root.path().join("state/workagent.db")).unwrap());
    let path = root.path().to_str().unwrap();
    let holder = Again::start("instance::in_role", "bequeath", &[("ROOT", path)]);
    assert_eq!(holder.hear(), "left to a child");
    hold_is_refused(root.path(), holder.pid());
    holder.kill();
    assert_eq!(hold(root.path()).hear(), "held");
}

#[test]
fn a_pid_of_another_living_process_in_the_note_changes_nothing() {
    let held = Held::new();
    let note = held.root.path().join("state/instance.json");
    let text = fs::read_to_string(&note).unwrap();
    fs::write(&note, text.replace(&held.holder.pid().to_string(), &std::process::id().to_string())).unwrap();
    held.check_refused(held.root.path());

    let Held { root, holder } = held;
    holder.kill();
    assert_eq!(hold(root.path()).hear(), "held");
}

#[test]
fn deleting_all_files_does_not_let_a_second_one_in() {
    let held = Held::new();
    for entry in fs::read_dir(held.root.path().join("state")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    held.check_refused(held.root.path());
}

#[test]
fn a_link_to_the_state_leads_to_the_same_lock() {
    let held = Held::new();
    let other = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(held.root.path().join("state"), other.path().join("state")).unwrap();
    held.check_refused(other.path());
}

#[test]
fn another_state_with_the_same_database_is_refused() {
    let held = Held::new();
    let other = tempfile::tempdir().unwrap();
    let database = held.root.path().join("state/workagent.db");
    let error = acquire(other.path(), &database).unwrap_err();
    assert!(error.contains(&format!("(process {})", held.holder.pid())), "{error}");
}

#[test]
fn an_orderly_end_lets_go_and_takes_the_note_away() {
    let Held { root, holder } = Held::new();
    assert!(holder.end().0.success());
    assert!(!root.path().join("state/instance.json").exists());
    acquire(root.path(), &root.path().join("state/workagent.db")).unwrap();
}

#[test]
fn the_first_term_stops_and_the_second_hurries() {
    for signal in [Signal::TERM, Signal::INT] {
        let process = Again::start("instance::in_role", "signals", &[]);
        assert_eq!(process.hear(), "ready");
        process.signal(Signal::HUP);
        assert_eq!(process.hear(), "reload");
        process.signal(signal);
        assert_eq!(process.hear(), "stop");
        process.signal(signal);
        assert_eq!(process.hear(), "hurry");
        assert!(process.end().0.success());
    }
}

#[test]
fn in_a_terminal_a_hang_up_stops() {
    let process = Again::start("instance::in_role", "signals", &[("TERMINAL", "1")]);
    assert_eq!(process.hear(), "ready");
    process.signal(Signal::HUP);
    assert_eq!(process.hear(), "stop");
}

/// All that a role tells the service manager, over a real socket.
fn told(role: &str, more: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    let environment = [&[("NOTIFY_SOCKET", path.to_str().unwrap())], more].concat();
    let process = Again::start("instance::in_role", role, &environment);
    assert!(process.end().0.success());
    manager.set_nonblocking(true).unwrap();
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length) = manager.recv(&mut buffer) {
        heard.push(String::from_utf8_lossy(buffer.get(..length).unwrap()).into_owned());
    }
    heard
}

#[test]
fn the_service_manager_hears_of_start_life_and_end() {
    let heard = told("service", &[("WATCHDOG_USEC", "100000")]);
    assert_eq!(heard.first().unwrap(), "READY=1\nSTATUS=3 connectors, MAINPID=1\n");
    assert_eq!(heard.last().unwrap(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=200000000\nSTATUS=2 runs still end\n");
    assert!(
        heard.len() > 2 && heard[1..heard.len() - 1].iter().all(|text| text == "WATCHDOG=1\n"),
        "{heard:?}"
    );
}

#[test]
fn the_service_manager_hears_when_a_reload_began_and_that_it_ended() {
    let now = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000
    };
    let before = now();
    let heard = told("reloads", &[]);
    let begun = |text: &str| {
        let usec = text.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").and_then(|rest| rest.strip_suffix('\n'));
        let usec: i128 = usec.unwrap_or_else(|| panic!("{heard:?}")).parse().unwrap();
        assert!((before..=now()).contains(&usec), "{usec}");
    };
    let [first, done, second, dropped] = heard.as_slice() else { panic!("{heard:?}") };
    begun(first);
    begun(second);
    assert_eq!(done, "READY=1\nSTATUS=3 connectors, generation 2\n");
    assert_eq!(dropped, "READY=1\n");
}
