//! GitHub's own description of its API, served by Prism, and recorded answers of GitHub, from `tests/lab/github-spec.sh`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::lab_script::LabScript;

fn script() -> Command {
    #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
    let mut command = Command::new("bash");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/github-spec.sh"));
    command
}

/// Prism over the description; it ends with its value.
pub struct Spec(LabScript);

impl Spec {
    pub fn start() -> Self {
        Self(LabScript::start("github-spec"))
    }

    fn host(&self) -> &str {
        self.0.fact("URL").strip_prefix("http://").unwrap()
    }

    /// What the description says to a request: the status and the body. 500 is about one of its own examples.
    pub fn judge(
        &self,
        method: &str,
        target: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let mut head =
            format!("{method} {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.host());
        for (name, value) in headers {
            // Prism knows answers by `application/json` alone, not by the name that GitHub asks its users to write.
            if !["host", "connection", "content-length", "accept"].contains(&name.to_lowercase().as_str()) {
                head += &format!("{name}: {value}\r\n");
            }
        }
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }
}

/// The recorded answers of one scenario, in order.
pub fn recorded(scenario: &str) -> Vec<serde_json::Value> {
    let out = script().arg("fixtures").output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let folder = PathBuf::from(String::from_utf8(out.stdout).unwrap().trim());
    let text = std::fs::read_to_string(folder.join(scenario).join("normalized-fixture.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}
