//! Secret values in every mouth, at the most talkative level: none gets into the log of a real process.

use std::time::Duration;

use reqwest::header::HeaderName;
use sqlx::ConnectOptions;
use workagent::daemon::logging::{LogOptions, LogTarget, init};
use workagent::http::{Credentials, HttpRequest, HttpRoom};
use workagent::model::class::chain;
use workagent::model::time::Clock;
use workagent::secret::{Scrubber, SecretValue};

use crate::support::again::{self, Again};
use crate::support::http::{Answer, HttpServer};

/// Name and value, as the case has them; `\n` stands for a line break.
const CANARIES: &str = include_str!("../fixtures/redaction/canaries.tsv");

fn canaries() -> Vec<String> {
    let values = CANARIES.lines().skip(1).filter_map(|line| line.split('\t').nth(1));
    values.map(|value| value.replace("\\n", "\n")).collect()
}

/// Not a test: the talkative process.
#[test]
fn in_role() {
    let Some((role, environment)) = again::role() else { return };
    let scrubber = Scrubber::new();
    if role == "masked" {
        canaries().into_iter().for_each(|value| assert!(scrubber.register(&SecretValue::new(value))));
    }
    let target =
        if environment.get("JSON").is_some() { LogTarget::Json } else { LogTarget::Text { colour: false } };
    init(&LogOptions { filter: "trace".to_owned(), target, clock: Clock::system(), scrubber }).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(talk(environment.get("URL").unwrap()));
    for canary in canaries() {
        std::thread::spawn(move || panic!("assertion failed: token == {canary:?}")).join().unwrap_err();
    }
}

async fn talk(url: &str) {
    let room = HttpRoom::default();
    for canary in canaries() {
        let value = SecretValue::new(canary.clone());
        let span = tracing::info_span!("sync", unit = "inbox.connector", token = canary);
        let _in = span.enter();
        tracing::debug!(config = ?[("token", &canary)], "loaded");
        tracing::trace!(bytes = ?canary.as_bytes(), "sent");
        let mut address = url::Url::parse(url).unwrap();
        address.query_pairs_mut().append_pair("key", &canary);
        tracing::trace!(%address, "asking");
        let credentials = [
            Credentials::Bearer(value.clone()),
            Credentials::Basic { user: "me".to_owned(), password: value.clone() },
            Credentials::Header(HeaderName::from_static("x-api-key"), value.clone()),
        ];
        for credentials in credentials {
            let request = HttpRequest::get(address.clone())
                .credentials(Some(credentials))
                .total(Duration::from_secs(10));
            match room.send(request).await {
                Ok(answer) => tracing::warn!(body = %String::from_utf8_lossy(&answer.body), "refused"),
                Err(error) => tracing::warn!(error = chain(&error), "failed"),
            }
        }
        let mut connection =
            sqlx::sqlite::SqliteConnectOptions::new().in_memory(true).connect().await.unwrap();
        let statement = format!("SELECT '{}', no_such_column", canary.replace('\'', "''"));
        let result = sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await;
        tracing::error!(error = chain(&result.unwrap_err()), "stored");
    }
}

/// What such a process writes to standard error.
fn log(role: &str, target: &str) -> String {
    let repeated = canaries().join(" and ");
    let server = HttpServer::always(Answer::new(401, format!("you sent {repeated}, that is {repeated:?}")));
    let url = server.url("/feed");
    let environment = [("URL", url.as_str()), ("RUST_BACKTRACE", "1"), ("TARGET", target)];
    let (status, log) = Again::start("redaction::in_role", role, &environment).end();
    assert!(status.success(), "{log}");
    log
}

/// Pieces of eight characters of the values that stand in the text.
fn leaks(log: &str) -> Vec<String> {
    let mut leaks = Vec::new();
    for canary in canaries() {
        let chars: Vec<char> = canary.chars().collect();
        leaks.extend(chars.windows(8).map(String::from_iter).filter(|piece| log.contains(piece)));
    }
    leaks
}

