//! What of the log goes to a collector too: log records, and jobs and sends as spans, in OpenTelemetry's own JSON.
//!
//! Only what is logged is relayed, so levels and the bound on volume hold here as well; every text is masked before it is
//! held. All of one case is one trace, over runs and restarts: its name is made of the case and of this installation.
//! (Shapes: opentelemetry-proto, `logs.proto` and `trace.proto`, in the JSON mapping of the OTLP specification.)

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use tokio::sync::Notify;

use super::event::Entry;
use super::fields::Fields;
use crate::model::limits::{LOG_EVENT_BYTES_MAX, OTLP_HELD_BYTES_MAX};
use crate::model::log_filter::LogLevel;
use crate::model::text::{cut, digest};
use crate::model::time::Timestamp;
use crate::secret::Scrubber;

/// One attribute.
const ATTRIBUTE_BYTES_MAX: usize = 2 * 1024;

/// Attributes of one record.
const ATTRIBUTES_LEN_MAX: usize = 32;

/// What is held until the collector takes it. Cheap to clone; clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Relay(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    on: AtomicBool,
    /// Spans so far, for their names.
    spans: AtomicU64,
    held: Mutex<Held>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Held {
    instance: String,
    records: VecDeque<Record>,
    bytes: usize,
    dropped: u64,
}

/// One thing for the collector.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// A `LogRecord`, or a `Span`.
    pub kind: RecordKind,
    /// Itself.
    pub json: Json,
    bytes: usize,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A `LogRecord`.
    Log,
    /// A `Span`.
    Span,
}

impl Record {
    fn new(kind: RecordKind, json: Json) -> Self {
        let bytes = json.to_string().len();
        Self { kind, json, bytes }
    }
}

/// A span while it lasts: a job or a send.
#[derive(Debug)]
pub struct Lasting {
    /// Sixteen hex digits.
    id: String,
    began: Timestamp,
    /// An error was logged in it.
    failed: bool,
}

impl Lasting {
    /// An event was logged within.
    pub fn saw(&mut self, level: LogLevel) {
        self.failed |= level == LogLevel::Error;
    }
}

impl Relay {
    /// What tells this installation from others, and is the same after a restart: the traces of its cases are named by it.
    pub fn call(&self, instance: &str) {
        instance.clone_into(&mut self.held().instance);
    }

    /// Holds records from now on, or no longer, and forgets those it has.
    pub fn switch(&self, on: bool) {
        self.0.on.store(on, Ordering::Relaxed);
        if !on {
            let mut held = self.held();
            *held = Held { instance: std::mem::take(&mut held.instance), ..Held::default() };
        }
        self.0.news.notify_one();
    }

    /// Somebody takes records.
    pub fn is_on(&self) -> bool {
        self.0.on.load(Ordering::Relaxed)
    }

    /// Waits for the next record, or a change of [`switch`](Self::switch).
    pub async fn news(&self) {
        self.0.news.notified().await;
    }

    /// At most so many of the oldest records.
    pub fn take(&self, most: usize) -> Vec<Record> {
        let mut held = self.held();
        let count = most.min(held.records.len());
        let taken: Vec<Record> = held.records.drain(..count).collect();
        held.bytes = held.bytes.saturating_sub(taken.iter().map(|record| record.bytes).sum());
        taken
    }

    /// Puts records back in front that the collector did not take now.
    pub fn put_back(&self, records: Vec<Record>) {
        let mut held = self.held();
        held.bytes += records.iter().map(|record| record.bytes).sum::<usize>();
        for record in records.into_iter().rev() {
            held.records.push_front(record);
        }
        held.fit();
    }

    /// How many had to be let go since this was asked last.
    pub fn dropped(&self) -> u64 {
        std::mem::take(&mut self.held().dropped)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, record: Record) {
        let mut held = self.held();
        held.bytes += record.bytes;
        held.records.push_back(record);
        held.fit();
        drop(held);
        self.0.news.notify_one();
    }

