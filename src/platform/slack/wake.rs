//! Socket Mode: a connection from here over which Slack tells of events. An event is only a reason to look: what makes
//! items is the history behind the stored place, so an event that is lost, doubled or stolen by another connection of
//! the same app costs time, never a message. It is acknowledged at once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

use super::SlackConnector;
use super::memory::Target;
use super::position::Position;
use super::text::mentioned;
use super::ts::Ts;
use crate::http::{Effect, Socket};
use crate::model::class::{ErrorClass, PortError};
use crate::model::item::Cursor;
use crate::model::time::Timestamp;
use crate::platform::api::ApiClient;

/// Slack pings every few seconds; after so long without a word it is asked for one.
const IDLE: Duration = Duration::from_secs(30);

/// Between two openings: a server that hangs up at once must not be called without end.
const OPEN_GAP: Duration = Duration::from_secs(60);

/// From the opening to the first word.
const HELLO: Duration = Duration::from_secs(10);

/// The connection, and when one was last opened.
#[derive(Default)]
pub struct Line {
    socket: Option<Socket>,
    opened: Option<Timestamp>,
}

/// What a message over the socket asks for.
enum Told {
    Look,
    Nothing,
    /// Slack will close this connection.
    Closing,
    /// It is of no use to come back.
    Closed(String),
}

impl SlackConnector {
    /// Ends when there may be something new. The connection lives on between two waits.
    pub(super) async fn wait(&self, cursor: Option<&Cursor>) -> Result<(), PortError> {
        let Some(app) = &self.app else { return std::future::pending().await };
        let position = Position::of(cursor).unwrap_or_default();
        let mut line = self.line.lock().await;
        loop {
            if line.socket.is_none() {
                self.open(app, &mut line).await?;
                // What came while nobody listened is read from the history.
                return Ok(());
            }
            let Some(socket) = line.socket.as_mut() else { continue };
            let text = match socket.next().await {
                Ok(Some(text)) => text,
                Ok(None) | Err(_) => {
                    line.socket = None;
                    continue;
                }
            };
            let message: Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(envelope) = message.get("envelope_id").and_then(Value::as_str)
                && socket.send(json!({ "envelope_id": envelope }).to_string()).await.is_err()
            {
                line.socket = None;
                continue;
            }
            match self.told(&message, &position) {
                Told::Nothing => {}
                Told::Look => return Ok(()),
                Told::Closing => {
                    // The new one first: no event falls between the two.
                    let old = line.socket.take();
                    let opened = self.open(app, &mut line).await;
                    drop(old);
                    return opened;
                }
                Told::Closed(why) => {
                    line.socket = None;
                    line.opened = Some(app.now());
                    return Err(PortError::caused(ErrorClass::Config, "listen to Slack", why));
                }
            }
        }
    }

    async fn open(&self, app: &ApiClient, line: &mut Line) -> Result<(), PortError> {
        let doing = "open a socket to Slack";
        let now = app.now();
        if line.opened.is_some_and(|at| now.since(at) < OPEN_GAP) {
            return Err(PortError::caused(
                ErrorClass::NETWORK,
                doing,
                "the last one was opened a moment ago",
            ));
        }
        line.opened = Some(now);
        let client = super::client::Client::new(app.clone());
        let reply = client.post("apps.connections.open", &json!({}), Effect::Read).await?;
        let given = reply.body.get("url").and_then(Value::as_str).and_then(|url| url.parse::<Url>().ok());
        let Some(url) = given.filter(|url| is_at_home(url, app.base())) else {
            let why = "Slack named no address of its own";
            return Err(PortError::caused(ErrorClass::Config, doing, why));
        };
        let mut socket = self.http.socket(&url, IDLE).await?;
        let hello = timeout(HELLO, socket.next()).await;
        let first = match hello {
            Ok(Ok(Some(text))) => serde_json::from_str::<Value>(&text).unwrap_or_default(),
            Ok(Err(error)) => return Err(error),
            _ => return Err(PortError::caused(ErrorClass::NETWORK, doing, "there was no greeting")),
        };
        if first.get("type").and_then(Value::as_str) != Some("hello") {
            let reason = first.get("reason").and_then(Value::as_str).unwrap_or("no greeting").to_owned();
            return Err(PortError::caused(ErrorClass::NETWORK, doing, reason));
        }
        if first.get("num_connections").and_then(Value::as_u64).is_some_and(|count| count > 1) {
            let note = "another program listens with the same app: each event goes to one of the two, so new messages may \
                        be seen only by the regular looks";
            self.memory().notes.insert(note.to_owned());
        }
        line.socket = Some(socket);
        Ok(())
    }

