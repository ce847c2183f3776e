//! A real `systemd --user` of a user whose home has a space in its name, started by `tests/lab/systemd-user.sh` once for
//! all tests of a run, with a journald beside it; both are gone with it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::binary::{LONG, Ran};
use super::lab_script::LabScript;

/// The journald of all tests of a run: two of them would take each other's socket away.
pub fn journald() -> Option<&'static LabScript> {
    static SCRIPT: OnceLock<LabScript> = OnceLock::new();
    LabScript::of(&SCRIPT, "journald")
}

/// The session of the lab's user, for one test at a time: there is one service of that name.
pub struct Session {
    lab: &'static LabScript,
    _alone: MutexGuard<'static, ()>,
}

impl Session {
    /// With the program installed and nothing else: no service, no units, no state. `None` where the ring is off.
    pub fn fresh() -> Option<Self> {
        static SCRIPT: OnceLock<LabScript> = OnceLock::new();
        static ALONE: Mutex<()> = Mutex::new(());
        journald()?;
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let lab = LabScript::of(&SCRIPT, "systemd-user")?;
        let session = Self { lab, _alone: alone };
        let program = session.home().join("bin/workagent");
        if !program.exists() {
            session.sh("mkdir -p ~/bin");
            std::fs::copy(env!("CARGO_BIN_EXE_workagent"), &program).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        session.clear();
        Some(session)
    }

    /// Takes the service and everything of workagent away.
    fn clear(&self) {
        let lines = "systemctl --user disable --now workagent 2>/dev/null; systemctl --user reset-failed workagent \
                     2>/dev/null; rm -rf ~/.config/workagent ~/.local ~/.config/systemd/user/workagent* ~/notes \
                     ~/answers ~/done ~/another*; systemctl --user daemon-reload";
        self.run(&["sh", "-c", lines]);
    }

    pub fn home(&self) -> PathBuf {
        PathBuf::from(self.lab.fact("HOME"))
    }

    pub fn name(&self) -> &str {
        self.lab.fact("NAME")
    }

    /// Runs a program as the user, in its session; at most for [`LONG`] and then some.
    pub fn run(&self, words: &[&str]) -> Ran {
        let id = self.lab.fact("ID");
        let (home, name) = (self.lab.fact("HOME"), self.name());
        #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
        let mut command = std::process::Command::new("timeout");
        command.arg((LONG.as_secs() * 4).to_string());
        command
            .args(["setpriv", "--reuid", id, "--regid", self.lab.fact("GID"), "--init-groups"])
            .args(words);
        command.env_clear().current_dir(home).stdin(std::process::Stdio::null());
        command.env("PATH", format!("{home}/bin:/usr/local/bin:/usr/bin:/bin")).env("HOME", home);
        command.env("USER", name).env("LOGNAME", name).env("SHELL", "/bin/bash").env("LANG", "C.UTF-8");
        command.env("XDG_RUNTIME_DIR", format!("/run/user/{id}"));
        command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path=/run/user/{id}/bus"));
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs a line of shell that must end with 0; what it printed.
    pub fn sh(&self, line: &str) -> String {
        self.ok(&["sh", "-c", line])
    }

    /// Runs a program that must end with 0; what it printed.
    pub fn ok(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    /// Our own program.
    pub fn workagent(&self, args: &[&str]) -> Ran {
        let program = self.home().join("bin/workagent").display().to_string();
        self.run(&[&[program.as_str()], args].concat())
    }

    /// Writes a file of the user's.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        self.ok(&["mkdir", "-p", path.parent().unwrap().to_str().unwrap()]);
        std::fs::write(&path, text).unwrap();
        let (id, gid) = (self.lab.fact("ID").parse().ok(), self.lab.fact("GID").parse().ok());
        std::os::unix::fs::chown(&path, id, gid).unwrap();
    }

    /// A unit file of workagent's.
    pub fn unit(&self, file: &str, text: &str) {
        self.write(&format!(".config/workagent/units/{file}"), text);
    }

    /// A drop-in of the service's; taken over at once.
    pub fn drop_in(&self, text: &str) {
        self.write(".config/systemd/user/workagent.service.d/test.conf", text);
        self.ok(&["systemctl", "--user", "daemon-reload"]);
    }

    /// A property of the service.
    pub fn property(&self, name: &str) -> String {
        let shown = self.ok(&["systemctl", "--user", "show", "workagent", "-p", name, "--value"]);
        shown.trim().to_owned()
    }

    /// What the journal has of the service, as objects.
    pub fn journal(&self) -> Vec<serde_json::Value> {
        #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
        let synced = std::process::Command::new("journalctl").arg("--sync").status();
        assert!(synced.unwrap().success());
        let lines =
            self.ok(&["journalctl", "--user", "-u", "workagent", "-o", "json", "--all", "--no-pager"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