#[test]
fn no_piece_of_a_secret_is_in_the_log() {
    for target in ["text", "json"] {
        let log = log("masked", target);
        assert_eq!(leaks(&log), Vec::<String>::new());
        // The forms they take in Debug of bytes, in a query, in basic credentials ("me:CANARYproxy-18aa").
        for form in
            ["67, 65, 78, 65, 82, 89", "p%40ss", "Q0FOQVJZcHJveHktMTh", "bWU6Q0FOQVJZ", "43414e415259"]
        {
            assert!(!log.contains(form), "{form}");
        }
        assert!(log.matches("[masked]").count() > 100);
        // It did talk, and the rest is legible.
        for part in [
            "loaded",
            "no such column",
            "a fault of workagent itself at tests/it/redaction.rs",
            "inbox.connector",
        ] {
            assert!(log.contains(part), "{part}");
        }
    }
}

#[test]
fn without_the_scrubber_they_would_be() {
    let log = log("unmasked", "text");
    let leaks = leaks(&log);
    assert!(leaks.contains(&"feed-6f1".to_owned()) && leaks.contains(&"proxy-18".to_owned()), "{leaks:?}");
    assert!(log.contains("67, 65, 78, 65, 82, 89") && log.contains("p%40ss"));
}

/// The ring of real peers: journald itself. Runs where `WORKAGENT_LAB=1` is set.
#[test]
fn journald_keeps_fields_and_no_secret() {
    let Some(_journald) = crate::support::lab_systemd::journald() else { return };
    let run = workagent::secret::random::random_hex(8);
    let process = Again::start("redaction::in_journal_role", "journal", &[("RUN", &run)]);
    let (status, rest) = process.end();
    assert!(status.success() && !rest.contains("canary"), "{rest}");
    let entries = journal(&format!("RUN={run}"));
    let entry = |nth: usize, field: &str| entries[nth][field].as_str().unwrap_or_default().to_owned();
    assert_eq!(entries.len(), 3, "{entries:?}");
    assert_eq!(entry(0, "MESSAGE"), format!("inbox.connector: it::redaction: polled run={run} new_items=3"));
    let fields = ["UNIT", "PRIORITY", "SYSLOG_IDENTIFIER", "F_NEW_ITEMS"].map(|field| entry(0, field));
    assert_eq!(fields, ["inbox.connector", "6", "workagent", "3"]);
    // The last digit shares bits with the padding; it stands for no character by itself.
    assert_eq!(
        entry(1, "MESSAGE"),
        format!("inbox.connector: it::redaction: got [masked]\nand [masked]k= run={run}")
    );
    // One datagram is enough for the largest event.
    assert!(entries[2]["MESSAGE"].as_str().unwrap().ends_with("bytes more)"));
}

/// Not a test: the process that writes to the journal.
#[test]
fn in_journal_role() {
    let Some((_, environment)) = again::role() else { return };
    let scrubber = Scrubber::new();
    scrubber.register(&SecretValue::new("canary-0123456789".to_owned()));
    let options = LogOptions {
        filter: "info".to_owned(),
        target: LogTarget::Journal,
        clock: Clock::system(),
        scrubber,
    };
    init(&options).unwrap();
    let run = environment.get("RUN").unwrap();
    let _in = tracing::info_span!("sync", unit = "inbox.connector", run).entered();
    tracing::info!(new_items = 3, "polled");
    tracing::warn!("got canary-0123456789\nand Y2FuYXJ5LTAxMjM0NTY3ODk=");
    let many = "x".repeat(1_000_000);
    tracing::info!(a = many, b = many, c = many, d = many, e = many, f = many, g = many, h = many, "{many}");
}

fn journal(filter: &str) -> Vec<serde_json::Value> {
    let ask = |arguments: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
        let output = std::process::Command::new("journalctl").args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    ask(&["--sync"]);
    let lines = ask(&["-o", "json", "--all", "--no-pager", filter]);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
