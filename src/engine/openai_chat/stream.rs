//! One exchange with the server: the request, the limits, the events.

use eventsource_stream::{EventStreamError, Eventsource as _};
use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::super::{EngineContext, failed, port_failure};
use super::answer::{Answer, Failed};
use super::errors::Refusal;
use crate::http::{HttpRequest, HttpStream, retry_hint, timed_out};
use crate::model::class::PortError;
use crate::model::run::{EngineError, RunFailure, RunLimits};
use crate::model::time::{Clock, short_span};

/// An error answer that is read for its message.
const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;

/// Why the bytes ended before their end.
#[derive(Debug)]
enum Broken {
    Port(PortError),
    First,
    Idle,
}

/// Sends the request and takes the answer into `answer`. A stream that ends in order is judged by
/// [`Answer::finish`].
pub(super) async fn talk(
    context: &EngineContext,
    request: HttpRequest,
    limits: RunLimits,
    answer: &mut Answer,
) -> Result<(), Failed> {
    let started = Instant::now();
    // Until the first byte, headers included: some servers send them at once, some with the first word.
    let first_at = started + limits.first_event;
    // The room's own limit on silence is set aside: ours depends on whether anything came.
    let open = timeout_at(first_at, context.http.stream(request, limits.total));
    let stream = match open.await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(broken(Broken::Port(error), limits)),
        Err(_) => return Err(broken(Broken::First, limits)),
    };
    let now = context.clock.now();
    if !(200..300).contains(&stream.status) {
        let (status, headers) = (stream.status, stream.headers.clone());
        let body = whole(stream, first_at, limits).await.unwrap_or_default();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let error = refused(status, &headers, &body, &context.clock);
        return Err((error.failure, error.detail));
    }
    match media_type(&stream.headers).as_str() {
        "text/html" | "application/xhtml+xml" => {
            let what = "a web page came instead of an answer: a login page of the network, or a proxy";
            return Err((RunFailure::Network, what.to_owned()));
        }
        // A server that does not stream.
        "application/json" => {
            let body = whole(stream, first_at, limits).await?;
            let chunk = serde_json::from_slice(&body).map_err(|_| {
                (RunFailure::Protocol, "the answer is not JSON, though it says so".to_owned())
            })?;
            return answer.take_chunk(&chunk, now);
        }
        _ => {}
    }
    events(stream, first_at, limits, answer, context).await
}

async fn events(
    stream: HttpStream,
    first_at: Instant,
    limits: RunLimits,
    answer: &mut Answer,
    context: &EngineContext,
) -> Result<(), Failed> {
    // Limits hang on bytes and not on events: comments keep a slow stream alive and make no event.
    let pieces = futures_util::stream::unfold(Some((stream.body, first_at)), move |state| async move {
        let (mut body, wait) = state?;
        match timeout_at(wait, body.next()).await {
            Ok(Some(Ok(piece))) => Some((Ok(piece), Some((body, Instant::now() + limits.idle)))),
            Ok(Some(Err(error))) => Some((Err(Broken::Port(error)), None)),
            Ok(None) => None,
            Err(_) if wait == first_at => Some((Err(Broken::First), None)),
            Err(_) => Some((Err(Broken::Idle), None)),
        }
    });
    let mut events = Box::pin(pieces.eventsource());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => answer.take(&event.data, context.clock.now())?,
            Err(EventStreamError::Transport(error)) => return Err(broken(error, limits)),
            Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => {
                return Err((RunFailure::Protocol, "the answer is not a stream of events".to_owned()));
            }
        }
        if answer.done {
            break;
        }
    }
    Ok(())
}

/// The rest of a body, cut at the cap of an error's text or by the request's own.
async fn whole(mut stream: HttpStream, first_at: Instant, limits: RunLimits) -> Result<Vec<u8>, Failed> {
    let error_status = !(200..300).contains(&stream.status);
    let mut wait = first_at;
    let mut body = Vec::new();
    loop {
        match timeout_at(wait, stream.body.next()).await {
            Ok(Some(Ok(piece))) => body.extend_from_slice(&piece),
            Ok(None) => return Ok(body),
            Ok(Some(Err(_))) | Err(_) if error_status => return Ok(body),
            Ok(Some(Err(error))) => return Err(broken(Broken::Port(error), limits)),
            Err(_) => return Err(broken(Broken::Idle, limits)),
        }
        if error_status && body.len() > ERROR_BODY_BYTES_MAX {
            return Ok(body);
        }
        wait = Instant::now() + limits.idle;
    }
}

fn broken(why: Broken, limits: RunLimits) -> Failed {
    match why {
        Broken::First => {
            (RunFailure::TimeoutIdle, format!("nothing came within {}", short_span(limits.first_event)))
        }
        Broken::Idle => {
            (RunFailure::TimeoutIdle, format!("the answer fell silent for {}", short_span(limits.idle)))
        }
        Broken::Port(error) if timed_out(&error) => {
            (RunFailure::TimeoutTotal, format!("the answer took longer than {}", short_span(limits.total)))
        }
        Broken::Port(error) => {
            let error = port_failure(&error);
            (error.failure, error.detail)
        }
    }
}

/// An error status with its body.
pub(super) fn refused(status: u16, headers: &HeaderMap, body: &Value, clock: &Clock) -> EngineError {
    let now = clock.now();
    let refusal = Refusal { status, body, hint: retry_hint(headers, now), now };
    failed(refusal.failure(), refusal.detail())
}

fn media_type(headers: &HeaderMap) -> String {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
