//! ntfy: notices are published to a topic; decisions come back on a second one, to which we subscribe outbound.
//!
//! A message on a topic has no sender: whoever knows the topic's name may have written it. So both names are secrets, and
//! a reference is long enough that it cannot be guessed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{self, Api};
use super::{Channel, ChannelContext, ChannelSpec, Heard, Hearing};
use crate::http::{self, HttpRequest};
use crate::model::channel::{Message, Notice};
use crate::model::class::PortError;
use crate::model::limits;
use crate::model::secret_ref::SecretRef;
use crate::model::text::{clean, cut};
use crate::model::time::Timestamp;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: ChannelSpec = ChannelSpec {
    name: "ntfy",
    summary: "Notices to a phone by ntfy, decisions back by a second topic",
    keys: &[
        KeySpec::new("server", ValueType::Url, "The server").default("\"https://ntfy.sh\""),
        KeySpec::new(
            "topic",
            ValueType::Secret,
            "The topic to which notices go. A secret: whoever knows its name can read them",
        )
        .required(),
        KeySpec::new(
            "decisions",
            ValueType::Secret,
            "Another topic, from which decisions are taken; unset, it only tells. A secret: whoever knows its name and a \
             reference can decide",
        ),
        KeySpec::new(
            "buttons",
            ValueType::Bool,
            "Buttons under notices that publish the decision. They hold the name of the topic for decisions, so that \
             whoever can read notices can decide",
        )
        .default("false"),
        KeySpec::new("token", ValueType::Secret, "An access token, where the server wants a login"),
    ],
    check,
    build,
};

/// The largest message that ntfy does not turn into an attachment is 4096 bytes; the rest is for what stands around it.
const TEXT_BYTES_MAX: usize = 3500;

/// Who speaks on a topic.
const WHOEVER: &str = "the topic";

/// From where the first look goes: a pairing code is not older.
const FIRST_LOOK: &str = "10m";

/// A server says at least once a minute that it is there.
const SILENCE_MAX: Duration = Duration::from_secs(120);

struct Ntfy {
    api: Api,
    topic: SecretRef,
    decisions: Option<SecretRef>,
    buttons: bool,
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = api::server_problems(settings, "server");
    let mut say = |key, message: &str| problems.push(KeyProblem { key, message: message.to_owned() });
    let (topic, decisions) = (settings.secret("topic"), settings.secret("decisions"));
    if decisions.is_some() && topic == decisions {
        say("decisions", "is the topic of the notices; what is told must not be heard as a decision");
    }
    if decisions.is_none() && settings.flag("buttons") {
        say("buttons", "needs `decisions`, where what is pressed goes");
    }
    problems
}

fn build(context: ChannelContext) -> Result<Arc<dyn Channel>, PortError> {
    let settings = &context.settings;
    let missing = || PortError::new(crate::model::class::ErrorClass::Config, "`topic` is missing");
    Ok(Arc::new(Ntfy {
        topic: settings.secret("topic").cloned().ok_or_else(missing)?,
        decisions: settings.secret("decisions").cloned(),
        buttons: settings.flag("buttons"),
        api: Api::new(&context, "server")?,
    }))
}

/// A line of a subscription.
#[derive(Deserialize)]
struct Event {
    id: String,
    time: i64,
    event: String,
    #[serde(default)]
    message: String,
}

impl Ntfy {
    async fn publish(&self, title: &str, text: &str, actions: Vec<Value>) -> Result<(), PortError> {
        let topic = self.api.secret(&self.topic, "topic").await?;
        let text = if text.len() > TEXT_BYTES_MAX {
            format!("{}…", cut(text, TEXT_BYTES_MAX))
        } else {
            text.to_owned()
        };
        let mut body = json!({ "topic": topic.expose_to_the_wire(), "title": title, "message": text });
        if !actions.is_empty()
            && let Some(fields) = body.as_object_mut()
        {
            fields.insert("actions".to_owned(), Value::Array(actions));
        }
        self.api.write(Method::POST, self.api.at(&[], &[]), &body).await.map(|_| ())
    }

