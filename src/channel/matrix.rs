//! A Matrix room: notices as messages, decisions by what its one user writes there. The homeserver vouches for who speaks.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::api::{self, Api};
use super::{Channel, ChannelContext, ChannelSpec, Heard, Hearing};
use crate::http::HttpRequest;
use crate::model::channel::{Message, Notice};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::{clean, cut, digest};
use crate::model::time::Timestamp;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: ChannelSpec = ChannelSpec {
    name: "matrix",
    summary: "A Matrix room without encryption, in which an account of the agent's own talks with you",
    keys: &[
        KeySpec::new(
            "homeserver",
            ValueType::Url,
            "The homeserver's client API, `https://matrix.example.org`",
        )
        .specifiers()
        .required(),
        KeySpec::new("token", ValueType::Secret, "An access token of the agent's account, not of your own")
            .required(),
        KeySpec::new(
            "room",
            ValueType::Text,
            "The room, by id (`!…`); the agent's account is invited to it or in it",
        )
        .specifiers()
        .required(),
    ],
    check,
    build,
};

/// Messages of one look. Who says more between two looks is not typing decisions.
const TIMELINE_LEN: u64 = 50;

/// Of a notice; servers take events of 64 KB.
const TEXT_BYTES_MAX: usize = 16_000;

struct Matrix {
    api: Api,
    room: String,
    /// The user id that the token belongs to.
    me: OnceCell<String>,
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = api::server_problems(settings, "homeserver");
    if settings.text("room").is_some_and(|room| !room.starts_with('!') || room.len() < 2) {
        let message =
            "a room is named by its id, which begins with `!`; an alias (`#…`) may move to another room";
        problems.push(KeyProblem { key: "room", message: message.to_owned() });
    }
    problems
}

fn build(context: ChannelContext) -> Result<Arc<dyn Channel>, PortError> {
    Ok(Arc::new(Matrix {
        api: Api::new(&context, "homeserver")?,
        room: context.settings.text("room").unwrap_or_default().to_owned(),
        me: OnceCell::new(),
    }))
}

impl Matrix {
    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> url::Url {
        let whole: Vec<&str> = ["_matrix", "client", "v3"].iter().chain(path).copied().collect();
        self.api.at(&whole, query)
    }

    /// Whose token it is: what that account says is ours.
    async fn me(&self) -> Result<&str, PortError> {
        let ask = || async {
            let answer: Value =
                self.api.send(HttpRequest::get(self.url(&["account", "whoami"], &[]))).await?.json()?;
            let me = answer.get("user_id").and_then(Value::as_str).unwrap_or_default();
            if me.is_empty() {
                let doing = "ask the homeserver whose token it is";
                return Err(PortError::caused(ErrorClass::Permanent, doing, "the answer names no user"));
            }
            Ok(me.to_owned())
        };
        self.me.get_or_try_init(ask).await.map(String::as_str)
    }

    /// Goes in, if it was invited, and looks whether the room can be used: what is encrypted could not be read.
    async fn enter(&self) -> Result<(), PortError> {
        let join = self.url(&["rooms", &self.room, "join"], &[]);
        self.api.write(Method::POST, join, &json!({})).await?;
        let state = self.url(&["rooms", &self.room, "state", "m.room.encryption"], &[]);
        let answer = self.api.ask(HttpRequest::get(state)).await?;
        match answer.status {
            404 => Ok(()),
            200 => {
                let doing = format!("look at the room {}", self.room);
                Err(PortError::caused(
                    ErrorClass::Config,
                    doing,
                    "it is encrypted; a channel needs one that is not",
                ))
            }
            _ => answer.into_ok(self.api.now()).map(|_| ()),
        }
    }

