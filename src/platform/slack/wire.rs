//! What Slack sends, as far as it is read. Everything but the id may be missing.

use serde::Deserialize;
use serde_json::Value;

/// A message, of a list or an event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message {
    pub ts: Option<String>,
    pub thread_ts: Option<String>,
    pub subtype: Option<String>,
    pub user: Option<String>,
    pub bot_id: Option<String>,
    pub username: Option<String>,
    pub text: Option<String>,
    pub client_msg_id: Option<String>,
    pub edited: Option<Value>,
    pub reply_count: Option<u64>,
    pub files: Option<Vec<Value>>,
    pub attachments: Option<Vec<Value>>,
    pub blocks: Option<Vec<Value>>,
    pub bot_profile: Option<Profile>,
}

/// Of a bot.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Profile {
    pub name: Option<String>,
}

/// A conversation as `users.conversations` lists it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Conversation {
    pub id: Option<String>,
    pub name: Option<String>,
    pub user: Option<String>,
    pub is_im: bool,
    pub is_mpim: bool,
    pub is_archived: bool,
}

/// The messages of an answer, and where the list goes on.
#[must_use]
pub fn listed<'a>(body: &'a Value, field: &str) -> (&'a [Value], Option<String>) {
    let list = body.get(field).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let next = body.pointer("/response_metadata/next_cursor").and_then(Value::as_str);
    (list, next.filter(|next| !next.is_empty()).map(str::to_owned))
}
