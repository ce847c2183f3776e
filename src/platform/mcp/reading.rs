//! What a unit declares of reading: which tool or resource, with which arguments, and where in the answer the items are.

use serde_json::{Map, Value, json};

use super::pins::Pins;
use super::protocol::{Era, NoContent, resource_content, tool_content};
use super::server::{Server, Session};
use super::spec::template;
use super::wire::Failed;
use crate::http::Effect;
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::Item;
use crate::model::limits;
use crate::model::time::Timestamp;
use crate::platform::fill::fill;
use crate::platform::record::item::{Rules, item};
use crate::platform::record::{Fields, at_path};
use crate::secret::Scrubber;
use crate::unit::value::{Setting, Settings};

/// The declared reading.
pub struct Reading {
    source: Source,
    arguments: Value,
    items: String,
    next: Option<String>,
    resume: bool,
    overlap: std::time::Duration,
    limit: i64,
    fields: Fields,
    kind: String,
    handle: Vec<(String, String)>,
    used: Vec<String>,
    /// Who we are.
    pub rules: Rules,
}

enum Source {
    Tool(String),
    Resource(String),
}

/// Where a walk through the pages stands; a part of the cursor.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Place {
    /// The cursor to ask with.
    pub cursor: Value,
    /// The time of the newest item of all whole walks.
    pub newest: Option<Timestamp>,
    /// The same with the walk that is under way.
    pub seen: Option<Timestamp>,
    /// The era that the server spoke.
    pub era: Option<Era>,
    /// Its tools.
    pub pins: Pins,
}

/// What a walk came to.
pub struct Walked {
    /// In the server's order.
    pub items: Vec<Item>,
    /// Behind them.
    pub place: Place,
    /// The walk came to its end.
    pub whole: bool,
    /// For people.
    pub notes: Vec<String>,
}

impl Reading {
    /// From the checked keys.
    ///
    /// # Errors
    /// `Config`: no tool and no resource, or arguments that are no object.
    pub fn of(settings: &Settings) -> Result<Self, PortError> {
        let source = match (settings.text("tool"), settings.text("resource")) {
            (Some(tool), _) => Source::Tool(tool.to_owned()),
            (None, Some(uri)) => Source::Resource(uri.to_owned()),
            (None, None) => {
                return Err(PortError::new(ErrorClass::Config, "`tool` or `resource` is missing"));
            }
        };
        let used = ["tool", "send_tool", "find_tool"].into_iter().filter_map(|key| settings.text(key));
        let handle =
            settings.map("handle").into_iter().flatten().filter_map(|(name, setting)| match setting {
                Setting::Text(path) => Some((name.clone(), path.clone())),
                Setting::Secret(_) => None,
            });
        Ok(Self {
            arguments: arguments(settings, "arguments")?,
            items: settings.text("items").unwrap_or_default().to_owned(),
            next: settings.text("next").map(str::to_owned),
            resume: settings.flag("resume"),
            overlap: settings.duration("overlap").unwrap_or(std::time::Duration::from_secs(300)),
            limit: settings.integer("limit").unwrap_or(100),
            fields: Fields::new(
                settings.map("fields"),
                settings.list("ignore"),
                settings.text("body_format"),
            ),
            kind: settings.text("kind").unwrap_or("item").to_owned(),
            handle: handle.collect(),
            used: used.map(str::to_owned).collect(),
            rules: Rules {
                program: match &source {
                    Source::Tool(tool) => tool.clone(),
                    Source::Resource(_) => "the server".to_owned(),
                },
                account: settings.text("account").map(str::to_owned),
                send: settings.text("send_tool").is_some(),
            },
            source,
        })
    }

    /// The tool or the resource, for people and for the name of the cursor.
    pub fn what(&self) -> &str {
        match &self.source {
            Source::Tool(name) | Source::Resource(name) => name,
        }
    }

    /// The tools that the unit names are there.
    ///
    /// # Errors
    /// `Config`: one is not. Of the server.
    pub async fn look(&self, session: &mut Session) -> Result<Pins, Failed> {
        if self.used.is_empty() {
            return Ok(Pins::default());
        }
        let tools = session.tools().await?;
        let used: Vec<&str> = self.used.iter().map(String::as_str).collect();
        Pins::of(&tools, &used).map_err(|why| {
            Failed::Port(PortError::caused(ErrorClass::Config, "look at the tools of the MCP server", why))
        })
    }

