//! `workagent reload`, the whole command, against a daemon that runs.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::reload::{connector, local, save};
use super::{median, quantile, ratio, timed};

const COUNT: usize = 100;

const ROUNDS: usize = 40;

/// A command with an environment of its own.
pub fn workagent(root: &Path, args: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a bench plays the person at the terminal")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_workagent"));
    command.args(args).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("HOME", root).env("PATH", "/usr/bin:/bin");
    command.env("WORKAGENT_UNIT_PATH", root.join("units")).env("WORKAGENT_STATE_DIR", root.join("state"));
    command
}

/// A daemon; killed when dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Daemon {
    fn start(root: &Path) -> Self {
        let mut command = workagent(root, &["run"]);
        let mut daemon = Self(command.stderr(Stdio::piped()).spawn().expect("a daemon"));
        let deadline = Instant::now() + Duration::from_secs(60);
        while std::os::unix::net::UnixStream::connect(root.join("state/run/control.sock")).is_err() {
            if daemon.0.try_wait().expect("its state").is_some() || Instant::now() > deadline {
                let mut said = String::new();
                let _ = daemon.0.stderr.take().expect("its log").read_to_string(&mut said);
                panic!("the daemon does not listen: {said}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // Nobody reads the log any more; a full pipe would stop it.
        let mut log = daemon.0.stderr.take().expect("its log");
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        daemon
    }
}

/// Prints the medians of the command with and without something to do, and of one that does nothing.
pub fn ratios() {
    let root = tempfile::Builder::new().prefix("wa-").tempdir().expect("a temporary directory");
    for name in ["units", "in"] {
        std::fs::create_dir(root.path().join(name)).expect("a folder");
    }
    for (name, text) in (0..COUNT).map(|number| local(number, root.path())) {
        std::fs::write(root.path().join("units").join(name), text).expect("a unit file");
    }
    let _daemon = Daemon::start(root.path());
    let run = |args: &[&str]| -> Output {
        let output = workagent(root.path(), args).output().expect("the command");
        // 3: there was nothing to reload.
        let fine = matches!(output.status.code(), Some(0 | 3));
        assert!(fine, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let (mut idle, mut changed, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        floor.push(timed(|| run(&["--version"])));
        idle.push(timed(|| run(&["reload"])));
        let every = ["2h", "3h"][round % 2];
        save(&root.path().join("units/in-0.connector.toml"), &connector(root.path(), every));
        let at = Instant::now();
        let output = run(&["reload"]);
        changed.push(at.elapsed());
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains("in-0.connector"), "{told}");
    }
    let (floor, idle) = (median(&mut floor), median(&mut idle));
    let (p50, p95) = (median(&mut changed), quantile(&mut changed, 0.95));
    println!(
        "units/reload_command_100: with a change p50 {p50:.1?}, p95 {p95:.1?}, goal 50 ms; with none {idle:.1?}; `--version` \
         {floor:.1?}: {:.1}x",
        ratio(p50, floor)
    );
}
