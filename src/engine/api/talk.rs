//! One exchange with a server: the request, the limits, the pieces of the answer.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{Failed, Stopped};
use crate::engine::{EngineContext, port_failure};
use crate::http::sse::Sse;
use crate::http::{HttpRequest, HttpStream, retry_hint, timed_out};
use crate::model::class::{ErrorClass, PortError};
use crate::model::run::{RunFailure, RunLimits};
use crate::model::time::{Timestamp, short_span};

/// An error answer that is read for its message.
const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;

/// What an event was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Step {
    /// A piece of the answer.
    Progress,
    /// A sign that the far side lives.
    Alive,
    /// The last word: nothing behind it matters.
    Done,
}

/// An answer that was an error by its status.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Refusal<'a> {
    /// HTTP status; 200 for an error inside of a stream.
    pub status: u16,
    /// The body or the event; `Null` where it is no JSON.
    pub body: &'a Value,
    /// Its headers; empty inside of a stream.
    pub headers: &'a HeaderMap,
    /// What `Retry-After` and its like say.
    pub hint: Option<Duration>,
    /// Now.
    pub now: Timestamp,
}

impl<'a> Refusal<'a> {
    /// An answer with an error status.
    pub(in crate::engine) fn of(
        status: u16,
        headers: &'a HeaderMap,
        body: &'a Value,
        now: Timestamp,
    ) -> Self {
        Self { status, body, headers, hint: retry_hint(headers, now), now }
    }

    /// "the server answered 429: slow down".
    pub(in crate::engine) fn detail(&self, message: &str) -> String {
        let what = match self.status {
            200..=299 => "the server broke off with an error".to_owned(),
            status => format!("the server answered {status}"),
        };
        if message.is_empty() { what } else { format!("{what}: {message}") }
    }

    /// When a limit on speed ends.
    pub(in crate::engine) fn rate_limited(&self) -> RunFailure {
        RunFailure::RateLimited(self.now.plus(self.hint.unwrap_or(crate::model::limits::RATE_LIMIT_WAIT)))
    }
}

/// Puts an answer together.
pub(in crate::engine) trait Reader: Send {
    /// Takes the data of one event.
    fn event(&mut self, data: &[u8], now: Timestamp) -> Result<Step, Failed>;

    /// Takes the whole answer of a server that does not stream.
    fn whole(&mut self, body: &Value, now: Timestamp) -> Result<(), Failed>;

    /// What an error answer means.
    fn refusal(refusal: &Refusal<'_>) -> Failed
    where
        Self: Sized;
}

/// Sends the request and takes the answer into `reader`, which is to judge what came of it.
pub(in crate::engine) async fn talk<R: Reader>(
    context: &EngineContext,
    request: HttpRequest,
    limits: RunLimits,
    reader: &mut R,
) -> Result<(), Stopped> {
    let started = Instant::now();
    // Until the first byte, headers included: some servers send them at once, some with the first word.
    let first_at = started + limits.first_event;
    // The room's own limit on silence is set aside: ours depends on whether anything came.
    let open = timeout_at(first_at, context.http.stream(request, limits.total));
    let stream = match open.await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            // Surely not sent, so surely not worked on.
            let unused = matches!(error.class, ErrorClass::Network { .. });
            return Err(Stopped { unused, ..broken(error, limits) });
        }
        Err(_) => return Err(silent(Silence::First, limits).into()),
    };
    if !(200..300).contains(&stream.status) {
        let (status, headers) = (stream.status, stream.headers.clone());
        let body = whole(stream, first_at, limits).await.unwrap_or_default();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let refusal = Refusal::of(status, &headers, &body, context.clock.now());
        // Vendors bill no answer with an error status.
        let loading = super::openai_errors::is_loading(&refusal);
        return Err(Stopped { unused: true, loading, ..R::refusal(&refusal).into() });
    }
    match media_type(&stream.headers).as_str() {
        "text/html" | "application/xhtml+xml" => {
            let what = "a web page came instead of an answer: a login page of the network, or a proxy";
            return Err((RunFailure::Network, what.to_owned()).into());
        }
        // A server that does not stream.
        "application/json" => {
            let body = whole(stream, first_at, limits).await?;
            let body = serde_json::from_slice(&body).map_err(|_| {
                (RunFailure::Protocol, "the answer is not JSON, though it says so".to_owned())
            })?;
            return Ok(reader.whole(&body, context.clock.now())?);
        }
        _ => {}
    }
    events(stream, first_at, limits, reader, context).await
}

async fn events<R: Reader>(
    mut stream: HttpStream,
    first_at: Instant,
    limits: RunLimits,
    reader: &mut R,
    context: &EngineContext,
) -> Result<(), Stopped> {
    let mut sse = Sse::default();
    // Any byte is a sign of life, comments too. But a far side that only lives does not work: without a piece of the
    // answer it is given twice the longer of the two limits.
    let patience = limits.first_event.max(limits.idle).saturating_mul(2);
    let (mut wait, mut progress_at) = (first_at, Instant::now() + patience);
    loop {
        let piece = match timeout_at(wait.min(progress_at), stream.body.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => return Err(broken(error, limits)),
            Ok(None) => return Ok(()),
            Err(_) if progress_at < wait => return Err(silent(Silence::Progress(patience), limits).into()),
            Err(_) if wait == first_at => return Err(silent(Silence::First, limits).into()),
            Err(_) => return Err(silent(Silence::Idle, limits).into()),
        };
        let mut progress = false;
        let more = sse.push(&piece, &mut |data| {
            let step = reader.event(data, context.clock.now())?;
            progress |= step == Step::Progress;
            Ok::<_, Failed>(step != Step::Done)
        })?;
        if !more {
            return Ok(());
        }
        let now = Instant::now();
        wait = now + limits.idle;
        if progress {
            progress_at = now + patience;
        }
    }
}

/// The rest of a body, cut at the cap of an error's text or by the request's own.
async fn whole(mut stream: HttpStream, first_at: Instant, limits: RunLimits) -> Result<Vec<u8>, Stopped> {
    let error_status = !(200..300).contains(&stream.status);
    let mut wait = first_at;
    let mut body = Vec::new();
    loop {
        match timeout_at(wait, stream.body.next()).await {
            Ok(Some(Ok(piece))) => body.extend_from_slice(&piece),
            Ok(None) => return Ok(body),
            Ok(Some(Err(_))) | Err(_) if error_status => return Ok(body),
            Ok(Some(Err(error))) => return Err(broken(error, limits)),
            Err(_) => return Err(silent(Silence::Idle, limits).into()),
        }
        if error_status && body.len() > ERROR_BODY_BYTES_MAX {
            return Ok(body);
        }
        wait = Instant::now() + limits.idle;
    }
}

/// What did not come.
enum Silence {
    First,
    Idle,
    Progress(Duration),
}

fn silent(silence: Silence, limits: RunLimits) -> Failed {
    let what = match silence {
        Silence::First => format!("nothing came within {}", short_span(limits.first_event)),
        Silence::Idle => format!("the answer fell silent for {}", short_span(limits.idle)),
        Silence::Progress(span) => {
            format!("for {} only signs of life came and no part of an answer", short_span(span))
        }
    };
    (RunFailure::TimeoutIdle, what)
}

fn broken(error: PortError, limits: RunLimits) -> Stopped {
    if timed_out(&error) {
        let what = format!("the answer took longer than {}", short_span(limits.total));
        return (RunFailure::TimeoutTotal, what).into();
    }
    let error = port_failure(&error);
    (error.failure, error.detail).into()
}

fn media_type(headers: &HeaderMap) -> String {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
