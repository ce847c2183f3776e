//! A daemon and an OpenTelemetry collector: what it hears of a case, and what becomes of a collector that is away.

#![expect(
    clippy::indexing_slicing,
    reason = "JSON without a key is null, and a test's helper fails the test"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use crate::support::binary::{House, wait_until};
use crate::support::http::{Answer, HttpServer, Seen};

const TOKEN: &str = "canary-otlp-0123456789abcdef";

/// A folder whose files are answered by themselves, by a program that says its token aloud in an error of its own.
fn house(endpoint: &str) -> House {
    let house = House::new();
    std::fs::create_dir_all(house.path("in")).unwrap();
    house.unit(
        "drop.connector.toml",
        "[connector]\nplatform = \"directory\"\noutbound = \"auto\"\nbacklog = \"all\"\nhold = \"0s\"\n\
         [directory]\npath = \"{root}/in\"\nsettle = \"0s\"\n[schedule]\nevery = \"1s\"\n[install]\nenabled = true\n",
    );
    house.unit(
        "say.engine.toml",
        "[engine]\nengine = \"template\"\n[template]\ntext = \"Yes.\"\n[install]\nenabled = true\n",
    );
    house.unit("all.route.toml", "[route]\nengines = [\"say\"]\n[install]\nenabled = true\n");
    house.unit(
        "workagent.daemon.toml",
        &format!("[otlp]\nendpoint = \"{endpoint}\"\ntoken = {{ secret = \"otlp\" }}\n"),
    );
    house.secret("otlp", TOKEN);
    house
}

/// The records of all requests to this path that were taken.
fn records(server: &HttpServer, path: &str, list: [&str; 3]) -> Vec<Json> {
    let of = |seen: &Seen| {
        let body: Json = serde_json::from_slice(seen.body.as_deref().unwrap_or_default()).unwrap();
        let scoped = &body[list[0]][0];
        assert_eq!(scoped["resource"]["attributes"][0]["value"]["stringValue"], "workagent", "{body}");
        scoped[list[1]][0][list[2]].as_array().cloned().unwrap_or_default()
    };
    server.seen().iter().filter(|seen| seen.target == path).flat_map(of).collect()
}

fn attribute<'a>(record: &'a Json, key: &str) -> Option<&'a str> {
    let all = record["attributes"].as_array()?;
    all.iter().find(|one| one["key"] == key)?["value"]["stringValue"].as_str()
}

/// One case, checked; gives what was heard.
fn told_of_a_case() -> HttpServer {
    // The first request of all comes while the collector is busy: nothing is lost by that.
    let server = HttpServer::start([Answer::new(503, "")]);
    for _ in 0..200 {
        server.push(Answer::ok("{}"));
    }
    let house = house(&server.url(""));
    house.write("in/question.txt", "Is it so?");
    let mut daemon = house.daemon(&[]);
    house.listens(&mut daemon);
    let spans = || records(&server, "/v1/traces", ["resourceSpans", "scopeSpans", "spans"]);
    let named = |name: &str| spans().into_iter().find(|span| span["name"] == name);
    wait_until("the send is told", || named("send").is_some() && named("job").is_some());
    daemon.stop();

    let (job, send) = (named("job").unwrap(), named("send").unwrap());
    assert_eq!(attribute(&job, "workagent.unit"), Some("say.engine"));
    assert_eq!(attribute(&send, "workagent.unit"), Some("drop.connector"));
    assert_eq!(job["traceId"], send["traceId"], "{job} {send}");
    assert_ne!(job["spanId"], send["spanId"]);
    assert_eq!(job["traceId"].as_str().map(str::len), Some(32));
    let nanos = |key: &str| job[key].as_str().unwrap().parse::<u128>().unwrap();
    assert!(nanos("endTimeUnixNano") >= nanos("startTimeUnixNano"));

    let lines = records(&server, "/v1/logs", ["resourceLogs", "scopeLogs", "logRecords"]);
    let said = |text: &str| {
        lines.iter().filter(|line| line["body"]["stringValue"].as_str().unwrap().contains(text)).count()
    };
    // The one that was refused at first came once more; the others once.
    assert!(said("running: ") >= 1, "{lines:?}");
    assert_eq!(said("stopping: intake first"), 1, "{lines:?}");
    for seen in server.seen() {
        assert_eq!(seen.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
        let body = String::from_utf8(seen.body.unwrap_or_default()).unwrap();
        assert!(!body.contains(TOKEN), "{body}");
    }
    server
}

#[test]
fn a_case_is_one_trace_from_job_to_send() {
    told_of_a_case();
}

/// The same by OpenTelemetry's own definitions of the messages. Runs where `WORKAGENT_LAB=1` is set.
#[test]
fn real_definitions_take_what_is_sent() {
    if std::env::var_os("WORKAGENT_LAB").is_none() {
        return;
    }
    let server = told_of_a_case();
    let line = |seen: &Seen| {
        let body = String::from_utf8(seen.body.clone().unwrap_or_default()).unwrap();
        assert!(!body.contains('\n'));
        format!("{} {body}\n", seen.target)
    };
    let sent: String = server.seen().iter().map(line).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/otlp.sh");
    #[expect(clippy::disallowed_methods, reason = "a reader beside the daemon")]
    let mut reader = Command::new("bash");
    reader.arg(script).arg("read").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut reader = reader.spawn().unwrap();
    reader.stdin.take().unwrap().write_all(sent.as_bytes()).unwrap();
    let read = reader.wait_with_output().unwrap();
    assert!(read.status.success(), "{read:?}");
    let read = String::from_utf8(read.stdout).unwrap();
    let counted = |path: &str| -> usize {
        let counts = read.lines().filter_map(|line| line.strip_prefix(path)?.trim().parse::<usize>().ok());
        counts.sum()
    };
    assert!(counted("/v1/logs") >= 3 && counted("/v1/traces") >= 2, "{read}");
}

#[test]
fn a_collector_that_is_away_is_told_once_and_stops_nothing() {
    let house = house("http://127.0.0.1:9");
    let mut daemon = house.daemon(&[]);
    house.listens(&mut daemon);
    wait_until("it is told", || daemon.log().contains("the collector does not take the log"));
    house.write("in/question.txt", "Is it so?");
    wait_until("the case is sent all the same", || {
        house.ok(&["case", "list", "--json"]).contains("\"sent\"")
    });
    // Taken out, it is not asked any more.
    house.unit("workagent.daemon.toml", "");
    house.ok(&["reload"]);
    let log = daemon.stop();
    assert_eq!(log.matches("the collector does not take the log").count(), 1, "{log}");
    assert!(!log.contains(TOKEN), "{log}");
}
