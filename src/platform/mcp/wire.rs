//! The two ways to a server: a program that is talked with on its standard input and output, and HTTP. One request at a
//! time, each tried once.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use serde_json::Value;
use url::Url;

use super::protocol::{Era, Heard, Refusal, hear};
use crate::http::{Credentials, Effect, HttpRequest, HttpRoom, header, masked, sse::Sse, status_class};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::mcp::MODERN;
use crate::model::text::one_line;
use crate::model::time::{Clock, short_span};
use crate::process::{self, ChildEnd, Dialogue};
use crate::secret::Scrubber;

/// A server that can be asked.
pub enum Wire {
    /// A program.
    Child(Box<ChildWire>),
    /// Over HTTP.
    Web(Box<WebWire>),
}

/// What came of asking.
pub enum Failed {
    /// The server refused by the protocol.
    Refused(Refusal),
    /// It was not reached, or gave no answer.
    Port(PortError),
    /// It is there and does not know the era: an HTTP status, or silence.
    OtherEra(PortError),
}

impl From<PortError> for Failed {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

/// One request and what it means if its answer is lost.
pub struct Question<'a> {
    /// Its number.
    pub id: u64,
    /// The whole message.
    pub message: &'a Value,
    /// What is being asked, for people: "call the tool `x`".
    pub doing: &'a str,
    /// Whether a repeat would do harm.
    pub effect: Effect,
    /// Longest wait.
    pub wait: Duration,
}

impl Question<'_> {
    /// After its first byte left.
    fn lost(&self) -> ErrorClass {
        match self.effect {
            Effect::Read => ErrorClass::NETWORK,
            Effect::Write => ErrorClass::Uncertain,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        let value = match name {
            "method" => self.message.get("method"),
            "name" => {
                self.message.get("params").and_then(|params| params.get("name").or_else(|| params.get("uri")))
            }
            _ => None,
        };
        value.and_then(Value::as_str)
    }
}

impl Wire {
    /// Asks, once.
    pub async fn ask(&mut self, question: &Question<'_>) -> Result<Value, Failed> {
        match self {
            Self::Child(child) => child.ask(question).await,
            Self::Web(web) => web.ask(question).await,
        }
    }

    /// Says something that has no answer.
    pub async fn tell(&mut self, message: &Value) -> Result<(), PortError> {
        match self {
            Self::Child(child) => child.say(message, "greet the server"),
            Self::Web(web) => web.tell(message).await,
        }
    }

    /// From now on requests are of this era and, in the legacy one, this revision.
    pub fn agree(&mut self, era: Era, revision: &'static str) {
        if let Self::Web(web) = self {
            (web.era, web.revision) = (era, revision);
        }
    }

    /// The end of the talk.
    pub async fn close(self) {
        match self {
            Self::Child(child) => {
                child.dialogue.close().await;
            }
            Self::Web(web) => web.close().await,
        }
    }
}

/// A program.
pub struct ChildWire {
    /// The talk.
    pub dialogue: Dialogue,
    /// What it was started with.
    pub scrubber: Scrubber,
    /// For people.
    pub name: String,
    /// Its silence means that it does not know the era.
    pub patience: Option<Duration>,
}

impl ChildWire {
    fn say(&mut self, message: &Value, doing: &str) -> Result<(), PortError> {
        if self.dialogue.say(message.to_string().as_bytes()) {
            return Ok(());
        }
        Err(PortError::caused(ErrorClass::NETWORK, doing, "the server does not read its input"))
    }

    async fn ask(&mut self, question: &Question<'_>) -> Result<Value, Failed> {
        self.say(question.message, question.doing)?;
        let wait = self.patience.unwrap_or(question.wait).min(question.wait);
        let answered = tokio::time::timeout(wait, self.listen(question)).await;
        match answered {
            Ok(answer) => answer,
            Err(_) => {
                let why = format!("no answer within {}", short_span(wait));
                let error = PortError::caused(question.lost(), question.doing, why);
                Err(if self.patience.is_some() { Failed::OtherEra(error) } else { Failed::Port(error) })
            }
        }
    }

    async fn listen(&mut self, question: &Question<'_>) -> Result<Value, Failed> {
        let mut skipped = false;
        loop {
            match self.dialogue.next().await {
                process::Heard::Line(line) => match hear(&line, question.id) {
                    Heard::Answer(Ok(result)) => return Ok(result),
                    Heard::Answer(Err(refusal)) => return Err(Failed::Refused(refusal)),
                    Heard::Reply(reply) => self.say(&reply, question.doing)?,
                    Heard::Other => {}
                },
                process::Heard::Skipped => skipped = true,
                process::Heard::Due(end) => {
                    let why = match end {
                        ChildEnd::OverCap => "it says more than is taken".to_owned(),
                        _ if skipped => "its answer is longer than is taken".to_owned(),
                        _ => "it took too long".to_owned(),
                    };
                    return Err(PortError::caused(question.lost(), question.doing, why).into());
                }
                process::Heard::Over => return Err(self.ended(question).into()),
            }
        }
    }

    fn ended(&self, question: &Question<'_>) -> PortError {
        let why = format!("{} ended without an answer", self.name);
        PortError::caused(question.lost(), question.doing, why)
    }

    /// What it said on stderr before it ended, masked.
    pub async fn last_words(self) -> String {
        let report = self.dialogue.close().await;
        let said = self.scrubber.scrub_owned(report.stderr_tail.trim().to_owned());
        let start =
            said.ceil_char_boundary(said.len().saturating_sub(limits::COMMAND_STDERR_SHOWN_BYTES_MAX));
        one_line(said.get(start..).unwrap_or_default(), limits::COMMAND_STDERR_SHOWN_BYTES_MAX)
    }
}

