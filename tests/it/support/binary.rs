//! The real binary in a house of its own: a cleared environment, its own home, unit files and state.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use workagent::control::wire::{StatusView, UnitView};

/// Hanging is a failure, a busy machine is not.
pub const LONG: Duration = Duration::from_secs(60);

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Directories and environment that commands and daemons run with.
pub struct House {
    dir: tempfile::TempDir,
    environment: BTreeMap<String, String>,
}

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl House {
    /// Empty folders and an environment of `HOME`, `PATH` and the two places.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("wa-").tempdir().unwrap();
        for name in ["home", "units"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let at = |name: &str| dir.path().join(name).display().to_string();
        let environment = [
            ("HOME", at("home")),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("WORKAGENT_UNIT_PATH", at("units")),
            ("WORKAGENT_STATE_DIR", at("state")),
        ];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { dir, environment }
    }

    /// One more variable for everything that is started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file below the root, with its folders; `{root}` in it becomes the root.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text.replace("{root}", &self.root().display().to_string())).unwrap();
        path
    }

    /// A unit file.
    pub fn unit(&self, file: &str, text: &str) {
        self.write(&format!("units/{file}"), text);
    }

    /// An executable shell script.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, &format!("#!/bin/sh\n{text}"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn start(&self, args: &[&str], more: &[(&str, &str)]) -> Child {
        #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_workagent"));
        command.args(args).env_clear().envs(&self.environment).envs(more.iter().copied());
        command.current_dir(self.root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    /// The same with standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self.start(args, &[]);
        // A command that ends without reading it is no fault of the test.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs a command that must end with 0, and returns what it printed.
    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    /// Stores a secret.
    pub fn secret(&self, name: &str, value: &str) {
        let ran = self.run_with(&["secret", "set", name], value);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }

    /// Starts the daemon; returns once it listens on its control socket.
    pub fn daemon(&self, args: &[&str]) -> Daemon {
        let mut daemon = self.launch(args, &[]);
        self.listens(&mut daemon);
        daemon
    }

    /// Starts the daemon, with more variables, and does not wait for it.
    pub fn launch(&self, args: &[&str], more: &[(&str, &str)]) -> Daemon {
        let mut child = self.start(&[&["run"], args].concat(), more);
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut stderr = child.stderr.take().unwrap();
        let into = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length) = stderr.read(&mut buffer)
                && length > 0
            {
                into.lock().unwrap_or_else(PoisonError::into_inner).extend(buffer.iter().take(length));
            }
        });
        Daemon { child, log, reader: Some(reader) }
    }

    /// Waits until this daemon listens. A command that comes earlier finds none and plays it.
    pub fn listens(&self, daemon: &mut Daemon) {
        let socket = self.path("state/run/control.sock");
        wait_until("the daemon to listen", || {
            let ended = daemon.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", daemon.log());
            UnixStream::connect(&socket).is_ok_and(|stream| is_of(&stream, &daemon.child))
        });
    }

    /// `status --json`, and its exit code.
    pub fn status(&self) -> (StatusView, i32) {
        let ran = self.run(&["status", "--json"]);
        let view = serde_json::from_str(&ran.out);
        (view.unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err)), ran.code.unwrap())
    }

    /// Asks for the status until it is as wanted.
    pub fn status_when(&self, what: &str, wanted: impl Fn(&StatusView) -> bool) -> (StatusView, i32) {
        let mut last = self.status();
        let deadline = Instant::now() + LONG;
        while !wanted(&last.0) {
            assert!(Instant::now() < deadline, "waited for {what}: {:#?}", last.0);
            std::thread::sleep(LOOK_EVERY);
            last = self.status();
        }
        last
    }
}

/// The process behind the socket. A killed daemon may listen for an instant longer, in a child that it was about to
/// start.
#[cfg(target_os = "linux")]
fn is_of(stream: &UnixStream, child: &Child) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream).unwrap();
    peer.pid == rustix::process::Pid::from_child(child)
}

#[cfg(not(target_os = "linux"))]
fn is_of(_stream: &UnixStream, _child: &Child) -> bool {
    true
}

/// A unit by its full name.
pub fn unit<'a>(view: &'a StatusView, name: &str) -> &'a UnitView {
    let found = view.units.iter().find(|unit| unit.unit == name);
    found.unwrap_or_else(|| panic!("no {name} in {view:#?}"))
}

/// Looks again and again, until it is so.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited for {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A running daemon; killed when dropped.
pub struct Daemon {
    child: Child,
    log: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl Daemon {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to standard error so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end: how it ended and its whole log.
    pub fn end(mut self) -> (ExitStatus, String) {
        let mut ended = None;
        wait_until("the daemon to end", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        let status = ended.unwrap();
        self.reader.take().unwrap().join().unwrap();
        (status, self.log())
    }

    /// An orderly stop; its whole log.
    pub fn stop(self) -> String {
        self.signal(Signal::TERM);
        let (status, log) = self.end();
        assert!(status.success(), "{status:?}: {log}");
        log
    }

    /// `kill -9`; its whole log. One that ended by itself before is a failure.
    pub fn kill(self) -> String {
        self.signal(Signal::KILL);
        let (status, log) = self.end();
        assert_eq!(status.signal(), Some(9));
        log
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if std::thread::panicking() {
            #[expect(clippy::print_stdout, reason = "for whoever reads the failure")]
            let () = println!("{}", self.log());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every process below `pid`, itself included, as the kernel tells: pid and command line.
pub fn command_lines(pid: u32) -> Vec<(u32, Vec<OsString>)> {
    use std::os::unix::ffi::OsStringExt;
    let mut lines = Vec::new();
    let mut todo = vec![pid];
    while let Some(pid) = todo.pop() {
        let Ok(bytes) = std::fs::read(format!("/proc/{pid}/cmdline")) else { continue };
        let words = bytes.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect();
        lines.push((pid, words));
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            todo.extend(children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
        }
    }
    lines
}