    /// At most three fit under a notice; what needs words is typed.
    async fn buttons(&self, reference: &str, verbs: &[&str]) -> Result<Vec<Value>, PortError> {
        let Some(decisions) = self.decisions.as_ref().filter(|_| self.buttons) else { return Ok(Vec::new()) };
        let topic = self.api.secret(decisions, "decisions").await?;
        let url = self.api.at(&[topic.expose_to_the_wire()], &[]).to_string();
        let known = [("approve", "Approve", ""), ("reject", "Reject", ""), ("defer", "In 2 hours", " 2h")];
        let shown = known.into_iter().filter(|(verb, ..)| verbs.contains(verb));
        let button = |(verb, label, rest): (&str, &str, &str)| {
            let body = format!("{verb} {reference}{rest}");
            json!({ "action": "http", "label": label, "url": url, "method": "POST", "body": body, "clear": true })
        };
        Ok(shown.map(button).collect())
    }

    async fn subscription(&self, cursor: Option<&str>, poll: bool) -> Result<Option<HttpRequest>, PortError> {
        let Some(decisions) = &self.decisions else { return Ok(None) };
        let topic = self.api.secret(decisions, "decisions").await?;
        let mut query = vec![("since", cursor.unwrap_or(FIRST_LOOK))];
        if poll {
            query.push(("poll", "1"));
        }
        Ok(Some(HttpRequest::get(self.api.at(&[topic.expose_to_the_wire(), "json"], &query))))
    }

    /// Everything behind the cursor.
    async fn look(&self, cursor: Option<&str>) -> Result<Heard, PortError> {
        let Some(request) = self.subscription(cursor, true).await? else { return Ok(Heard::default()) };
        let answer = self.api.send(request).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let mut heard = Heard::default();
        for event in text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok()) {
            if event.event != "message" {
                continue;
            }
            heard.cursor = Some(event.id.clone());
            heard.messages.push(Message {
                id: event.id,
                user: WHOEVER.to_owned(),
                address: String::new(),
                text: clean(&event.message),
                at: Timestamp::from_seconds(event.time),
            });
        }
        // The newest: who floods a topic does not push out what was said last.
        let surplus = heard.messages.len().saturating_sub(limits::CHANNEL_MESSAGES_MAX);
        heard.messages.drain(..surplus);
        Ok(heard)
    }

    /// Returns when something was said, or the time is over.
    async fn bell(&self, cursor: Option<&str>, wait: Duration) -> Result<(), PortError> {
        let Some(request) = self.subscription(cursor, false).await? else { return Ok(()) };
        let mut body = self.api.stream(request.total(wait), SILENCE_MAX.min(wait)).await?;
        let mut line = Vec::new();
        while let Some(piece) = body.next().await {
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) if http::timed_out(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            for byte in piece {
                if byte != b'\n' {
                    line.push(byte);
                    continue;
                }
                let event = serde_json::from_slice::<Event>(&line);
                if event.is_ok_and(|event| event.event == "message") {
                    return Ok(());
                }
                line.clear();
            }
        }
        Ok(())
    }
}

impl Channel for Ntfy {
    fn place(&self) -> String {
        self.api.host()
    }

    fn hearing(&self) -> Hearing {
        if self.decisions.is_some() { Hearing::Waits } else { Hearing::Deaf }
    }

    fn reference_len(&self) -> usize {
        super::REFERENCE_LONG_LEN
    }

    fn tell<'a>(&'a self, notice: &'a Notice, _address: &'a str) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move {
            if !self.buttons || notice.entries.is_empty() {
                return self.publish(&notice.title, &notice.body(), Vec::new()).await;
            }
            // A message each: three buttons are all that one may have.
            for entry in &notice.entries {
                let buttons = match &entry.reference {
                    Some(reference) => self.buttons(reference, entry.verbs).await?,
                    None => Vec::new(),
                };
                let one = Notice { entries: vec![entry.clone()], ..notice.clone() };
                self.publish(&notice.title, &one.body(), buttons).await?;
            }
            Ok(())
        })
    }

    fn hear<'a>(
        &'a self,
        cursor: Option<&'a str>,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Heard, PortError>> {
        Box::pin(async move {
            if !wait.is_zero() {
                self.bell(cursor, wait).await?;
            }
            self.look(cursor).await
        })
    }
}