/// Streamable HTTP: each message is a `POST`, its answer JSON or events.
pub struct WebWire {
    /// The room.
    pub http: HttpRoom,
    /// Now, for limits.
    pub clock: Clock,
    /// Where the server is.
    pub url: Url,
    /// Whom we are.
    pub credentials: Option<Credentials>,
    era: Era,
    revision: &'static str,
    session: Option<String>,
}

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

impl WebWire {
    /// Opens nothing yet.
    pub fn new(http: HttpRoom, clock: Clock, url: Url, credentials: Option<Credentials>, era: Era) -> Self {
        Self { http, clock, url, credentials, era, revision: MODERN, session: None }
    }

    fn request(&self, message: &Value, effect: Effect, wait: Duration) -> HttpRequest {
        let mut request = HttpRequest::writing(Method::POST, self.url.clone())
            .header(ACCEPT, "application/json, text/event-stream")
            .json(message)
            .credentials(self.credentials.clone())
            .total(wait);
        if effect == Effect::Read {
            request = request.reading();
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session);
        }
        // The handshake itself names no revision in its head.
        if self.era == Era::Modern || self.session.is_some() || self.revision != MODERN {
            request = request.header(REVISION, self.revision);
        }
        request
    }

    async fn ask(&mut self, question: &Question<'_>) -> Result<Value, Failed> {
        let mut request = self.request(question.message, question.effect, question.wait);
        if self.era == Era::Modern {
            if let Some(method) = question.text("method") {
                request = request.header(METHOD, method);
            }
            if let Some(name) = question.text("name") {
                request = request.header(NAME, &in_header(name));
            }
        }
        let doing = request.doing();
        let mut answer = self.http.stream(request, question.wait).await?;
        let now = self.clock.now();
        if let Some(session) = header(&answer.headers, SESSION) {
            self.session = Some(session.to_owned());
        }
        let kind = header(&answer.headers, CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let failed = status_class(answer.status, &answer.headers, question.effect, now);
        if let Some(class) = failed {
            // Servers also put a refusal by the protocol under an error status.
            let body = collect(&mut answer.body).await.unwrap_or_default();
            let own = matches!(class, ErrorClass::Auth | ErrorClass::RateLimited { .. });
            if let Heard::Answer(Err(refusal)) = hear(&body, question.id)
                && !own
            {
                return Err(Failed::Refused(refusal));
            }
            let error = PortError::caused(class, doing, format!("the server answered {}", answer.status));
            let unknown = matches!(answer.status, 400 | 404 | 405 | 406 | 415 | 501);
            return Err(if unknown { Failed::OtherEra(error) } else { Failed::Port(error) });
        }
        let lost =
            |why: &str| Failed::Port(PortError::caused(question.lost(), doing.clone(), why.to_owned()));
        if kind.starts_with("text/event-stream") {
            let mut events = Sse::default();
            let mut found = None;
            while let Some(piece) = answer.body.next().await {
                let mut each = |data: &[u8]| {
                    if let Heard::Answer(answer) = hear(data, question.id) {
                        found = Some(answer);
                    }
                    Ok::<bool, crate::http::sse::EventTooLong>(found.is_none())
                };
                let more = events.push(&piece?, &mut each).map_err(|error| lost(&error.to_string()))?;
                if !more {
                    break;
                }
            }
            return match found {
                Some(Ok(result)) => Ok(result),
                Some(Err(refusal)) => Err(Failed::Refused(refusal)),
                None => Err(lost("its events ended without an answer")),
            };
        }
        let body = collect(&mut answer.body).await?;
        if kind.starts_with("text/html") {
            return Err(lost("a web page came instead of JSON: a login page of the network, or a proxy"));
        }
        match hear(&body, question.id) {
            Heard::Answer(Ok(result)) => Ok(result),
            Heard::Answer(Err(refusal)) => Err(Failed::Refused(refusal)),
            Heard::Reply(_) | Heard::Other => Err(lost("its answer is none of the protocol")),
        }
    }

    async fn tell(&self, message: &Value) -> Result<(), PortError> {
        let request = self.request(message, Effect::Read, limits::HTTP_TOTAL);
        self.http.send(request).await?.into_ok(self.clock.now()).map(|_| ())
    }

    /// A session is given back; a server that does not want to hear of it is left alone.
    async fn close(self) {
        let Some(session) = &self.session else { return };
        let request = HttpRequest::writing(Method::DELETE, self.url.clone())
            .header(SESSION, session)
            .header(REVISION, self.revision)
            .credentials(self.credentials.clone())
            .total(limits::HTTP_CONNECT)
            .reading();
        if let Err(error) = self.http.send(request).await {
            tracing::debug!("a session at {} was not closed: {error}", masked(&self.url));
        }
    }
}

async fn collect(
    body: &mut futures_util::stream::BoxStream<'static, Result<hyper::body::Bytes, PortError>>,
) -> Result<Vec<u8>, PortError> {
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole)
}

/// As a header takes it: other text in Base64, in the spelling of the protocol.
fn in_header(text: &str) -> String {
    use base64::Engine as _;
    let plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?");
    if plain {
        return text.to_owned();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::in_header;

    #[test]
    fn names_fit_into_headers() {
        assert_eq!(in_header("list_issues"), "list_issues");
        assert_eq!(in_header("ä"), "=?base64?w6Q=?=");
        assert_eq!(in_header(" x"), "=?base64?IHg=?=");
    }
}
