//! A Telegram bot: notices as messages in the chat with its one user, decisions by what they write there. Telegram
//! vouches for who speaks.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{self, Api};
use super::{Channel, ChannelContext, ChannelSpec, Heard, Hearing};
use crate::http::HttpRequest;
use crate::model::channel::{Message, Notice};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::secret_ref::SecretRef;
use crate::model::text::{clean, cut, one_line};
use crate::model::time::Timestamp;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: ChannelSpec = ChannelSpec {
    name: "telegram",
    summary: "A Telegram bot of your own, which tells you and takes your word",
    keys: &[
        KeySpec::new("token", ValueType::Secret, "The bot's token, from @BotFather").required(),
        KeySpec::new("server", ValueType::Url, "The server of the Bot API")
            .default("\"https://api.telegram.org\""),
    ],
    check: |settings| check(settings),
    build,
};

/// A message has 4096 characters at most; the rest is counted in another way by them than by us.
const TEXT_BYTES_MAX: usize = 3500;

/// A server's own words in an error.
const SAID_BYTES_MAX: usize = 200;

struct Telegram {
    api: Api,
    token: SecretRef,
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    api::server_problems(settings, "server")
}

fn build(context: ChannelContext) -> Result<Arc<dyn Channel>, PortError> {
    let missing = || PortError::new(ErrorClass::Config, "`token` is missing");
    Ok(Arc::new(Telegram {
        token: context.settings.secret("token").cloned().ok_or_else(missing)?,
        api: Api::without_token(&context, "server")?,
    }))
}

#[derive(Deserialize)]
struct Update {
    message: Option<Said>,
}

#[derive(Deserialize)]
struct Said {
    message_id: i64,
    from: Option<From>,
    chat: Chat,
    date: i64,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct From {
    id: i64,
    #[serde(default)]
    is_bot: bool,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
    #[serde(default, rename = "type")]
    kind: String,
}

impl Telegram {
    /// Asks a method. The token is a part of the URL, which therefore is in no error.
    async fn ask(&self, method: &str, body: &Value, wait: Duration) -> Result<Value, PortError> {
        let doing = || format!("ask {} for {method}", self.api.host());
        let token = self.api.secret(&self.token, "token").await?;
        let url = self.api.at(&[&format!("bot{}", token.expose_to_the_wire()), method], &[]);
        let request = HttpRequest::writing(Method::POST, url)
            .json(body)
            .reading()
            .total(limits::HTTP_TOTAL.max(wait + limits::LONG_POLL_GRACE));
        let answer = self.api.ask(request).await.map_err(|error| PortError { doing: doing(), ..error })?;
        let found: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if answer.status == 200
            && let Some(result) = found.get("result")
        {
            return Ok(result.clone());
        }
        let said = found.get("description").and_then(Value::as_str).unwrap_or("no JSON of the Bot API");
        let said = one_line(&clean(said), SAID_BYTES_MAX);
        let wait = found.pointer("/parameters/retry_after").and_then(Value::as_u64);
        let class = match answer.status {
            // A wrong token is "not found" too.
            401 | 404 => ErrorClass::Auth,
            429 => {
                let span = wait.map_or(limits::RATE_LIMIT_WAIT, Duration::from_secs);
                ErrorClass::RateLimited { until: self.api.now().plus(span) }
            }
            400 | 403 | 409 => ErrorClass::Config,
            _ => ErrorClass::NETWORK,
        };
        Err(PortError::caused(class, doing(), format!("the server answered {}: {said}", answer.status)))
    }
}

/// What a person said in a chat with the bot alone: in a group others read along.
fn message(said: Said) -> Option<Message> {
    let from = said.from.filter(|from| !from.is_bot)?;
    (said.chat.kind == "private").then(|| Message {
        id: format!("{}/{}", said.chat.id, said.message_id),
        user: from.id.to_string(),
        address: said.chat.id.to_string(),
        text: clean(&said.text),
        at: Timestamp::from_seconds(said.date),
    })
}

/// After a week without updates the next one gets any number, also a lower one; what was taken is gone by then.
const NUMBERS_HOLD: Duration = Duration::from_secs(6 * 86_400);

/// From which update on to ask; `None`: from whatever there is.
fn offset(cursor: &str, now: Timestamp) -> Option<i64> {
    let (offset, at) = cursor.split_once(' ')?;
    let at = Timestamp(at.parse().ok()?);
    offset.parse().ok().filter(|_| now.since(at) < NUMBERS_HOLD)
}

impl Channel for Telegram {
    fn place(&self) -> String {
        // The token's first part names the bot, and is no secret by itself; it is not read at build.
        format!("a bot at {} ({})", self.api.host(), self.token)
    }

    fn hearing(&self) -> Hearing {
        Hearing::Waits
    }

    fn tell<'a>(&'a self, notice: &'a Notice, address: &'a str) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move {
            let whole = format!("{}\n\n{}", notice.title, notice.body());
            let text = if whole.len() > TEXT_BYTES_MAX {
                format!("{}…", cut(&whole, TEXT_BYTES_MAX))
            } else {
                whole
            };
            let chat: i64 = address.parse().unwrap_or_default();
            let body = json!({
                "chat_id": chat, "text": text.trim_end(), "link_preview_options": { "is_disabled": true },
            });
            self.ask("sendMessage", &body, Duration::ZERO).await.map(|_| ())
        })
    }

    fn hear<'a>(
        &'a self,
        cursor: Option<&'a str>,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Heard, PortError>> {
        Box::pin(async move {
            let now = self.api.now();
            let offset = cursor.and_then(|cursor| offset(cursor, now)).unwrap_or_default();
            let body = json!({
                "offset": offset, "timeout": wait.as_secs(), "limit": limits::CHANNEL_MESSAGES_MAX,
                "allowed_updates": ["message"],
            });
            let updates = self.ask("getUpdates", &body, wait).await?;
            let mut heard = Heard::default();
            for update in updates.as_array().into_iter().flatten() {
                // One that cannot be read is passed over: it would stand in front of all others for good.
                let id = update.get("update_id").and_then(Value::as_i64);
                heard.cursor = id.map(|id| format!("{} {}", id.saturating_add(1), now.0)).or(heard.cursor);
                if let Ok(Update { message: Some(said) }) = Update::deserialize(update) {
                    heard.messages.extend(message(said));
                }
            }
            Ok(heard)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_holds_for_less_than_a_week() {
        let at = Timestamp(1_796_025_600_000);
        let cursor = format!("8 {}", at.0);
        assert_eq!(offset(&cursor, at.plus(Duration::from_secs(5 * 86_400))), Some(8));
        assert_eq!(offset(&cursor, at.plus(Duration::from_secs(7 * 86_400))), None);
        for nonsense in ["", "8", "x 1", "8 x"] {
            assert_eq!(offset(nonsense, at), None);
        }
    }
}