    /// Walks from `place` to the end of the pages, or as far as one poll goes.
    ///
    /// # Errors
    /// Of the server; `Config` where the answer is not as declared.
    pub async fn walk(&self, server: &Server, place: &Place, now: Timestamp) -> Result<Walked, PortError> {
        let mut session = server.open(place.era).await?;
        let mut walked = Walked {
            items: Vec::new(),
            place: Place { era: Some(session.era), ..place.clone() },
            whole: false,
            notes: Vec::new(),
        };
        match self.pages(&mut session, &mut walked, now).await {
            Ok(()) => {
                session.close().await;
                Ok(walked)
            }
            Err(failed) => {
                let doing = format!("read `{}` of the MCP server", self.what());
                Err(session.explain(failed, &doing, Effect::Read).await)
            }
        }
    }

    async fn pages(&self, session: &mut Session, walked: &mut Walked, now: Timestamp) -> Result<(), Failed> {
        let pins = self.look(session).await?;
        walked.notes = walked.place.pins.changes(&pins);
        walked.place.pins = pins;
        for _ in 0..limits::MCP_PAGES_MAX {
            let asked = walked.place.cursor.clone();
            let since = walked.place.newest.map(|newest| newest.minus(self.overlap));
            let value_of = |name: &str| match name {
                "cursor" => Some(asked.clone()),
                "since" => Some(since.map_or(Value::Null, |since| json!(since.to_string()))),
                "now" => Some(json!(now.to_string())),
                "limit" => Some(json!(self.limit)),
                _ => None,
            };
            let filled = self.filled(&value_of);
            let content = self.ask(session, filled).await?;
            let records = self.records(&content)?;
            let empty = records.is_empty();
            for record in records {
                let item = self.item(record, &session.scrubber);
                // An item from the future would hide all that comes before it.
                walked.place.seen = walked.place.seen.max(item.at.map(|at| at.min(now)));
                walked.items.push(item);
            }
            let next = self.next.as_ref().and_then(|pointer| content.pointer(pointer));
            let next = next.filter(|next| !next.is_null() && **next != json!("")).cloned();
            let shown = next.as_ref().map(Value::to_string).unwrap_or_default();
            if shown.len() > limits::MCP_CURSOR_BYTES_MAX {
                return Err(config("the cursor of its next page is too large"));
            }
            // It is kept in the database, where no secret may be.
            if session.scrubber.mask_whole(&shown) != shown {
                return Err(config("the cursor of its next page holds a secret, which is not kept"));
            }
            // A page that leads to itself, and an empty one that leads on, are ends: both have been seen in the wild.
            if next.is_none() || next.as_ref() == Some(&asked) || empty {
                walked.place.cursor = if self.resume { next.unwrap_or(asked) } else { Value::Null };
                walked.place.newest = walked.place.newest.max(walked.place.seen);
                walked.place.seen = None;
                walked.whole = true;
                return Ok(());
            }
            walked.place.cursor = next.unwrap_or_default();
            if walked.items.len() >= limits::MCP_ITEMS_MAX {
                break;
            }
        }
        Ok(())
    }

    /// What is asked with these values: arguments, or a URI.
    fn filled(&self, value_of: &dyn Fn(&str) -> Option<Value>) -> Value {
        match &self.source {
            Source::Tool(_) => fill(&self.arguments, value_of),
            Source::Resource(uri) => fill(&json!(uri), value_of),
        }
    }

    async fn ask(&self, session: &mut Session, filled: Value) -> Result<Value, Failed> {
        let content = match &self.source {
            Source::Tool(tool) => tool_content(&session.call_tool(tool, filled, Effect::Read).await?),
            Source::Resource(_) => {
                let params = Map::from_iter([("uri".to_owned(), filled)]);
                resource_content(
                    &session.call("resources/read", params, "read the resource", Effect::Read).await?,
                )
            }
        };
        content.map_err(|none| no_content(none, &session.scrubber))
    }

