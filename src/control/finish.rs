//! What all requests and answers have in common.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::server::Fault;
use super::wire::{API_HEADER, API_VERSION, ApiError};
use crate::model::limits::CONTROL_ANSWER_BYTES_MAX;
use crate::model::text::one_line;
use crate::secret::Scrubber;

/// A foreign error text, such as the JSON parser's, is shown this far.
const MESSAGE_BYTES_MAX: usize = 500;

/// Refuses another API version, runs the request, makes errors uniform, masks secrets in the answer.
pub async fn finish(State(scrubber): State<Scrubber>, request: Request, next: Next) -> Response {
    let theirs = request.headers().get(API_HEADER).map(|value| value.to_str().unwrap_or("?").to_owned());
    let answer = match theirs {
        // Hand-made requests (curl) may leave it out.
        Some(theirs) if theirs != API_VERSION.to_string() => {
            let message =
                format!("the client speaks version {theirs} of the control API, the daemon {API_VERSION}");
            Fault::new(StatusCode::BAD_REQUEST, "wire-mismatch", message)
                .hint("restart the daemon after an upgrade: `systemctl --user restart workagent`")
                .into_response()
        }
        _ => next.run(request).await,
    };
    let mut answer = uniform(answer, &scrubber).await;
    answer.headers_mut().insert(HeaderName::from_static(API_HEADER), HeaderValue::from(API_VERSION));
    answer
}

async fn uniform(answer: Response, scrubber: &Scrubber) -> Response {
    let status = answer.status();
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let is_json = kind.starts_with("application/json");
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_json && !is_error && !kind.starts_with("text/") {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let Ok(bytes) = to_bytes(body, CONTROL_ANSWER_BYTES_MAX).await else {
        return Fault::bug("the answer is too large").into_response();
    };
    if is_json {
        let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
            return Fault::bug("the answer is not JSON").into_response();
        };
        scrubber.scrub_json(&mut value);
        parts.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(parts, Body::from(value.to_string()));
    }
    let text = scrubber.scrub_owned(String::from_utf8_lossy(&bytes).into_owned());
    if is_error {
        let class = match status {
            StatusCode::NOT_FOUND => "not-found",
            StatusCode::PAYLOAD_TOO_LARGE => "too-large",
            _ if status.is_client_error() => "usage",
            _ => "bug",
        };
        let message = match one_line(&text, MESSAGE_BYTES_MAX) {
            text if text.is_empty() => status.canonical_reason().unwrap_or("failed").to_lowercase(),
            text => text,
        };
        let error = ApiError { class: class.to_owned(), message, hint: None };
        return (status, Json(error)).into_response();
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}
