//! A real server started by a script of `tests/lab`, and gone with what started it: one for the tests of a whole run, or
//! one of a test's own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::OnceLock;

/// The ring is switched on, or a word about it. Switched on, what is not installed is a failure.
pub fn lab_is_on() -> bool {
    let on = is_switched_on();
    if !on {
        #[expect(clippy::print_stdout, reason = "seen by whoever wonders why a test was so quick")]
        let () = println!("this is a test of the ring of real peers; WORKAGENT_LAB=1 runs it");
    }
    on
}

/// The same for a test that does something elsewhere too.
pub fn is_switched_on() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the switch of a ring of tests")]
    std::env::var("WORKAGENT_LAB").is_ok_and(|value| value == "1")
}

pub struct LabScript {
    facts: BTreeMap<String, String>,
    /// Its standard input ends with this value, or with this process, and it with that.
    script: Child,
    told: BufReader<ChildStdout>,
}

impl LabScript {
    /// What `tests/lab/NAME.sh run` started for all tests of a run, or `None` (and a word about it) where the ring is
    /// not switched on.
    pub fn of(lab: &'static OnceLock<Self>, name: &str) -> Option<&'static Self> {
        lab_is_on().then(|| lab.get_or_init(|| Self::start(name)))
    }

    /// Starts it, and waits until it is ready.
    pub fn start(name: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(&format!("workagent-{name}-")).tempdir().unwrap().keep();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/lab/{name}.sh"));
        #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
        let mut command = std::process::Command::new("bash");
        let mut script = command
            .arg(path)
            .arg("run")
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(script.stdout.take().unwrap());
        let mut lab = Self { facts: BTreeMap::new(), script, told };
        loop {
            let line = lab.line();
            assert!(
                !line.is_empty(),
                "the {name} lab did not start; `bash tests/lab/{name}.sh install` installs what it needs"
            );
            if line == "ready" {
                return lab;
            }
            let (key, value) = line.split_once('=').unwrap();
            lab.facts.insert(key.to_owned(), value.to_owned());
        }
    }

    pub fn fact(&self, key: &str) -> &str {
        self.facts.get(key).unwrap_or_else(|| panic!("no {key}"))
    }

    /// Has it do something; returns when it is done.
    pub fn does(&mut self, word: &str) {
        writeln!(self.script.stdin.as_mut().unwrap(), "{word}").unwrap();
        assert_eq!(self.line(), "done", "{word}");
    }

    /// The next line it says; empty at the end.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for LabScript {
    fn drop(&mut self) {
        // The end of its input ends the script, which takes its server with it.
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}
