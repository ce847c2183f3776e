//! A real server started by a script of `tests/lab` for the tests of one run, and gone with them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::OnceLock;

pub struct LabScript {
    facts: BTreeMap<String, String>,
    /// Its standard input ends with this process, and it with that.
    _script: Child,
}

impl LabScript {
    /// What `tests/lab/NAME.sh run` started, or `None` (and a word about it) where the ring is not switched on.
    /// Switched on, a server that does not start is a failure.
    pub fn of(lab: &'static OnceLock<Self>, name: &str) -> Option<&'static Self> {
        #[expect(clippy::disallowed_methods, reason = "the switch of a ring of tests")]
        let on = std::env::var("WORKAGENT_LAB").is_ok_and(|value| value == "1");
        if !on {
            #[expect(clippy::print_stdout, reason = "seen by whoever wonders why a test was so quick")]
            let () = println!("this is a test of the ring of real peers; WORKAGENT_LAB=1 runs it");
            return None;
        }
        Some(lab.get_or_init(|| Self::start(name)))
    }

    fn start(name: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(&format!("workagent-{name}-")).tempdir().unwrap().keep();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/lab/{name}.sh"));
        #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
        let mut command = std::process::Command::new("bash");
        #[expect(clippy::zombie_processes, reason = "it ends with this process")]
        let mut script = command
            .arg(path)
            .arg("run")
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut facts = BTreeMap::new();
        for line in BufReader::new(script.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line == "ready" {
                return Self { facts, _script: script };
            }
            let (key, value) = line.split_once('=').unwrap();
            facts.insert(key.to_owned(), value.to_owned());
        }
        panic!("the {name} lab did not start; `bash tests/lab/{name}.sh install` installs what it needs");
    }

    pub fn fact(&self, key: &str) -> &str {
        self.facts.get(key).unwrap_or_else(|| panic!("no {key}"))
    }
}
