use std::io;
use std::sync::{Arc, Mutex};

use super::*;
use crate::model::time::Timestamp;
use crate::secret::SecretValue;

type Bytes = Arc<Mutex<Vec<u8>>>;

fn captured(options: &LogOptions) -> (Log, Bytes, Box<dyn Subscriber + Send + Sync>) {
    let bytes = Bytes::default();
    let to = Arc::clone(&bytes);
    let (log, subscriber) =
        subscriber(options, move |line: &[u8]| to.lock().unwrap().extend_from_slice(line)).unwrap();
    (log, bytes, subscriber)
}

fn logged(target: LogTarget, filter: &str, story: impl FnOnce()) -> String {
    logged_by(target, filter, |_| story())
}

fn logged_by(target: LogTarget, filter: &str, story: impl FnOnce(&Log)) -> String {
    let scrubber = Scrubber::new();
    scrubber.register(&SecretValue::new("canary-0123456789".into()));
    let clock = Clock::manual(Timestamp(1_796_025_600_123));
    let options = LogOptions { filter: filter.to_owned(), target, clock, scrubber };
    let (log, captured, subscriber) = captured(&options);
    tracing::subscriber::with_default(subscriber, || story(&log));
    let bytes = captured.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

const PLAIN: LogTarget = LogTarget::Text { colour: false };

#[test]
fn a_line_has_time_level_unit_and_text() {
    let shown = logged(PLAIN, "info", || {
        let _in = tracing::info_span!("sync", unit = "inbox.connector").entered();
        tracing::info!(target: "workagent", new_items = 3, "polled");
        tracing::debug!(target: "workagent", "not asked for");
    });
    insta::assert_snapshot!(shown, @"2026-11-30T08:00:00Z  INFO inbox.connector: polled new_items=3");
}

#[test]
fn secrets_are_masked_at_every_level_and_in_every_place() {
    for target in [PLAIN, LogTarget::Text { colour: true }, LogTarget::Json] {
        let shown = logged(target, "trace", || {
            let _in = tracing::trace_span!("s", url = "http://x/?k=canary-0123456789").entered();
            tracing::trace!(target: "hyper", headers = ?[("authorization", "canary-0123456789")], "canary-0123");
            tracing::error!(cause = %io::Error::other("canary-0123456789"), "Y2FuYXJ5LTAxMjM0NTY3ODk=");
        });
        assert!(!shown.contains("canary") && !shown.contains("Y2FuYXJ5"), "{shown}");
        assert!(shown.matches("[masked]").count() >= 5, "{shown}");
    }
}

#[test]
fn json_lines_stay_json() {
    let shown = logged(LogTarget::Json, "info", || {
        tracing::info!(at = 1, "x \"canary-0123456789\"\n{}", "y".repeat(99_999));
    });
    let value: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let message = value["fields"]["message"].as_str().unwrap();
    assert!(message.starts_with("x \"[masked]\"\nyyy"), "{message}");
    assert!(message.len() <= crate::model::limits::LOG_EVENT_BYTES_MAX);
}

#[test]
fn foreign_text_makes_up_no_line_and_no_colour() {
    let shown = logged(
        PLAIN,
        "info",
        || tracing::info!(target: "t", "a\n2026-11-30T08:00:00Z  INFO t: forged \u{1b}[31m"),
    );
    assert_eq!(shown.lines().filter(|line| line.starts_with("2026")).count(), 1);
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn a_huge_event_is_cut() {
    let shown = logged(PLAIN, "info", || tracing::info!(target: "t", "{}", "x".repeat(1_000_000)));
    assert!(shown.len() < crate::model::limits::LOG_EVENT_BYTES_MAX + 100 && shown.contains("bytes more)"));
}

#[test]
fn a_bad_filter_is_said() {
    let options = LogOptions {
        filter: "workagent=loud".to_owned(),
        target: PLAIN,
        clock: Clock::system(),
        scrubber: Scrubber::new(),
    };
    let error = subscriber(&options, |_| {}).err().unwrap();
    assert_eq!(error.to_string(), "read the log filter `workagent=loud`");
}

#[test]
fn the_journal_only_where_standard_error_leads_there() {
    let found = rustix::fs::fstat(io::stderr().as_fd()).unwrap();
    let of = |stream: &str| LogTarget::of(&Environment::of([("JOURNAL_STREAM", stream)]));
    assert_eq!(of(&format!("{}:{}", found.st_dev, found.st_ino)), LogTarget::Journal);
    for other in ["1:1", "", "x", &format!("{}:1", found.st_dev)] {
        assert_ne!(of(other), LogTarget::Journal);
    }
}

#[test]
fn json_lines_carry_what_they_are_about() {
    let shown = logged_by(LogTarget::Json, "info", |log| {
        log.set_generation(7);
        let job = tracing::info_span!("job", unit = "main.engine", case = "c12", run = tracing::field::Empty);
        let _in = job.enter();
        job.record("run", "r9");
        tracing::warn!(target: "workagent::runtime", until = "later", "parked");
    });
    insta::assert_snapshot!(shown, @r#"{"timestamp":"2026-11-30T08:00:00Z","level":"WARN","target":"workagent::runtime","unit":"main.engine","case":"c12","run":"r9","generation":"7","fields":{"message":"parked","until":"later"}}"#);
}

#[test]
fn levels_change_live_for_one_unit_and_go_back() {
    let talk = || {
        for unit in ["a.connector", "b.connector"] {
            let _in = tracing::info_span!("pass", unit).entered();
            tracing::debug!(target: "workagent::x", "detail");
            tracing::trace!(target: "hyper::client", "bytes");
        }
    };
    let shown = logged_by(PLAIN, "info", |log| {
        talk();
        log.set_by_hand(
            Some("a.connector"),
            Some("trace".parse().unwrap()),
            Some(std::time::Duration::from_secs(60)),
        );
        talk();
        log.set_usual(&"info,b.connector=debug".parse().unwrap());
        talk();
        // The hour of the test stands still; the look is told a later one.
        log.look(log.next_due().unwrap());
        talk();
    });
    let shown: Vec<&str> = shown.lines().map(|line| line.split_once("Z ").unwrap().1).collect();
    assert_eq!(
        shown,
        [
            "DEBUG a.connector: workagent::x: detail",
            "TRACE a.connector: hyper::client: bytes",
            "DEBUG a.connector: workagent::x: detail",
            "TRACE a.connector: hyper::client: bytes",
            "DEBUG b.connector: workagent::x: detail",
            " INFO the log levels set by hand have run out",
            "DEBUG b.connector: workagent::x: detail",
        ]
    );
}

#[test]
fn a_failing_loop_is_counted() {
    let shown = logged_by(PLAIN, "info", |log| {
        for nth in 0..10_000 {
            tracing::warn!(target: "workagent::x", unit = "a.connector", "no answer from port {nth}");
        }
        log.flush();
    });
    assert_eq!(shown.lines().count(), 6, "{shown}");
    assert!(shown.contains("repeated 9995 times within an hour: no answer from port 0"), "{shown}");
}
