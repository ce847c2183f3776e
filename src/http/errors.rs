//! Errors of the way to the server and back: whether the request can have arrived.

use std::error::Error as StdError;
use std::time::Duration;

use super::request::{Effect, HttpRequest};
use crate::model::class::{ErrorClass, PortError};
use crate::model::text::short_size;
use crate::model::time::short_span;

/// No answer in time. The cause of a [`PortError`]; see [`timed_out`].
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0}")]
struct TooSlow(String);

/// The error is about time running out after the connection stood.
#[must_use]
pub fn timed_out(error: &PortError) -> bool {
    error.source.as_ref().is_some_and(|cause| cause.is::<TooSlow>())
}

/// The answer is larger than the request takes. The cause of a [`PortError`]; see [`too_big`](is_too_big).
#[derive(Debug, thiserror::Error)]
#[error("the answer is larger than {0}, the most that is taken")]
struct TooBig(String);

/// The error is about an answer larger than the request takes.
#[must_use]
pub fn is_too_big(error: &PortError) -> bool {
    error.source.as_ref().is_some_and(|cause| cause.is::<TooBig>())
}

/// The class of an error after which the request may have arrived.
fn after_the_wire(request: &HttpRequest) -> ErrorClass {
    match request.effect {
        Effect::Read => ErrorClass::NETWORK,
        Effect::Write => ErrorClass::Uncertain,
    }
}

pub(super) fn of_transport(request: &HttpRequest, error: reqwest::Error) -> PortError {
    // Its own text may hold the URL with the key in it.
    let error = error.without_url();
    let (class, what) = if error.is_builder() {
        (ErrorClass::Config, "the request cannot be made")
    } else if error.is_dns() {
        (ErrorClass::NETWORK, "the host name is not found")
    } else if error.is_connect() {
        // Name, TCP and TLS all come before the first byte of the request.
        (ErrorClass::NETWORK, "cannot connect")
    } else if error.is_decode() {
        (after_the_wire(request), "the answer cannot be decompressed")
    } else {
        (after_the_wire(request), "the connection was lost before the whole answer came")
    };
    let cause = innermost(&error);
    PortError::caused(class, request.doing(), format!("{what}: {cause}"))
}

pub(super) fn too_slow(request: &HttpRequest, waited: Duration) -> PortError {
    PortError::caused(after_the_wire(request), request.doing(), TooSlow(short_span(waited)))
}

pub(super) fn too_big(request: &HttpRequest) -> PortError {
    let most = short_size(request.body_bytes_max as u64);
    PortError::caused(after_the_wire(request), request.doing(), TooBig(most))
}

/// The libraries' own layers ("error sending request", "client error") say nothing to people; the root does.
fn innermost(error: &reqwest::Error) -> String {
    let mut deepest: &(dyn StdError + 'static) = error;
    while let Some(cause) = deepest.source() {
        deepest = cause;
    }
    deepest.to_string()
}
