//! A new user in a terminal of 80 by 24: from nothing to the first reviewed answer, against real mail servers. Counts what
//! it takes in keys and seconds. Runs where `WORKAGENT_LAB=1` is set; wants tmux.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::binary::wait_until;
use crate::support::corpus;
use crate::support::lab::{MailLab, mail_lab};

/// What a person may need, at most.
const MINUTES_MAX: u64 = 5;

/// A password that is wrong; it must be found nowhere.
const WRONG: &str = "wrong-canary-8Zq3Lk";

/// Somebody at a terminal, with a home of their own.
struct Person {
    root: tempfile::TempDir,
    begun: Instant,
    keys: usize,
}

impl Person {
    fn new() -> Self {
        let root = tempfile::Builder::new().prefix("wa-").tempdir().unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        let person = Self { root, begun: Instant::now(), keys: 0 };
        let binaries = Path::new(env!("CARGO_BIN_EXE_workagent")).parent().unwrap().display();
        let shell = format!(
            "env -i HOME={} PATH={binaries}:/usr/bin:/bin TERM=screen PS1='ready> ' /bin/sh",
            person.home().display()
        );
        person.tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", &shell]);
        person
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    fn tmux(&self, args: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
        let mut command = std::process::Command::new("tmux");
        let socket = self.root.path().join("tmux");
        let output = command.arg("-S").arg(socket).args(args).output();
        let output = output.unwrap_or_else(|error| panic!("tmux: {error}"));
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Everything that was on the screen; long lines whole.
    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-t", "a", "-S", "-2000"]).trim_end().to_owned()
    }

    /// Waits until the last line asks this, then types the answer and Enter.
    fn answers(&mut self, question: &str, answer: &str) {
        let asked = |screen: &str| screen.lines().next_back().is_some_and(|line| line.contains(question));
        let deadline = Instant::now() + Duration::from_secs(60);
        while !asked(&self.screen()) {
            assert!(Instant::now() < deadline, "waited for \"{question}\":\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(50));
        }
        if !answer.is_empty() {
            self.tmux(&["send-keys", "-t", "a", "-l", answer]);
        }
        self.tmux(&["send-keys", "-t", "a", "Enter"]);
        self.keys += answer.chars().count() + 1;
    }

    /// A command beside the terminal, as the same user.
    fn run(&self, args: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "a test plays the outside")]
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_workagent"));
        let output = command.args(args).env_clear().env("HOME", self.home()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Every file below the home.
    fn files(&self) -> Vec<PathBuf> {
        let (mut found, mut todo) = (Vec::new(), vec![self.home()]);
        while let Some(dir) = todo.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
                if kind.is_dir() {
                    todo.push(path);
                } else if kind.is_file() {
                    found.push(path);
                }
            }
        }
        found
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        if std::thread::panicking() {
            #[expect(clippy::print_stdout, reason = "for whoever reads the failure")]
            let () = println!("{}", self.screen());
        }
        // The daemon outlives the terminal that it was started in.
        let status: serde_json::Value =
            serde_json::from_str(&self.run(&["status", "--json"])).unwrap_or_default();
        let pid =
            status.get("pid").and_then(serde_json::Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        self.tmux(&["kill-server"]);
    }
}

/// The questions about mail, with a password that is wrong at first.
fn mail(person: &mut Person, lab: &MailLab, account: &str) {
    let local = |key: &str| format!("localhost:{}", lab.port(key));
    person.answers("ready>", "workagent init --no-service");
    person.answers("Connect [mail]:", "");
    person.answers("Your mail address:", &format!("{account}@lab.test"));
    person.answers("IMAP server [imap.lab.test]:", &local("IMAPS_PORT"));
    person.answers("SMTP server", &local("SUBMISSIONS_PORT"));
    person.answers("Password (not shown):", WRONG);
    // The lab's certificate is its own.
    person.answers("again or keep", "");
    person.answers("A PEM file", lab.ca());
    person.answers("Password, Enter keeps", "");
    person.answers("again or keep", "");
    assert!(person.screen().contains("AUTHENTICATIONFAILED"), "{}", person.screen());
    person.answers("Password, Enter keeps", lab.password());
}

#[tokio::test]
async fn real_init_leads_from_nothing_to_the_first_reviewed_answer() {
    let Some(lab) = mail_lab() else { return };
    let mail_of = |number: u8| {
        let id = format!("init-{number}");
        corpus::mail("pat-init@lab.test", "init@lab.test", "Friday", &id, "", "Can you come on Friday?")
    };
    lab.fill("init", &[mail_of(1)], |_| false);

    let mut person = Person::new();
    mail(&mut person, lab, "init");
    person.answers("Work on [new]:", "all");
    person.answers("Engine [", "template");
    person.answers("Text, Enter for", "");
    person.answers("Rehearse first", "n");
    assert_eq!(person.files(), Vec::<PathBuf>::new(), "nothing is written before it was accepted");
    person.answers("Write this [yes]:", "");
    person.answers("ready>", "workagent run >~/run.log 2>&1 &");
    let set_up = person.begun.elapsed();
    wait_until("a draft", || person.run(&["review", "list", "--json"]).contains("\"hash\""));
    person.answers("ready>", "clear; workagent review");
    // Keys of the screen; Enter means nothing there.
    person.answers("a approve", "a");
    person.answers("? help  q quit", "q");
    person.answers("ready>", "workagent outbox list");
    let reviewed = person.begun.elapsed();
    wait_until("the answer in the other's mailbox", || lab.lying("pat-init").len() == 1);
    let (keys, sent) = (person.keys, person.begun.elapsed());
    println!("init: {keys} keys; set up after {set_up:.1?}, reviewed {reviewed:.1?}, there {sent:.1?}");
    assert!(sent < Duration::from_secs(60 * MINUTES_MAX), "{sent:?}");

    let (_, answer) = lab.lying("pat-init").remove(0);
    assert!(answer.contains("In-Reply-To: <init-1@lab.test>"), "{answer}");
    for path in person.files() {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(WRONG) && !text.contains(lab.password()), "{}", path.display());
    }
    let screen = person.screen();
    assert!(!screen.contains(WRONG) && !screen.contains(lab.password()), "{screen}");
}

#[tokio::test]
async fn real_init_is_left_by_ctrl_c_without_a_trace() {
    let Some(lab) = mail_lab() else { return };
    let mut person = Person::new();
    person.answers("ready>", "workagent init mail");
    person.answers("Your mail address:", "init@lab.test");
    person.answers("IMAP server", &format!("localhost:{}", lab.port("IMAPS_PORT")));
    person.answers("SMTP server", "-");
    wait_until("the password", || person.screen().ends_with("Password (not shown):"));
    person.tmux(&["send-keys", "-t", "a", "-l", WRONG]);
    person.tmux(&["send-keys", "-t", "a", "C-c"]);
    // The terminal shows again what is typed.
    person.answers("ready>", "echo seen-again");
    wait_until("the echo", || person.screen().contains("\nseen-again\n"));
    let screen = person.screen();
    assert!(screen.contains("nothing was written") && !screen.contains(WRONG), "{screen}");
    assert_eq!(person.files(), Vec::<PathBuf>::new());
}
