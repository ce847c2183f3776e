//! The endpoints of the client-server API that are used. Thin: one request each, JSON in and out.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};
use url::Url;

use super::event::text;
use crate::http::{HttpRequest, HttpResponse};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::platform::api::ApiClient;

/// What a look wants of the server.
#[derive(Clone, Copy, Debug)]
pub struct SyncAsk<'a> {
    /// Empty: a snapshot.
    pub since: &'a str,
    /// The filter, as JSON.
    pub filter: &'a Value,
    /// The server answers at once, or waits so long for something to tell.
    pub wait: Duration,
}

/// A stretch of a room's history.
#[derive(Clone, Copy, Debug)]
pub struct MessagesAsk<'a> {
    /// The room.
    pub room: &'a str,
    /// Backwards from here; `None`: from the end.
    pub from: Option<&'a str>,
    /// To here; `None`: to the beginning.
    pub to: Option<&'a str>,
    /// The filter, as JSON.
    pub filter: &'a Value,
}

/// One account at a homeserver.
#[derive(Clone)]
pub struct Client {
    api: ApiClient,
}

impl Client {
    /// Over an account's HTTP.
    #[must_use]
    pub fn new(api: ApiClient) -> Self {
        Self { api }
    }

    /// A digest of the present token.
    pub async fn token_mark(&self) -> Result<String, PortError> {
        self.api.token_mark().await
    }

    /// The homeserver.
    #[must_use]
    pub fn base(&self) -> &Url {
        self.api.base()
    }

    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let whole: Vec<&str> = ["_matrix", "client", "v3"].iter().chain(path).copied().collect();
        self.api.query(&whole, query)
    }

    async fn asked(&self, request: HttpRequest) -> Result<Value, PortError> {
        self.answered(self.api.send(request).await?)
    }

    fn answered(&self, mut response: HttpResponse) -> Result<Value, PortError> {
        // Old servers say it in the body alone.
        if response.status == 429 && !response.headers.contains_key(RETRY_AFTER) {
            let body = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
            let wait = body.get("retry_after_ms").and_then(Value::as_u64).map(|ms| ms.to_string());
            if let Some(Ok(wait)) = wait.map(|wait| HeaderValue::from_str(&wait)) {
                response.headers.insert(HeaderName::from_static("retry-after-ms"), wait);
            }
        }
        self.api.checked(response, said)?.json()
    }

    /// `None`: there is no such thing, or it is not for us to see.
    async fn found(&self, url: Url) -> Result<Option<Value>, PortError> {
        let response = self.api.send(HttpRequest::get(url)).await?;
        if matches!(response.status, 403 | 404) && !response.is_html() {
            return Ok(None);
        }
        self.answered(response).map(Some)
    }

    /// The user id that the token belongs to, and its device.
    pub async fn whoami(&self) -> Result<(String, String), PortError> {
        let answer = self.asked(HttpRequest::get(self.url(&["account", "whoami"], &[]))).await?;
        let own = |name: &str| text(answer.get(name)).unwrap_or_default().to_owned();
        Ok((own("user_id"), own("device_id")))
    }

    /// The own display name.
    pub async fn displayname(&self, user: &str) -> Result<Option<String>, PortError> {
        let found = self.found(self.url(&["profile", user, "displayname"], &[])).await?;
        Ok(found.and_then(|found| text(found.get("displayname")).map(str::to_owned)))
    }

    /// Rooms that the account's clients mark as direct: the content of `m.direct`.
    pub async fn direct(&self, user: &str) -> Result<Value, PortError> {
        let url = self.url(&["user", user, "account_data", "m.direct"], &[]);
        Ok(self.found(url).await?.unwrap_or_default())
    }

    /// What came behind a position. Changes nothing, and takes nothing out of the stream. `None`: the server does not
    /// know that position.
    pub async fn sync(&self, ask: SyncAsk<'_>) -> Result<Option<Value>, PortError> {
        let (filter, wait) = (ask.filter.to_string(), ask.wait.as_millis().to_string());
        let mut query = vec![
            ("filter", filter.as_str()),
            ("timeout", wait.as_str()),
            ("set_presence", "offline"),
            ("use_state_after", "true"),
        ];
        if !ask.since.is_empty() {
            query.insert(0, ("since", ask.since));
        }
        let url = self.url(&["sync"], &query);
        let request = HttpRequest::get(url)
            .body_bytes_max(limits::MATRIX_SYNC_BYTES_MAX)
            .total(limits::HTTP_TOTAL.max(ask.wait + limits::LONG_POLL_GRACE));
        let response = self.api.send(request).await?;
        if response.status == 400 && !ask.since.is_empty() && !response.is_html() {
            return Ok(None);
        }
        self.answered(response).map(Some)
    }

    /// A page of a room's history, newest first.
    pub async fn messages(&self, ask: MessagesAsk<'_>) -> Result<Value, PortError> {
        let filter = ask.filter.to_string();
        let limit = limits::MATRIX_GAP_PAGE_LEN.to_string();
        let mut query = vec![("dir", "b"), ("limit", limit.as_str()), ("filter", filter.as_str())];
        query.extend(ask.from.map(|from| ("from", from)));
        query.extend(ask.to.map(|to| ("to", to)));
        self.asked(HttpRequest::get(self.url(&["rooms", ask.room, "messages"], &query))).await
    }

    /// One event.
    pub async fn event(&self, room: &str, event: &str) -> Result<Option<Value>, PortError> {
        self.found(self.url(&["rooms", room, "event", event], &[])).await
    }

    /// The content of a room's state of this kind.
    pub async fn state(&self, room: &str, kind: &str) -> Result<Option<Value>, PortError> {
        self.found(self.url(&["rooms", room, "state", kind], &[])).await
    }

    /// The room's encryption is switched on. Unlike [`state`](Self::state), a refusal is an error: what may not be
    /// seen is not taken for absent.
    pub async fn is_encrypted(&self, room: &str) -> Result<bool, PortError> {
        let url = self.url(&["rooms", room, "state", "m.room.encryption"], &[]);
        let response = self.api.send(HttpRequest::get(url)).await?;
        // Another 404 is a proxy's, or a path that the server does not know: what may not be seen is not taken for absent.
        if response.status == 404
            && said(&serde_json::from_slice(&response.body).unwrap_or_default())
                .is_some_and(|said| said.starts_with("M_NOT_FOUND:"))
        {
            return Ok(false);
        }
        self.answered(response).map(|_| true)
    }

    /// Sends an event; the same transaction from the same device gives the same event again. Returns its id.
    ///
    /// # Errors
    /// Anything but a definite no is `Uncertain`.
    pub async fn send(
        &self,
        room: &str,
        kind: &str,
        transaction: &str,
        content: &Value,
    ) -> Result<String, PortError> {
        let url = self.url(&["rooms", room, "send", kind, transaction], &[]);
        let request = HttpRequest::writing(Method::PUT, url).json(content);
        let doing = request.doing();
        let answer = self.asked(request).await?;
        let id = text(answer.get("event_id")).filter(|id| !id.is_empty()).map(str::to_owned);
        id.ok_or_else(|| PortError::caused(ErrorClass::Uncertain, doing, "the answer names no event"))
    }
}