    /// `None`: the server does not know that position.
    async fn sync(&self, since: Option<&str>, wait: Duration) -> Result<Option<Value>, PortError> {
        let nothing = json!({ "types": [] });
        let filter = json!({
            "room": {
                "rooms": [self.room],
                "timeline": { "types": ["m.room.message"], "not_senders": [self.me().await?], "limit": TIMELINE_LEN },
                "state": nothing, "ephemeral": nothing, "account_data": nothing,
            },
            "presence": nothing, "account_data": nothing,
        });
        let (filter, millis) = (filter.to_string(), wait.as_millis().to_string());
        let mut query =
            vec![("filter", filter.as_str()), ("timeout", millis.as_str()), ("set_presence", "offline")];
        query.extend(since.map(|since| ("since", since)));
        let request = HttpRequest::get(self.url(&["sync"], &query))
            .body_bytes_max(limits::MATRIX_SYNC_BYTES_MAX)
            .total(limits::HTTP_TOTAL.max(wait + limits::LONG_POLL_GRACE));
        let answer = self.api.ask(request).await?;
        if answer.status == 400 && since.is_some() && !answer.is_html() {
            return Ok(None);
        }
        answer.into_ok(self.api.now())?.json().map(Some)
    }

    fn message(&self, event: &Value) -> Option<Message> {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        // An edit says anew what was said: it decides nothing once more.
        if text("/content/msgtype") != Some("m.text")
            || text("/content/m.relates_to/rel_type") == Some("m.replace")
        {
            return None;
        }
        Some(Message {
            id: text("/event_id")?.to_owned(),
            user: text("/sender")?.to_owned(),
            address: self.room.clone(),
            text: clean(unquoted(text("/content/body")?)),
            at: Timestamp(event.get("origin_server_ts")?.as_i64()?),
        })
    }
}

/// Without the quoted message that clients put in front of an answer.
fn unquoted(body: &str) -> &str {
    let mut rest = body;
    while rest.starts_with("> ") || rest.starts_with(">\n") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest.trim_start()
}

impl Channel for Matrix {
    fn place(&self) -> String {
        format!("{} at {}", self.room, self.api.host())
    }

    fn hearing(&self) -> Hearing {
        Hearing::Waits
    }

    fn tell<'a>(&'a self, notice: &'a Notice, _address: &'a str) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move {
            let whole = format!("{}\n\n{}", notice.title, notice.body());
            let text = if whole.len() > TEXT_BYTES_MAX {
                format!("{}…", cut(&whole, TEXT_BYTES_MAX))
            } else {
                whole
            };
            // The same transaction from the same device gives the same event again.
            let transaction = digest(&[notice.key.as_bytes()]);
            let url = self.url(&["rooms", &self.room, "send", "m.room.message", &transaction], &[]);
            let content = json!({ "msgtype": "m.text", "body": text.trim_end() });
            self.api.write(Method::PUT, url, &content).await.map(|_| ())
        })
    }

    fn hear<'a>(
        &'a self,
        cursor: Option<&'a str>,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Heard, PortError>> {
        Box::pin(async move {
            let answer = match cursor {
                Some(since) => self.sync(Some(since), wait).await?,
                None => None,
            };
            let answer = match answer {
                Some(answer) => answer,
                None => {
                    self.enter().await?;
                    self.sync(None, Duration::ZERO).await?.unwrap_or_default()
                }
            };
            let timeline = answer.pointer("/rooms/join").and_then(|rooms| rooms.get(&self.room));
            let events = timeline.and_then(|room| room.pointer("/timeline/events")).and_then(Value::as_array);
            let messages = events.into_iter().flatten().filter_map(|event| self.message(event)).collect();
            let next = answer.get("next_batch").and_then(Value::as_str).map(str::to_owned);
            Ok(Heard { messages, cursor: next })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_without_what_it_answers() {
        assert_eq!(unquoted("> <@a:x> 1 draft waits\n> for you\n\napprove k7f3"), "approve k7f3");
        assert_eq!(unquoted("approve k7f3"), "approve k7f3");
        assert_eq!(unquoted("> only a quote"), "");
    }
}