    /// A span begins.
    pub fn begin(&self, name: &str, fields: &Fields, now: Timestamp) -> Lasting {
        let nth = self.0.spans.fetch_add(1, Ordering::Relaxed);
        let case = fields.get("case").unwrap_or_default();
        let parts = [name.as_bytes(), case.as_bytes(), &now.0.to_le_bytes(), &nth.to_le_bytes()];
        Lasting { id: name_of(&parts, 16), began: now, failed: false }
    }

    /// A span is over.
    pub fn end(&self, name: &str, span: &Lasting, fields: &Fields, now: Timestamp, scrubber: &Scrubber) {
        let status = if span.failed { json!({ "code": 2 }) } else { json!({}) };
        let record = json!({
            "traceId": self.trace_of(fields).unwrap_or_else(|| name_of(&[span.id.as_bytes()], 32)),
            "spanId": span.id,
            "name": name,
            "kind": 1,
            "startTimeUnixNano": nanos(span.began),
            "endTimeUnixNano": nanos(now),
            "attributes": attributes(fields, scrubber),
            "status": status,
        });
        self.hold(Record::new(RecordKind::Span, record));
    }

    /// A line of the log.
    pub fn log(&self, entry: &Entry<'_>, within: Option<&str>, scrubber: &Scrubber) {
        let message = scrubber.scrub(entry.fields.get("message").unwrap_or_default());
        let mut record = json!({
            "timeUnixNano": nanos(entry.at),
            "observedTimeUnixNano": nanos(entry.at),
            "severityNumber": severity(entry.level),
            "severityText": entry.level.word().to_uppercase(),
            "body": { "stringValue": cut(&message, LOG_EVENT_BYTES_MAX) },
            "attributes": attributes(&entry.fields, scrubber),
        });
        if let (Some(trace), Some(object)) = (self.trace_of(&entry.fields), record.as_object_mut()) {
            object.insert("traceId".to_owned(), trace.into());
            if let Some(span) = within {
                object.insert("spanId".to_owned(), span.into());
            }
        }
        self.hold(Record::new(RecordKind::Log, record));
    }

    /// The trace of the case that the fields name.
    fn trace_of(&self, fields: &Fields) -> Option<String> {
        let case = fields.get("case")?;
        Some(name_of(&[b"case", self.held().instance.as_bytes(), case.as_bytes()], 32))
    }
}

impl Lasting {
    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Held {
    /// The oldest go first.
    fn fit(&mut self) {
        while self.bytes > OTLP_HELD_BYTES_MAX {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.bytes);
            self.dropped += 1;
        }
    }
}

/// The first hex digits of a digest: all zeros are no name, and do not come up.
fn name_of(parts: &[&[u8]], digits: usize) -> String {
    let mut name = digest(parts);
    name.truncate(digits);
    name
}

/// 64-bit numbers are text in this JSON.
fn nanos(at: Timestamp) -> String {
    (i128::from(at.0.max(0)) * 1_000_000).to_string()
}

/// `SeverityNumber`: TRACE, DEBUG, INFO, WARN, ERROR.
fn severity(level: LogLevel) -> u8 {
    match level {
        LogLevel::Off | LogLevel::Error => 17,
        LogLevel::Warn => 13,
        LogLevel::Info => 9,
        LogLevel::Debug => 5,
        LogLevel::Trace => 1,
    }
}

/// The fields under our own name, so that they meet no convention of somebody else.
fn attributes(fields: &Fields, scrubber: &Scrubber) -> Vec<Json> {
    let others = fields.0.iter().filter(|(name, _)| name != "message").take(ATTRIBUTES_LEN_MAX);
    others
        .map(|(name, text)| {
            let masked = scrubber.scrub(text);
            json!({ "key": format!("workagent.{name}"), "value": { "stringValue": cut(&masked, ATTRIBUTE_BYTES_MAX) } })
        })
        .collect()
}
