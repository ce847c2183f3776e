//! Servers that hold our requests against descriptions that vendors publish; started by `tests/lab/contracts.sh`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that validates; gone when dropped.
pub struct Contract {
    child: Child,
    pub url: String,
}

impl Contract {
    /// Panics where its packages are not installed.
    pub fn start(name: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/contracts.sh");
        #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
        let mut child = Command::new("bash")
            .arg(script)
            .args(["serve", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(
            !line.is_empty(),
            "no contract server; `tests/lab/contracts.sh install` installs what it needs"
        );
        Self { url: line.trim().to_owned(), child }
    }

    /// What was asked, and what is wrong with it.
    pub fn log(&self) -> serde_json::Value {
        let host = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /log HTTP/1.0\r\nhost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// The names of all requests that were held against the description, sorted; panics if one did not stand.
    pub fn validated(&self) -> Vec<String> {
        let log = self.log();
        let entries = log.as_array().unwrap();
        let faulty: Vec<_> = entries
            .iter()
            .filter(|entry| entry.get("errors").is_none_or(|e| *e != serde_json::json!([])))
            .collect();
        assert!(faulty.is_empty(), "{faulty:#?}");
        let mut names: Vec<String> =
            entries.iter().filter_map(|entry| Some(entry.get("name")?.as_str()?.to_owned())).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Drop for Contract {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
