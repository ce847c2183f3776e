//! A writer that masks what passes, one event at a time.

use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use crate::model::limits::LOG_EVENT_BYTES_MAX;
use crate::model::text::cut;
use crate::secret::Scrubber;

/// Makes writers that collect one event, mask it as a whole (a value may be split over several writes) and hand it on
/// in one write.
pub struct Scrubbing<W> {
    inner: W,
    scrubber: Scrubber,
    json: bool,
}

impl<W> Scrubbing<W> {
    pub fn new(inner: W, scrubber: Scrubber, json: bool) -> Self {
        Self { inner, scrubber, json }
    }
}

impl<'w, W: MakeWriter<'w>> MakeWriter<'w> for Scrubbing<W> {
    type Writer = OneEvent<W::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        self.one_event(self.inner.make_writer())
    }

    fn make_writer_for(&'w self, meta: &tracing::Metadata<'_>) -> Self::Writer {
        self.one_event(self.inner.make_writer_for(meta))
    }
}

impl<W> Scrubbing<W> {
    fn one_event<I: Write>(&self, inner: I) -> OneEvent<I> {
        OneEvent { inner, scrubber: self.scrubber.clone(), json: self.json, collected: Vec::new() }
    }
}

/// Collects until it is dropped.
pub struct OneEvent<I: Write> {
    inner: I,
    scrubber: Scrubber,
    json: bool,
    collected: Vec<u8>,
}

impl<I: Write> Write for OneEvent<I> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.collected.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Nothing leaves before the event is whole.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<I: Write> Drop for OneEvent<I> {
    fn drop(&mut self) {
        if self.collected.is_empty() {
            return;
        }
        let event = String::from_utf8_lossy(&self.collected);
        let shown =
            if self.json { json_line(&event, &self.scrubber) } else { text_lines(&event, &self.scrubber) };
        // There is no place left to say that the log cannot be written.
        let _ = self.inner.write_all(shown.as_bytes()).and_then(|()| self.inner.flush());
    }
}

/// Masked, bounded, and with further lines set in, so that foreign text cannot make up a log line.
pub fn text_lines(event: &str, scrubber: &Scrubber) -> String {
    let masked = scrubber.scrub(event.trim_end_matches('\n'));
    let shown = cut(&masked, LOG_EVENT_BYTES_MAX);
    let mut out = shown.replace('\n', "\n    ");
    if shown.len() < masked.len() {
        out.push_str(&format!(" … ({} bytes more)", masked.len() - shown.len()));
    }
    out.push('\n');
    out
}

fn json_line(event: &str, scrubber: &Scrubber) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(event) else {
        return text_lines(event, scrubber);
    };
    scrubber.scrub_json(&mut value);
    bound(&mut value);
    format!("{value}\n")
}

fn bound(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => text.truncate(cut(text, LOG_EVENT_BYTES_MAX).len()),
        serde_json::Value::Array(items) => items.iter_mut().for_each(bound),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(bound),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
