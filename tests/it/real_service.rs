//! The ring of real peers: a real `systemd --user` manager and journald. Runs where `WORKAGENT_LAB=1` is set.

use std::path::Path;

use crate::support::binary::wait_until;
use crate::support::lab_systemd::Session;

const NOTES: &str = r#"[connector]
platform = "directory"
outbound = "auto"
backlog = "all"
hold = "0s"
[directory]
path = "%h/notes"
out = "%h/answers"
done = "%h/done"
settle = "0s"
[schedule]
every = "1s"
[install]
enabled = true
"#;

const POLITE: &str = "[engine]\nengine = \"template\"\n[template]\ntext = \"Thank you for {{ title }}.\"\n[install]\nenabled = true\n";

const ROUTE: &str =
    "[route]\nengines = [\"polite\"]\n[match]\nconnector = [\"notes\"]\n[install]\nenabled = true\n";

/// Installed, with a folder as connector, and running.
fn installed(more: &[&str]) -> Option<Session> {
    let session = Session::fresh()?;
    session.sh("mkdir -p ~/notes ~/answers ~/done");
    session.unit("notes.connector.toml", NOTES);
    session.unit("polite.engine.toml", POLITE);
    session.unit("notes.route.toml", ROUTE);
    let ran = session.workagent(&[&["service", "install"], more].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("wrote ~/.config/systemd/user/workagent.service"), "{}", ran.out);
    assert!(ran.err.contains("lingering is off"), "{}", ran.err);
    Some(session)
}

fn pid(session: &Session) -> u32 {
    session.property("MainPID").parse().unwrap()
}

