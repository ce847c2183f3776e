//! What `route test` reads: a mail, a JSON object, a text with a few lines about it.

use serde::Serialize;
use serde_json::Value;

use crate::model::item::{Item, Party};
use crate::model::limits;
use crate::model::routing::RouteFacts;
use crate::model::text::{clean, cut};
use crate::model::time::Timestamp;
use crate::platform::mail::address::OwnAddresses;
use crate::platform::mail::map::{MailContext, to_item};

/// What routes look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The connector it would come from; may be empty.
    pub connector: String,
    /// The item's kind.
    pub kind: String,
    /// The author's address, may be empty.
    pub author: String,
    /// Labels.
    pub labels: Vec<String>,
    /// One line.
    pub title: String,
    /// The text.
    #[serde(skip)]
    pub body: String,
}

impl Sample {
    /// Reads the text of a file with this ending (`eml`, `json`, anything else), as far as that says what it is.
    ///
    /// # Errors
    /// It should be JSON and is not; a sentence without its text.
    pub fn read(bytes: &[u8], ending: &str) -> Result<Self, String> {
        if ending.eq_ignore_ascii_case("eml") {
            return Ok(Self::of_mail(bytes));
        }
        let text = clean(&String::from_utf8_lossy(bytes));
        if ending.eq_ignore_ascii_case("json") || text.trim_start().starts_with('{') {
            let value: Value = serde_json::from_str(&text).map_err(|error| format!("is no JSON: {error}"))?;
            return Ok(Self::of_json(&value));
        }
        Ok(Self::of_text(&text))
    }

    /// The facts of an item that came now.
    #[must_use]
    pub fn facts(&self, answered: bool, now: Timestamp) -> RouteFacts<'_> {
        RouteFacts {
            connector: &self.connector,
            kind: &self.kind,
            labels: &self.labels,
            author: &self.author,
            answered,
            by_timer: false,
            size_bytes: self.body.len() as u64,
            text: &self.body,
            now,
        }
    }

    fn of_mail(bytes: &[u8]) -> Self {
        let (own, from) = (OwnAddresses::new([]), Party::default());
        let context = MailContext {
            key: String::new(),
            own: &own,
            from: &from,
            received_at: None,
            place: "mail",
            total_bytes: None,
            labels: Vec::new(),
        };
        Self::of_item(to_item(bytes, context))
    }

    fn of_item(item: Item) -> Self {
        Self {
            connector: String::new(),
            kind: item.kind,
            author: item.author.map(|author| author.address).unwrap_or_default(),
            labels: item.labels,
            title: item.title,
            body: item.body,
        }
    }

    /// An item as a program gives it, or as `case show --json` prints it.
    fn of_json(value: &Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let author = match value.get("author") {
            Some(Value::String(address)) => address.clone(),
            Some(author) => author.get("address").and_then(Value::as_str).unwrap_or_default().to_owned(),
            None => String::new(),
        };
        let labels = value.get("labels").and_then(Value::as_array).into_iter().flatten();
        Self {
            connector: text("connector"),
            kind: text("kind"),
            author,
            labels: labels.filter_map(Value::as_str).map(str::to_owned).collect(),
            title: text("title"),
            body: cut(&text("body"), limits::ITEM_TEXT_BYTES_MAX).to_owned(),
        }
    }

    fn of_text(text: &str) -> Self {
        let mut sample = Self { kind: "note".to_owned(), ..Self::default() };
        let head_ends = text.find("\n\n");
        let (head, body) = match head_ends.map(|at| text.split_at(at)) {
            Some((head, body)) if head.lines().all(|line| line.contains(':')) => (head, body),
            _ => ("", text),
        };
        for line in head.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim().to_owned();
            match name.trim().to_ascii_lowercase().as_str() {
                "connector" => sample.connector = value,
                "kind" => sample.kind = value,
                "from" | "author" => sample.author = address(&value),
                "labels" => {
                    sample.labels = value.split(',').map(|label| label.trim().to_owned()).collect();
                }
                "title" | "subject" => sample.title = value,
                _ => {}
            }
        }
        cut(body.trim(), limits::ITEM_TEXT_BYTES_MAX).clone_into(&mut sample.body);
        if sample.title.is_empty() {
            cut(sample.body.lines().next().unwrap_or_default(), 80).clone_into(&mut sample.title);
        }
        sample
    }
}

/// `Pat <pat@example.org>` or the bare address.
fn address(text: &str) -> String {
    let inside = text.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map_or(text, |(address, _)| address).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_say_the_same() {
        let expected = |kind: &str| Sample {
            connector: String::new(),
            kind: kind.to_owned(),
            author: "pat@example.org".to_owned(),
            labels: Vec::new(),
            title: "Lunch".to_owned(),
            body: "On Friday?".to_owned(),
        };
        assert_eq!(
            Sample::of_text("From: Pat <pat@example.org>\nTitle: Lunch\n\nOn Friday?\n"),
            expected("note")
        );
        let json = serde_json::json!({ "kind": "note", "author": { "address": "pat@example.org" }, "title": "Lunch",
            "body": "On Friday?" });
        assert_eq!(Sample::of_json(&json), expected("note"));
        let mail = Sample::of_mail(b"From: Pat <pat@example.org>\r\nSubject: Lunch\r\n\r\nOn Friday?");
        assert_eq!(mail, expected("mail"));
    }

    #[test]
    fn a_text_without_a_head_is_all_body() {
        let sample = Sample::of_text("Hello: this\nis it\n\nbye");
        assert_eq!((sample.title.as_str(), sample.body.len()), ("Hello: this", 22));
    }
}
