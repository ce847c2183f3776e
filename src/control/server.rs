//! The server's end. What it answers is the caller's router; how it answers is the same for all.

use std::io;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use tokio_util::sync::CancellationToken;

use super::finish;
use super::listener::ControlListener;
use super::wire::ApiError;
use crate::model::limits::{CONTROL_BODY_BYTES_MAX, CONTROL_DRAIN};
use crate::secret::Scrubber;

/// An error as an answer: `Err(Fault)` from a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    status: StatusCode,
    error: ApiError,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.error.message)
    }
}

impl Fault {
    /// With a class word of [`ApiError::class`].
    pub fn new(status: StatusCode, class: &str, message: impl Into<String>) -> Self {
        Self { status, error: ApiError { class: class.to_owned(), message: message.into(), hint: None } }
    }

    /// 404: nothing with that name.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    /// 409: the state of things does not allow it.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "refused", message)
    }

    /// 400: the request makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "usage", message)
    }

    /// 500: ours.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", message)
    }

    /// What to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (self.status, Json(self.error)).into_response()
    }
}

/// Serves until `stop`; then requests in flight have [`CONTROL_DRAIN`] to end. The socket file is gone afterwards.
///
/// Every answer carries the API version, every error is an [`ApiError`], every text is scrubbed, requests over the body
/// limit and of another API version are refused.
///
/// # Errors
/// None that end it: failed connections are logged.
pub async fn serve(
    listener: ControlListener,
    router: Router,
    scrubber: Scrubber,
    stop: CancellationToken,
) -> io::Result<()> {
    let router = finished(router, scrubber);
    let stopped = stop.clone().cancelled_owned();
    let serving = axum::serve(listener, router).with_graceful_shutdown(stopped).into_future();
    let cut = async {
        stop.cancelled().await;
        tokio::time::sleep(CONTROL_DRAIN).await;
    };
    // A client that stopped in the middle of its request would hold the end for ever.
    tokio::select! {
        served = serving => served,
        () = cut => {
            tracing::debug!("control requests were cut at stop");
            Ok(())
        }
    }
}

/// A router with what all requests and answers have in common.
pub(super) fn finished(router: Router, scrubber: Scrubber) -> Router {
    router
        .fallback(|| async { Fault::not_found("the daemon does not know this request") })
        .layer(DefaultBodyLimit::max(CONTROL_BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(scrubber, finish::finish))
}
