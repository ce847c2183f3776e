//! An event as a line for people or as one JSON object, masked as a whole: a value may be split over several fields.

use super::event::Entry;
use crate::model::limits::LOG_EVENT_BYTES_MAX;
use crate::model::log_filter::LogLevel;
use crate::model::text::{clean, cut};
use crate::secret::Scrubber;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text {
        /// With colour.
        colour: bool,
    },
    /// One JSON object a line.
    Json,
}

/// Fields that have a place of their own beside the message.
pub const PLACED: [&str; 6] = ["unit", "case", "run", "generation", "connector", "engine"];

impl Form {
    /// The line, with its end.
    pub fn line(self, entry: &Entry<'_>, scrubber: &Scrubber) -> String {
        match self {
            Self::Json => json(entry, scrubber),
            Self::Text { colour } => {
                let level = painted(entry.level, colour);
                // Ours, and nothing that could be masked.
                format!("{} {level} {}", entry.at, text_lines(&told(entry), scrubber))
            }
        }
    }
}

/// `inbox.connector: polled new=3`: also what `journalctl` shows without being asked for fields.
pub fn told(entry: &Entry<'_>) -> String {
    let mut text = String::new();
    let unit = entry.fields.get("unit");
    if let Some(unit) = unit {
        text.push_str(unit);
        text.push_str(": ");
    }
    // Where it comes from is of interest to whoever asked for more, and where nothing else says what it is about.
    let foreign = !entry.target.starts_with("workagent");
    if foreign || entry.level > LogLevel::Info {
        text.push_str(entry.target);
        text.push_str(": ");
    }
    text.push_str(entry.fields.get("message").unwrap_or_default());
    let shown = |name: &str| !matches!(name, "message" | "unit" | "generation");
    for (name, value) in entry.fields.0.iter().filter(|(name, _)| shown(name)) {
        text.push_str(&format!(" {name}={value}"));
    }
    text
}

fn painted(level: LogLevel, colour: bool) -> String {
    let word = format!("{:>5}", level.word().to_uppercase());
    let code = match level {
        LogLevel::Off | LogLevel::Error => "31",
        LogLevel::Warn => "33",
        LogLevel::Info => "32",
        LogLevel::Debug => "34",
        LogLevel::Trace => "35",
    };
    if colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word }
}

/// Masked, bounded, without control characters, and with further lines set in, so that foreign text cannot make up a log
/// line.
pub fn text_lines(event: &str, scrubber: &Scrubber) -> String {
    let mut masked = scrubber.scrub(event.trim_end_matches('\n'));
    // Masked as it is and cleaned: what is left out must not hide a value, nor put one together.
    if masked.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        masked = scrubber.scrub_owned(clean(&masked)).into();
    }
    let shown = cut(&masked, LOG_EVENT_BYTES_MAX);
    let mut out = shown.replace('\n', "\n    ");
    if shown.len() < masked.len() {
        out.push_str(&format!(" … ({} bytes more)", masked.len() - shown.len()));
    }
    out.push('\n');
    out
}

fn json(entry: &Entry<'_>, scrubber: &Scrubber) -> String {
    use serde_json::{Map, Value};
    let mut object = Map::new();
    object.insert("timestamp".to_owned(), Value::String(entry.at.to_string()));
    object.insert("level".to_owned(), Value::String(entry.level.word().to_uppercase()));
    object.insert("target".to_owned(), Value::String(entry.target.to_owned()));
    let mut rest = Map::new();
    for (name, text) in &entry.fields.0 {
        let to = if PLACED.contains(&name.as_str()) { &mut object } else { &mut rest };
        to.insert(name.clone(), Value::String(cut(text, 4 * LOG_EVENT_BYTES_MAX).to_owned()));
    }
    object.insert("fields".to_owned(), Value::Object(rest));
    let mut value = Value::Object(object);
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