/// The server's own words: `M_FORBIDDEN: You are not in the room`.
pub fn said(body: &Value) -> Option<String> {
    let code = text(body.get("errcode"))?;
    let words = text(body.get("error")).unwrap_or_default();
    let soft = body.get("soft_logout").and_then(Value::as_bool) == Some(true);
    let hint = if soft { " (the device may log in again: store a new token of it)" } else { "" };
    Some(format!("{code}: {words}{hint}"))
}

/// Types that are looked at.
const KINDS: [&str; 4] = ["m.room.message", "m.room.encrypted", "m.room.redaction", "m.room.member"];

/// The filter of a look: messages with what is needed to understand them, and nothing of who is typing.
#[must_use]
pub fn look_filter(rooms: &[String], timeline_len: usize) -> Value {
    let nothing = json!({"types": []});
    let mut room = json!({
        "timeline": {"types": KINDS, "limit": timeline_len},
        "state": {"types": ["m.room.name", "m.room.encryption", "m.room.member"], "lazy_load_members": true},
        "ephemeral": nothing,
        "account_data": nothing,
    });
    only_rooms(&mut room, rooms);
    json!({"room": room, "presence": nothing, "account_data": {"types": ["m.direct"]}})
}

/// The filter of a wait: one message by somebody else is enough to look.
#[must_use]
pub fn wait_filter(rooms: &[String], me: &str) -> Value {
    let nothing = json!({"types": []});
    let kinds = ["m.room.message", "m.room.encrypted", "m.room.redaction"];
    let mut room = json!({
        "timeline": {"types": kinds, "not_senders": [me], "limit": 1},
        "state": nothing,
        "ephemeral": nothing,
        "account_data": nothing,
    });
    only_rooms(&mut room, rooms);
    json!({"room": room, "presence": nothing, "account_data": nothing})
}

fn only_rooms(room: &mut Value, rooms: &[String]) {
    if let (false, Some(room)) = (rooms.is_empty(), room.as_object_mut()) {
        room.insert("rooms".to_owned(), json!(rooms));
    }
}

/// The filter of a stretch of history.
#[must_use]
pub fn gap_filter() -> Value {
    json!({"types": KINDS, "lazy_load_members": true})
}

/// The filter in which our own messages are looked for.
#[must_use]
pub fn own_filter(me: &str) -> Value {
    json!({"types": ["m.room.message"], "senders": [me]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_speak_for_themselves() {
        let check = |body: Value, expected: Option<&str>| assert_eq!(said(&body).as_deref(), expected);
        check(json!({"errcode": "M_FORBIDDEN", "error": "no"}), Some("M_FORBIDDEN: no"));
        let soft = json!({"errcode": "M_UNKNOWN_TOKEN", "error": "expired", "soft_logout": true});
        check(soft, Some("M_UNKNOWN_TOKEN: expired (the device may log in again: store a new token of it)"));
        check(json!({"error": "no"}), None);
        check(json!([]), None);
    }

    #[test]
    fn an_allow_list_is_part_of_the_filter() {
        assert_eq!(look_filter(&[], 1).pointer("/room/rooms"), None);
        let rooms = ["!a".to_owned()];
        assert_eq!(wait_filter(&rooms, "@me:x").pointer("/room/rooms"), Some(&json!(["!a"])));
    }
}
