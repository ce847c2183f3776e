//! Real agent CLIs for the ring of real peers: installed by `tests/lab/engines.sh`, talking to a server that plays their
//! models.

#![expect(clippy::indexing_slicing, reason = "JSON without a key is null")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab")
}

/// The program of an engine that is too large to be installed everywhere; `None` where it is not.
pub fn installed(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
    let out = Command::new("bash").arg(lab().join("engines.sh")).args(["path", name]).output().unwrap();
    out.status.success().then(|| String::from_utf8(out.stdout).unwrap().trim().into())
}

/// The program of an engine.
pub fn program(name: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
    let out = Command::new("bash").arg(lab().join("engines.sh")).args(["path", name]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim().into()
}

/// A server that plays the models of all vendors; gone when dropped.
pub struct Models {
    child: Child,
    pub url: String,
}

impl Models {
    /// `mode`: what it answers, one word a request, the last one for all that follow; see the script.
    pub fn start(mode: &str, args: &[&str]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
        let mut child = Command::new("python3")
            .arg(lab().join("llm-stub.py"))
            .args(["--port", "0", "--mode", mode, "--max-seconds", "300"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
        Self { url: url.to_owned(), child }
    }

    /// The requests so far, as JSON.
    pub fn log(&self) -> String {
        let host = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /__stub/log HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// The tools that a model was offered, where bodies are logged.
    pub fn tools(&self) -> Vec<String> {
        let log: Vec<serde_json::Value> = serde_json::from_str(&self.log()).unwrap();
        let of = |tool: &serde_json::Value| {
            let declared = tool["functionDeclarations"].as_array().cloned().unwrap_or_default();
            let names = declared.iter().chain([&tool["function"]]).filter_map(|tool| tool["name"].as_str());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        log.iter()
            .flat_map(|entry| entry["body"]["tools"].as_array().cloned().unwrap_or_default())
            .flat_map(|tool| of(&tool))
            .collect()
    }

    /// How often a model was asked so far.
    pub fn asked(&self) -> usize {
        let log: Vec<serde_json::Value> = serde_json::from_str(&self.log()).unwrap();
        log.iter().filter(|entry| entry.get("mode").is_some_and(|mode| mode != "-")).count()
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processes whose environment names this folder, daemons aside: those that an engine left behind.
pub fn left_behind(root: &Path) -> Vec<String> {
    let root = root.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let of = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let environment = String::from_utf8_lossy(&of("environ")).into_owned();
        if environment.contains("WORKAGENT_RUN=") && environment.contains(&root) {
            found.push(String::from_utf8_lossy(&of("cmdline")).replace('\0', " "));
        }
    }
    found
}