    /// A list, or one thing.
    fn records<'a>(&self, content: &'a Value) -> Result<Vec<&'a Value>, Failed> {
        records(content, &self.items)
    }

    fn item(&self, record: &Value, scrubber: &Scrubber) -> Item {
        let wrapped;
        let record = if record.is_object() {
            record
        } else {
            wrapped = json!({ "text": record });
            &wrapped
        };
        let id = [self.fields.named("id").unwrap_or("id").to_owned()];
        let mut given = self.fields.item("", record, Some(&id), scrubber);
        if let Some(given) = given.as_object_mut() {
            given.insert("kind".to_owned(), json!(self.kind));
            let parts: Option<Map<String, Value>> = self
                .handle
                .iter()
                .map(|(name, path)| {
                    Some((name.clone(), at_path(record, path).filter(|value| !value.is_null())?.clone()))
                })
                .collect();
            if let Some(parts) = parts.filter(|_| self.rules.send) {
                given.insert("reply_handle".to_owned(), Value::Object(parts));
                given.insert("reply_place".to_owned(), json!(format!("by the MCP tool of {}", self.what())));
            }
        }
        item(&given, &self.rules, scrubber)
    }
}

/// A template of arguments, an empty object where there is none.
pub fn arguments(settings: &Settings, key: &str) -> Result<Value, PortError> {
    match settings.text(key) {
        None => Ok(json!({})),
        Some(text) => {
            template(text).map_err(|why| PortError::new(ErrorClass::Config, format!("`{key}` {why}")))
        }
    }
}

/// The list at a pointer; one thing there is a list of one, and no content none.
pub fn records<'a>(content: &'a Value, pointer: &str) -> Result<Vec<&'a Value>, Failed> {
    match content.pointer(pointer) {
        Some(Value::Array(records)) => Ok(records.iter().collect()),
        Some(Value::Null) => Ok(Vec::new()),
        Some(one) => Ok(vec![one]),
        None if content.is_null() => Ok(Vec::new()),
        None => Err(config(&format!("its answer has nothing at `{pointer}`"))),
    }
}

fn config(why: &str) -> Failed {
    Failed::Port(PortError::caused(ErrorClass::Config, "read the answer of the MCP server", why.to_owned()))
}

/// A failed tool may work later; what it answers does not change by asking again.
pub fn no_content(none: NoContent, scrubber: &Scrubber) -> Failed {
    match none {
        NoContent::Failed(words) => {
            let words =
                if words.is_empty() { "it gives no reason".to_owned() } else { scrubber.scrub_owned(words) };
            let why = format!("the tool failed: {words}");
            Failed::Port(PortError::caused(failure_class(&why), "read the answer of the MCP server", why))
        }
        NoContent::WantsInput => config("the tool asks for input, which nobody can give it here"),
        NoContent::Prose(begins) => {
            let begins = scrubber.scrub_owned(begins);
            config(&format!("it is text and no JSON, so no items can be found in it: {begins}"))
        }
    }
}

/// Tools have no codes. Words that only refused credentials have are believed, since all that hangs on it is how long
/// we wait; everything else may pass.
fn failure_class(words: &str) -> ErrorClass {
    let words = words.to_ascii_lowercase();
    let refused = [
        "unauthorized",
        "unauthorised",
        "bad credentials",
        "invalid token",
        "token expired",
        "authentication failed",
    ];
    if refused.iter().any(|sign| words.contains(sign)) { ErrorClass::Auth } else { ErrorClass::NETWORK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_tool_is_tried_again_unless_it_was_refused() {
        let class = |words: &str| match no_content(NoContent::Failed(words.to_owned()), &Scrubber::new()) {
            Failed::Port(error) => error.class,
            _ => panic!("no port error"),
        };
        assert_eq!(class("HTTP 502"), ErrorClass::NETWORK);
        assert_eq!(class(""), ErrorClass::NETWORK);
        assert_eq!(class("401 Bad credentials"), ErrorClass::Auth);
    }

    #[test]
    fn lists_are_where_they_are_declared() {
        let count =
            |content: Value, pointer: &str| records(&content, pointer).ok().map(|records| records.len());
        assert_eq!(count(json!({ "a": { "b": [1, 2] } }), "/a/b"), Some(2));
        assert_eq!(count(json!([1, 2, 3]), ""), Some(3));
        assert_eq!(count(json!({ "a": null }), "/a"), Some(0));
        assert_eq!(count(Value::Null, "/a"), Some(0));
        assert_eq!(count(json!({ "id": 1 }), ""), Some(1));
        assert_eq!(count(json!({ "b": [] }), "/a"), None);
    }
}
