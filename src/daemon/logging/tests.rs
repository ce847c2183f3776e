use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use super::*;
use crate::model::time::Timestamp;
use crate::secret::SecretValue;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logged(target: LogTarget, filter: &str, story: impl FnOnce()) -> String {
    let scrubber = Scrubber::new();
    scrubber.register(&SecretValue::new("canary-0123456789".into()));
    let clock = Clock::manual(Timestamp(1_796_025_600_123));
    let options = LogOptions { filter: filter.to_owned(), target, clock, scrubber };
    let captured = Captured::default();
    let writer = captured.clone();
    tracing::subscriber::with_default(subscriber(&options, move || writer.clone()).unwrap(), story);
    let bytes = captured.0.lock().unwrap().clone();
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
    insta::assert_snapshot!(shown, @"2026-11-30T08:00:00Z  INFO sync: workagent: polled new_items=3 unit=\"inbox.connector\"");
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
    let error = subscriber(&options, io::sink).err().unwrap();
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
