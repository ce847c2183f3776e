//! This test binary once more, as a process of its own that plays one role.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use workagent::model::environment::Environment;

const ROLE: &str = "WORKAGENT_TEST_ROLE";

/// Hanging is a failure, a busy machine is not.
const LONG: Duration = Duration::from_secs(60);

/// The role this process was started for; `None` in the test run itself.
pub fn role() -> Option<(String, Environment)> {
    let environment = Environment::capture();
    let role = environment.get(ROLE)?.to_owned();
    Some((role, environment))
}

/// Says a line to the parent.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("say {line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Waits until the parent lets go (or is gone).
pub fn wait_for_parent() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// A process in its role.
pub struct Again {
    child: Child,
    stdin: Option<ChildStdin>,
    said: mpsc::Receiver<String>,
    err: Option<std::thread::JoinHandle<String>>,
}

impl Again {
    /// Starts `test` (the full name of the test that looks for its role) with a cleared environment but these.
    pub fn start(test: &str, role: &str, environment: &[(&str, &str)]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env_clear()
            .env(ROLE, role)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, said) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // The harness writes "test NAME ... " without an end of line before the first one.
                if let Some((_, line)) = line.split_once("say ") {
                    let _ = sender.send(line.to_owned());
                }
            }
        });
        let mut err = child.stderr.take().unwrap();
        let err = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = err.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { stdin: child.stdin.take(), child, said, err: Some(err) }
    }

    /// The next line it says.
    pub fn hear(&self) -> String {
        self.said.recv_timeout(LONG).unwrap_or_else(|_| "(nothing)".to_owned())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Lets it go on and waits for its end: how it ended and what it wrote to standard error.
    pub fn end(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        (status, self.err.take().unwrap().join().unwrap())
    }

    /// `kill -9`.
    pub fn kill(self) {
        self.signal(rustix::process::Signal::KILL);
        assert_eq!(self.end().0.signal(), Some(9));
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