fn restarts(session: &Session) -> u32 {
    session.property("NRestarts").parse().unwrap()
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Until another process runs and is ready.
fn is_anew(session: &Session, old: u32) {
    wait_until("the service to run again", || {
        session.property("ActiveState") == "active" && ![0, old].contains(&pid(session))
    });
}

/// The answers that were written.
fn answers(session: &Session) -> usize {
    std::fs::read_dir(session.home().join("answers")).map_or(0, Iterator::count)
}

#[test]
fn real_service_from_install_to_uninstall() {
    let Some(session) = installed(&[]) else { return };
    assert!(session.home().display().to_string().contains(' '));
    assert_eq!(session.ok(&["systemctl", "--user", "is-active", "workagent"]), "active\n");
    assert_eq!(session.ok(&["systemctl", "--user", "is-enabled", "workagent"]), "enabled\n");
    let file = session.home().join(".config/systemd/user/workagent.service");
    let verified = session.run(&["systemd-analyze", "--user", "verify", file.to_str().unwrap()]);
    assert_eq!((verified.code, verified.err.as_str()), (Some(0), ""), "{}", verified.out);

    // A stop and a start by the manager's own commands; again an install changes nothing.
    session.ok(&["systemctl", "--user", "stop", "workagent"]);
    assert_eq!(session.property("Result"), "success");
    assert_eq!(session.workagent(&["service", "status"]).code, Some(3));
    session.ok(&["systemctl", "--user", "start", "workagent"]);
    let status = session.workagent(&["service", "status"]);
    assert_eq!(status.code, Some(0), "{}", status.out);
    assert!(
        status.out.contains("running (process ") && status.out.contains("lingering is off"),
        "{}",
        status.out
    );
    assert!(session.property("StatusText").contains("unit files, generation"));

    // The service does its work, and the journal says so with fields.
    session.write("notes/a.txt", "Title: Hello\n\nPlease answer.\n");
    wait_until("the answer", || answers(&session) == 1);

    // An edit is live when the reload returns.
    session.unit("polite.engine.toml", &POLITE.replace("Thank you", "Many thanks"));
    let reload = session.run(&["systemctl", "--user", "reload", "workagent"]);
    assert_eq!(reload.code, Some(0), "{}", reload.err);
    let shown = session.workagent(&["show", "polite.engine"]);
    assert!(shown.out.contains("Many thanks"), "{}", shown.out);
    // Nothing to do is no failure.
    session.ok(&["systemctl", "--user", "reload", "workagent"]);
    // An edit that is wrong is one, and the service goes on as it was.
    let before = pid(&session);
    session.unit("polite.engine.toml", &POLITE.replace("engine = \"template\"", "engine = \"no-such\""));
    let reload = session.run(&["systemctl", "--user", "reload", "workagent"]);
    assert!(reload.code != Some(0) && reload.err.contains("failed"), "{:?} {}", reload.code, reload.err);
    assert_eq!((session.property("ActiveState").as_str(), pid(&session)), ("active", before));
    let told = session.ok(&["systemctl", "--user", "status", "workagent"]);
    assert!(told.contains("1 error in them"), "{told}");
    session.unit("polite.engine.toml", POLITE);
    session.ok(&["systemctl", "--user", "reload", "workagent"]);

    let journal = session.journal();
    let has = |field: &str, value: &str| {
        journal.iter().any(|entry| entry[field].as_str().is_some_and(|text| text.contains(value)))
    };
    assert!(has("UNIT", "notes"), "{journal:#?}");
    assert!(has("CASE", "c1") && has("GENERATION", "2"), "{journal:#?}");
    assert!(has("MESSAGE", "errors in unit files") || has("MESSAGE", "error in unit files"), "{journal:#?}");

    let ran = session.workagent(&["service", "uninstall"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!file.exists());
    assert_eq!(session.property("LoadState"), "not-found");
    assert!(session.home().join(".config/workagent/units/notes.connector.toml").exists(), "units stay");
}

#[test]
fn real_service_is_restarted_after_kills_and_stalls_but_not_on_78() {
    let Some(session) = installed(&[]) else { return };
    session.drop_in(
        "[Service]\nRestartSec=100ms\nWatchdogSec=3s\nTimeoutAbortSec=2s\n[Unit]\nStartLimitBurst=50\n",
    );
    session.ok(&["systemctl", "--user", "restart", "workagent"]);

    let first = pid(&session);
    signal(first, rustix::process::Signal::KILL);
    is_anew(&session, first);
    assert_eq!(restarts(&session), 1);

    // A process that stands still.
    let second = pid(&session);
    signal(second, rustix::process::Signal::STOP);
    is_anew(&session, second);
    assert_eq!(restarts(&session), 2);

    // One whose threads go on, but for the driver that hangs.
    session.drop_in("[Service]\nEnvironment=WORKAGENT_STALL_AT=after-poll:2\n");
    session.write(
        ".config/systemd/user/workagent.service.d/times.conf",
        "[Service]\nRestartSec=100ms\nWatchdogSec=3s\nTimeoutAbortSec=2s\n[Unit]\nStartLimitBurst=50\n",
    );
    session.ok(&["systemctl", "--user", "daemon-reload"]);
    session.ok(&["systemctl", "--user", "restart", "workagent"]);
    let third = pid(&session);
    is_anew(&session, third);
    let journal = session.journal();
    let told = journal.iter().any(|entry| {
        entry["MESSAGE"].as_str().is_some_and(|text| text.contains("its driver does not go on"))
            && entry["UNIT"].as_str().is_some_and(|unit| unit.contains("notes"))
    });
    assert!(told, "{journal:#?}");

    // A configuration that it cannot start with is for a person.
    // (In a state of its own: a last good version would carry it on.)
    session.drop_in("[Service]\nEnvironment=\"WORKAGENT_STATE_DIR=%h/another state\"\n");
    session.unit("workagent.daemon.toml", "[daemon]\nworkers = \"many\"\n");
    session.run(&["systemctl", "--user", "restart", "workagent"]);
    wait_until("the service to have failed", || session.property("ActiveState") == "failed");
    assert_eq!((session.property("ExecMainStatus").as_str(), restarts(&session)), ("78", 0));
    let doctor = session.workagent(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}{}", doctor.out, doctor.err);
    assert!(doctor.out.contains("exit code 78"), "{}", doctor.out);
}

#[test]
fn real_service_as_doctor_sees_it() {
    let Some(session) = installed(&["--hardened"]) else { return };
    let doctor = session.workagent(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{}{}", doctor.out, doctor.err);
    assert!(doctor.out.contains("when you log out the service ends"), "{}", doctor.out);
    assert!(doctor.out.contains("0 problems"), "{}", doctor.out);
    assert_eq!(session.property("NoNewPrivileges"), "yes");

    // What logind would note.
    let lingers = Path::new("/var/lib/systemd/linger").join(session.name());
    std::fs::create_dir_all(lingers.parent().unwrap()).unwrap();
    std::fs::write(&lingers, "").unwrap();
    let doctor = session.workagent(&["doctor", "--json"]);
    std::fs::remove_file(&lingers).unwrap();
    let report: serde_json::Value = serde_json::from_str(&doctor.out).unwrap();
    let row = |name: &str| {
        report["checks"].as_array().unwrap().iter().find(|row| row["check"] == name).unwrap().clone()
    };
    assert_eq!(row("linger")["level"], "ok", "{report:#}");

    // A drop-in counts, although the unit file is as it should be.
    session.drop_in("[Service]\nKillMode=process\nTimeoutStopSec=5\nEnvironment=\"KEY=canary # mine\"\n");
    session.ok(&["systemctl", "--user", "restart", "workagent"]);
    let doctor = session.workagent(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}{}", doctor.out, doctor.err);
    for told in ["a stop is cut after 5s", "KillMode=process leaves", "KEY holds ` #`"] {
        assert!(doctor.out.contains(told), "{told}: {}", doctor.out);
    }
    assert!(!doctor.out.contains("canary"), "{}", doctor.out);
}

/// launchd cannot run here; readers that are not ours can look at what it would be given.
#[test]
fn real_readers_take_the_agent_and_refuse_a_bad_one() {
    let Some(session) = Session::fresh() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lint = |path: &Path| {
        #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
        let mut command = std::process::Command::new("bash");
        let output = command.arg(root.join("tests/lab/launchd.sh")).arg("lint").arg(path).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    assert_eq!(lint(&root.join("packaging/launchd/local.workagent.plist")), (Some(0), String::new()));
    let printed = session.workagent(&[
        "service",
        "install",
        "--print",
        "--manager",
        "launchd",
        "--path",
        "/R & D/bin:/bin",
    ]);
    let file = tempfile::Builder::new().suffix(".plist").tempfile().unwrap();
    std::fs::write(file.path(), printed.out).unwrap();
    assert_eq!(lint(file.path()), (Some(0), String::new()));
    let (code, told) = lint(&root.join("tests/fixtures/service/bad.plist"));
    assert!(code == Some(1) && told.contains("not a property list"), "{told}");
}