    fn told(&self, message: &Value, position: &Position) -> Told {
        match message.get("type").and_then(Value::as_str) {
            Some("disconnect") => match message.get("reason").and_then(Value::as_str) {
                Some("link_disabled") => Told::Closed("Socket Mode is switched off for the app".to_owned()),
                _ => Told::Closing,
            },
            Some("events_api") => match message.pointer("/payload/event") {
                Some(event) if self.is_of_interest(event, position) => Told::Look,
                _ => Told::Nothing,
            },
            _ => Told::Nothing,
        }
    }

    /// Notes where to look first.
    fn is_of_interest(&self, event: &Value, position: &Position) -> bool {
        let text = |place: &str| event.pointer(place).and_then(Value::as_str);
        let stamp = |place: &str| text(place).and_then(|text| text.parse::<Ts>().ok());
        if !matches!(text("/type"), Some("message" | "app_mention")) {
            return false;
        }
        let Some(channel) = text("/channel").map(str::to_owned) else { return false };
        let target = |root| Target { channel: channel.clone(), root };
        let known = position.channels.contains_key(&channel);
        if !known && !self.only.is_empty() {
            return false;
        }
        match text("/subtype") {
            Some("message_deleted") => {
                let Some(previous) = event.get("previous_message").filter(|previous| previous.is_object())
                else {
                    return false;
                };
                self.memory().lost(channel, previous.clone());
                return true;
            }
            Some("message_changed") => {
                let Some(ts) = stamp("/message/ts") else { return false };
                let root = stamp("/message/thread_ts").filter(|root| position.watches(&channel, *root));
                self.memory().hint(target(root), ts);
                return known;
            }
            _ => {}
        }
        let Some(ts) = stamp("/ts") else { return false };
        let root = stamp("/thread_ts").filter(|root| *root != ts);
        let me = self.memory().me.clone().map(|(me, _)| me.user).unwrap_or_default();
        if text("/user") == Some(me.as_str()) {
            return false;
        }
        let direct = matches!(text("/channel_type"), Some("im" | "mpim"));
        let to_us = self.all
            || direct
            || text("/parent_user_id") == Some(me.as_str())
            || root.is_some_and(|root| position.watches(&channel, root))
            || mentioned(text("/text").unwrap_or_default()).any(|user| user == me);
        if to_us {
            self.memory().hint(target(root), ts);
        }
        to_us
    }
}

/// The socket's host is the API's or one below it: the address is the server's word, and a ticket goes there.
fn is_at_home(url: &Url, base: &Url) -> bool {
    let (Some(host), Some(home)) = (url.host_str(), base.host_str()) else { return false };
    host == home || host.strip_suffix(home).is_some_and(|front| front.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_goes_to_slack_alone() {
        let check = |url: &str, base: &str| is_at_home(&url.parse().unwrap(), &base.parse().unwrap());
        let base = "https://slack.com/api/";
        assert!(check("wss://wss-primary.slack.com/link/?ticket=x", base));
        assert!(check("wss://slack.com/link", base));
        assert!(!check("wss://slack.com.example.org/link", base));
        assert!(!check("wss://evilslack.com/link", base));
    }
}
