//! A person at a terminal: the real binary inside of tmux, keys in, screens out.

use std::path::Path;
use std::time::{Duration, Instant};

use super::binary::LONG;

/// A terminal of its own; gone when dropped.
pub struct Terminal {
    dir: tempfile::TempDir,
    /// Keys pressed.
    pub keys: usize,
}

impl Terminal {
    /// A shell of `columns` by `lines` with exactly this environment.
    pub fn open(columns: u16, lines: u16, environment: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("wa-tmux-").tempdir().unwrap();
        let binaries = Path::new(env!("CARGO_BIN_EXE_workagent")).parent().unwrap().display();
        let variables: String =
            environment.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
        let shell = format!(
            "env -i {variables}PATH={binaries}:/usr/bin:/bin TERM=screen-256color LC_ALL=C.UTF-8 PS1='ready> ' /bin/sh"
        );
        let terminal = Self { dir, keys: 0 };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        terminal.tmux(&[
            "-u",
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "a",
            "-x",
            &columns,
            "-y",
            &lines,
            &shell,
        ]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
        let mut command = std::process::Command::new("tmux");
        let output = command.arg("-S").arg(self.dir.path().join("tmux")).args(args).output();
        let output = output.unwrap_or_else(|error| panic!("tmux: {error}"));
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What is on the screen now.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "a"])
    }

    /// The same with the codes of colours and attributes.
    pub fn painted(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e", "-t", "a"])
    }

    /// The terminal has another size from now on.
    pub fn resize(&self, columns: u16, lines: u16) {
        let (columns, lines) = (columns.to_string(), lines.to_string());
        self.tmux(&["resize-window", "-t", "a", "-x", &columns, "-y", &lines]);
    }

    /// Waits until the screen is as wanted, and gives it.
    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + LONG;
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "waited for {what}:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the screen has this text.
    pub fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Presses keys by their names: `a`, `Enter`, `C-c`.
    pub fn press(&mut self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "-t", "a"], keys].concat());
        self.keys += keys.len();
    }

    /// Types a text.
    pub fn types(&mut self, text: &str) {
        self.tmux(&["send-keys", "-t", "a", "-l", text]);
        self.keys += text.chars().count();
    }

    /// Pastes a text, as a terminal does that tells a paste from keys.
    pub fn paste(&self, text: &str) {
        self.tmux(&["set-buffer", text]);
        self.tmux(&["paste-buffer", "-p", "-t", "a"]);
    }

    /// Types a command at the shell's prompt. What was on the screen is wiped away.
    pub fn command(&mut self, line: &str) {
        self.until("a prompt", |screen| {
            screen.lines().rfind(|line| !line.trim().is_empty()).is_some_and(|line| line.trim() == "ready>")
        });
        self.types(&format!("clear; {line}"));
        self.press(&["Enter"]);
    }

    /// The process that the shell runs now.
    pub fn child(&self) -> rustix::process::Pid {
        let shell = self.tmux(&["display-message", "-p", "-t", "a", "#{pane_pid}"]);
        let shell = shell.trim();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
        let pid = children.split_whitespace().next().unwrap().parse().unwrap();
        rustix::process::Pid::from_raw(pid).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if std::thread::panicking() {
            #[expect(clippy::print_stdout, reason = "for whoever reads the failure")]
            let () = println!("{}", self.screen());
        }
        self.tmux(&["kill-server"]);
    }
}
