//! A scene: a Maildir, a folder for notes, two engines and the routes between them, in a house of its own.

use std::fs;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use workagent::model::case::{Case, CaseState};
use workagent::store::CaseRecord;

use super::binary::{Daemon, House, wait_until};

/// Takes the case, tells who runs it, works for as long as `engine.seconds` says, answers.
const ENGINE: &str = r#"cat >/dev/null
echo $$ >>{root}/engine.pids
sleep "$(cat {root}/engine.seconds)"
echo '{"reply": "Thank you, I will come back to you."}'
"#;

const DAEMON_UNIT: &str = "[daemon]\nworkers = 4\nstop_timeout = \"{stop_timeout}\"\n";

const INBOX: &str = r#"[connector]
platform = "maildir"
outbound = "{outbound}"
backlog = "all"
hold = "0s"
[maildir]
path = "{root}/mail/inbox"
address = ["you@example.org"]
{exit}
[schedule]
every = "1s"
[install]
enabled = true
"#;

const NOTES: &str = r#"[connector]
platform = "directory"
outbound = "{outbound}"
backlog = "all"
hold = "0s"
[directory]
path = "{root}/notes"
out = "{root}/answers"
done = "{root}/done"
settle = "0s"
[schedule]
every = "1s"
[install]
enabled = true
"#;

const PROGRAM: &str = r#"[engine]
engine = "command"
concurrency = {concurrency}
[command]
program = "/bin/sh"
args = ["{root}/engine.sh"]
output = "json"
[install]
enabled = true
"#;

const POLITE: &str = r#"[engine]
engine = "template"
[template]
text = "Thank you for {{ title }}."
[install]
enabled = true
"#;

const ROUTE: &str =
    "[route]\nengines = [\"{engine}\"]\n[match]\nconnector = [\"{connector}\"]\n[install]\nenabled = true\n";

/// What differs between scenes.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// Of both connectors.
    pub outbound: &'a str,
    /// Engines at once.
    pub concurrency: u32,
    /// How long one works, as `sleep` takes it.
    pub engine_seconds: &'a str,
    /// Of the daemon.
    pub stop_timeout: &'a str,
    /// How mails leave, a key of `[maildir]`.
    pub exit: &'a str,
}

impl Default for Plan<'_> {
    fn default() -> Self {
        Self {
            outbound: "auto",
            concurrency: 2,
            engine_seconds: "0",
            stop_timeout: "20s",
            exit: "out = \"{root}/mail/out\"",
        }
    }
}

pub struct Scene(House);

impl Deref for Scene {
    type Target = House;

    fn deref(&self) -> &House {
        &self.0
    }
}

impl Scene {
    pub fn new(plan: Plan<'_>) -> Self {
        let scene = Self(House::new());
        for folder in ["mail/inbox/new", "mail/inbox/cur", "mail/inbox/tmp", "notes"] {
            fs::create_dir_all(scene.path(folder)).unwrap();
        }
        let routed = |engine: &str, connector: &str| {
            ROUTE.replace("{engine}", engine).replace("{connector}", connector)
        };
        for (name, text) in [
            ("workagent.daemon.toml", DAEMON_UNIT.to_owned()),
            ("inbox.connector.toml", INBOX.replace("{exit}", plan.exit)),
            ("notes.connector.toml", NOTES.to_owned()),
            ("program.engine.toml", PROGRAM.to_owned()),
            ("polite.engine.toml", POLITE.to_owned()),
            ("mails.route.toml", routed("program", "inbox")),
            ("notes.route.toml", routed("polite", "notes")),
        ] {
            let text = text
                .replace("{outbound}", plan.outbound)
                .replace("{concurrency}", &plan.concurrency.to_string())
                .replace("{stop_timeout}", plan.stop_timeout);
            scene.unit(name, &text);
        }
        scene.write("engine.sh", ENGINE);
        scene.engine_seconds(plan.engine_seconds);
        scene
    }

    /// How long the next engines work.
    pub fn engine_seconds(&self, seconds: &str) {
        self.write("engine.seconds", seconds);
    }

    /// Puts a mail into the Maildir as a mail server does: whole or not at all.
    pub fn deliver(&self, id: &str, headers: &str) {
        let mail = format!(
            "From: Sender <{id}@example.org>\nTo: You <you@example.org>\nSubject: About {id}\n\
             Message-ID: <{id}@example.org>\nDate: Mon, 30 Nov 2026 07:00:00 +0000\n{headers}\n\
             Can you tell me more? [{id}]\n"
        );
        let whole = self.write(&format!("mail/inbox/tmp/{id}"), &mail);
        fs::rename(whole, self.path(&format!("mail/inbox/new/{id}"))).unwrap();
    }

    /// Drops a note.
    pub fn drop_note(&self, id: &str) {
        let whole = self.write(&format!("{id}.part"), &format!("What about this? [{id}]\n"));
        fs::rename(whole, self.path(&format!("notes/{id}.md"))).unwrap();
    }

    /// Starts the daemon, to be killed at the nth passing of a crash point if one is given (`after-wire:2`).
    pub fn start(&self, crash_at: Option<&str>) -> Daemon {
        let armed = crash_at.map(|point| ("WORKAGENT_CRASH_AT", point));
        self.launch(&[], armed.as_slice())
    }

    /// A command that prints JSON.
    pub fn json<T: DeserializeOwned>(&self, args: &[&str]) -> T {
        let ran = self.run(args);
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{args:?}: {error}: {ran:?}"))
    }

    pub fn cases(&self) -> Vec<Case> {
        self.json(&["case", "list", "--json", "--limit", "10000"])
    }

    pub fn record(&self, case: &Case) -> CaseRecord {
        self.json(&["case", "show", &case.id.to_string(), "--json"])
    }

    /// Waits until all items were read and nothing is on its way any more.
    pub fn settled(&self, items: usize) -> Vec<Case> {
        use CaseState::{Approved, New, Queued, Review, Running};
        let mut cases = Vec::new();
        wait_until("everything to come to rest", || {
            cases = self.cases();
            let read: u32 = cases.iter().map(|case| case.items).sum();
            let moving =
                cases.iter().any(|case| matches!(case.state, New | Queued | Running | Review | Approved));
            read as usize >= items && !moving
        });
        cases
    }

    /// The processes of all engines that were ever started, oldest first.
    pub fn engines(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.path("engine.pids")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Of these, the ones that are alive.
    pub fn living_engines(&self) -> Vec<i32> {
        self.engines().into_iter().filter(|pid| is_alive(*pid)).collect()
    }

    /// The names in a folder, sorted; none if it is not there.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// Runs, and is not merely waiting to be reaped by whoever adopted it.
#[cfg(target_os = "linux")]
pub fn is_alive(pid: i32) -> bool {
    let text = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

#[cfg(not(target_os = "linux"))]
pub fn is_alive(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}
