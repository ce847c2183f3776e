//! Any program as a channel: it gets one JSON line a run on its standard input, and prints what its user said.
//!
//! `{"op": "tell", "protocol": 1, "key": …, "title": …, "text": …, "entries": […], "address": …}`: show it, exit with 0.
//! `{"op": "hear", "protocol": 1, "cursor": …}`: print a line `{"message": {"id": …, "user": …, "text": …, "at": …,
//! "address": …}}` for each message behind the cursor, and `{"cursor": …}` in the end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Channel, ChannelContext, ChannelSpec, Heard, Hearing};
use crate::model::channel::{Entry, Message, Notice};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::{clean, one_line};
use crate::model::time::Timestamp;
use crate::process::program::{Ask, Program, ProgramParts};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: ChannelSpec = ChannelSpec {
    name: "command",
    summary: "Any program: it gets notices as JSON lines, and prints what its user says",
    keys: &[
        KeySpec::new(
            "program",
            ValueType::Text,
            "An absolute path, or a name that is looked up on the PATH of the child",
        )
        .specifiers()
        .required(),
        KeySpec::new(
            "args",
            ValueType::List,
            "Arguments. Never a secret: command lines are visible to everybody",
        )
        .specifiers(),
        KeySpec::new(
            "hear_every",
            ValueType::Duration { min_s: 1, max_s: 86_400 },
            "The program understands `hear` and is asked so often what was said; unset, it only tells",
        ),
        KeySpec::new("timeout", ValueType::Duration { min_s: 1, max_s: 3600 }, "Longest run of the program")
            .default("\"60s\""),
        KeySpec::new(
            "pass",
            ValueType::List,
            "Environment variables handed through from the daemon's environment",
        ),
        KeySpec::new("set", ValueType::EnvMap, "Environment variables to set, texts or secrets"),
    ],
    check,
    build,
};

struct CommandChannel {
    program: Program,
    hearing: Hearing,
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let program = settings.text("program").unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        let message = "is an absolute path or a name without `/`; relative paths mean nothing to a daemon";
        return vec![KeyProblem { key: "program", message: message.to_owned() }];
    }
    Vec::new()
}

fn build(context: ChannelContext) -> Result<Arc<dyn Channel>, PortError> {
    let hearing = context.settings.duration("hear_every").map_or(Hearing::Deaf, Hearing::Every);
    let ChannelContext { unit, settings, secrets, clock, state_dir, http: _, process, environment } = context;
    let parts = ProgramParts { unit, settings, secrets, clock, state_dir, process, environment };
    Ok(Arc::new(CommandChannel { program: Program::new(parts), hearing }))
}

/// A line of the program. Unknown fields are let be: it may say more than we know.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Message(Said),
    Cursor(String),
}

#[derive(Deserialize)]
struct Said {
    id: String,
    user: String,
    text: String,
    #[serde(default)]
    address: String,
    /// RFC 3339; absent: now.
    at: Option<String>,
}

impl CommandChannel {
    /// One run; its lines.
    async fn run(&self, ask: &Value) -> Result<Vec<Line>, PortError> {
        let (env, scrubber) = self.program.environment().await?;
        let mut stdin = ask.to_string().into_bytes();
        stdin.push(b'\n');
        let (mut lines, mut bad) = (Vec::new(), None);
        let mut take = |bytes: &[u8]| {
            if bytes.iter().all(u8::is_ascii_whitespace) {
                return true;
            }
            match serde_json::from_slice(bytes) {
                Ok(line) if lines.len() < limits::CHANNEL_MESSAGES_MAX => lines.push(line),
                Ok(_) => bad = Some("it printed more messages than one look may hold"),
                Err(_) => bad = Some("it printed a line that is no message and no cursor"),
            }
            bad.is_none()
        };
        let ran = self.program.run(env, &scrubber, Ask::line(stdin), &mut take).await?;
        let doing = || format!("run {}", self.program.name());
        if let Some(bad) = bad {
            return Err(PortError::caused(ErrorClass::Config, doing(), bad));
        }
        match self.program.bad_end(ran.report.end) {
            None => Ok(lines),
            Some(end) => {
                let why = if ran.said.is_empty() { end } else { format!("{end}: {}", ran.said) };
                Err(PortError::caused(ErrorClass::NETWORK, doing(), why))
            }
        }
    }

    fn message(&self, said: Said) -> Result<Message, PortError> {
        let Said { id, user, text, address, at } = said;
        let bad = |why: &str| {
            PortError::caused(ErrorClass::Config, format!("read a message of {}", self.program.name()), why)
        };
        if id.is_empty() || user.is_empty() {
            return Err(bad("it has no `id` or no `user`"));
        }
        let at = match at {
            None => self.program.now(),
            Some(text) => Timestamp::from_rfc3339(&text).ok_or_else(|| bad("its `at` is no time"))?,
        };
        let name = |text: &str| one_line(&clean(text), limits::CHANNEL_NAME_BYTES_MAX);
        Ok(Message { id: name(&id), user: name(&user), address: name(&address), text: clean(&text), at })
    }
}

fn entry(entry: &Entry) -> Value {
    let Entry { line, body, reference, verbs, command } = entry;
    json!({ "line": line, "body": body, "reference": reference, "verbs": verbs, "command": command })
}

impl Channel for CommandChannel {
    fn place(&self) -> String {
        self.program.command_line()
    }

    fn hearing(&self) -> Hearing {
        self.hearing
    }

    fn tell<'a>(&'a self, notice: &'a Notice, address: &'a str) -> BoxFuture<'a, Result<(), PortError>> {
        Box::pin(async move {
            let ask = json!({
                "op": "tell", "protocol": 1, "key": notice.key, "title": notice.title, "text": notice.text,
                "entries": notice.entries.iter().map(entry).collect::<Vec<_>>(), "address": address,
            });
            self.run(&ask).await.map(|_| ())
        })
    }

    fn hear<'a>(
        &'a self,
        cursor: Option<&'a str>,
        _wait: Duration,
    ) -> BoxFuture<'a, Result<Heard, PortError>> {
        Box::pin(async move {
            let mut heard = Heard::default();
            for line in self.run(&json!({ "op": "hear", "protocol": 1, "cursor": cursor })).await? {
                match line {
                    Line::Message(said) => heard.messages.push(self.message(said)?),
                    Line::Cursor(cursor) => heard.cursor = Some(cursor),
                }
            }
            Ok(heard)
        })
    }
}
