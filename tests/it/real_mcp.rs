//! The ring of real peers: MCP servers that others wrote, in both eras of the protocol (`tests/lab/mcp.sh`).

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use workagent::model::item::Backlog;
use workagent::model::outbound::Confirmation;
use workagent::platform::mcp::SPEC;
use workagent::unit::value::{Setting, Value};

use crate::support::connector::{Bench, NOW, text};
use crate::support::lab_script::lab_is_on;

/// What the lab says where something is. Switched on, a lab that is not installed is a failure.
fn lab(what: &str) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/lab/mcp.sh");
    #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
    let told = Command::new("bash").arg(script).arg(what).output().unwrap();
    assert!(told.status.success(), "run `bash tests/lab/mcp.sh install`");
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}

fn map(entries: &[(&str, &str)]) -> Value {
    let one = |(name, value): &(&str, &str)| ((*name).to_owned(), Setting::Text((*value).to_owned()));
    Value::Map(entries.iter().map(one).collect())
}

fn list(words: &[&str]) -> Value {
    Value::List(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Reads, answers the first item, and finds the answer again.
async fn whole_way(bench: &mut Bench) -> Vec<String> {
    let polled = bench.poll().await.unwrap();
    let action = bench.reply(polled.items.first().unwrap(), 7, "Thanks.\nI \"shall\" look at it.");
    let payload = bench.prepare(&action);
    assert_eq!(bench.connector.confirm(&action, &payload, NOW).await.unwrap(), Confirmation::AskAgain);
    bench.connector.deliver(&action, &payload).await.unwrap();
    let found = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
    assert!(matches!(&found, Confirmation::Sent(_)), "{found:?}");
    assert_eq!(bench.poll().await.unwrap().new, [""; 0]);
    polled.new
}

#[tokio::test]
async fn real_server_of_the_era_of_the_handshake() {
    if !lab_is_on() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("memory.jsonl");
    std::fs::write(
        &file,
        r#"{"type":"entity","name":"Roof","entityType":"issue","observations":["It leaks."]}"#,
    )
    .unwrap();
    let keys = [
        ("command", text("node")),
        ("args", list(&[&lab("memory")])),
        ("set", map(&[("MEMORY_FILE_PATH", &file.to_string_lossy())])),
        ("tool", text("read_graph")),
        ("items", text("/entities")),
        ("fields", map(&[("id", "name"), ("title", "name"), ("body", "observations/0")])),
        ("ignore", list(&["observations"])),
        ("send_tool", text("add_observations")),
        (
            "send_arguments",
            text(r#"{ "observations": [{ "entityName": "{entity}", "contents": ["{body}"] }] }"#),
        ),
        ("handle", map(&[("entity", "name")])),
        ("find_tool", text("open_nodes")),
        ("find_arguments", text(r#"{ "names": ["{entity}"] }"#)),
        ("find_items", text("/entities/0/observations")),
    ];
    let mut bench = Bench::new(&SPEC, dir.path(), &keys).backlog(Backlog::All);
    assert!(bench.connector.probe().await.unwrap().ends_with("answers as memory-server 0.6.3"));
    assert_eq!(whole_way(&mut bench).await, ["Roof"]);
}

fn garden() -> Vec<(&'static str, Value)> {
    vec![
        ("tool", text("list_issues")),
        ("arguments", text(r#"{ "page": "{cursor}" }"#)),
        ("items", text("/issues")),
        ("next", text("/next")),
        ("fields", map(&[("id", "number")])),
        ("send_tool", text("comment")),
        ("send_arguments", text(r#"{ "issue": "{issue}", "text": "{body}" }"#)),
        ("handle", map(&[("issue", "number")])),
        ("find_tool", text("list_comments")),
        ("find_arguments", text(r#"{ "issue": "{issue}" }"#)),
        ("find_items", text("/comments")),
    ]
}

fn script() -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/lab/mcp-garden.py").to_string_lossy().into_owned()
}

#[tokio::test]
async fn real_server_of_the_era_without_one() {
    if !lab_is_on() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let own = [("command", text(&lab("python"))), ("args", list(&[&script()]))];
    let keys = [&own, garden().as_slice()].concat();
    for revision in ["auto", "2026-07-28", "2025-11-25"] {
        let keys = [keys.as_slice(), &[("revision", text(revision))]].concat();
        let mut bench = Bench::new(&SPEC, dir.path(), &keys).backlog(Backlog::All);
        assert_eq!(bench.poll().await.unwrap().new, ["Roof", "Gate"], "{revision}");
    }
}

/// Ends with its value.
struct Garden {
    child: Child,
    url: String,
}

impl Garden {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        #[expect(clippy::disallowed_methods, reason = "the lab is no child of the program under test")]
        let mut child = Command::new(lab("python"))
            .args([script(), "http".to_owned(), port.to_string()])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("running on")), "the server did not start");
        // What it says further is read to its end, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://127.0.0.1:{port}/mcp") }
    }
}

impl Drop for Garden {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn real_server_over_http_in_both_eras() {
    if !lab_is_on() {
        return;
    }
    let server = Garden::start();
    let dir = tempfile::tempdir().unwrap();
    for revision in ["auto", "2025-11-25"] {
        let own = [("url", text(&server.url)), ("revision", text(revision))];
        let mut bench =
            Bench::new(&SPEC, dir.path(), &[&own, garden().as_slice()].concat()).backlog(Backlog::All);
        let polled = bench.poll().await.unwrap();
        assert_eq!(polled.new, ["Roof", "Gate"]);
        let number = if revision == "auto" { 7 } else { 8 };
        let action = bench.reply(&polled.items[0], number, "Thanks.");
        let payload = bench.prepare(&action);
        bench.connector.deliver(&action, &payload).await.unwrap();
        let found = bench.connector.confirm(&action, &payload, NOW).await.unwrap();
        assert!(
            matches!(&found, Confirmation::Sent(receipt) if receipt.remote_id.starts_with("70")),
            "{found:?}"
        );
    }
}
