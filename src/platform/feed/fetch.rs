//! The document, from the web or from a file.

use std::io::Read as _;
use std::time::Duration;

use url::Url;

use super::memory::Memory;
use crate::http::{Credentials, HttpRequest, HttpResponse, HttpRoom, Validators, header, masked};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::short_size;
use crate::model::time::Timestamp;

/// What the source gave.
#[derive(Debug)]
pub enum Fetched {
    /// Nothing new since the validators.
    NotModified {
        /// It asked not to be asked again before.
        not_before: Option<Duration>,
    },
    /// A document.
    Document(Fresh),
}

/// A document, not yet read.
#[derive(Debug)]
pub struct Fresh {
    /// As it came, decompressed.
    pub bytes: Vec<u8>,
    /// For the next request.
    pub validators: Validators,
    /// The charset of the HTTP answer.
    pub label: Option<String>,
    /// Where it came from, without anything that may be a key; resolves relative links.
    pub base: Option<String>,
    /// Where it lives for good, for people.
    pub moved: Option<String>,
    /// It asked not to be asked again before.
    pub not_before: Option<Duration>,
}

/// Asks the web.
pub async fn web(
    http: &HttpRoom,
    url: Url,
    credentials: Option<Credentials>,
    memory: &Memory,
    now: Timestamp,
) -> Result<Fetched, PortError> {
    let mut request = HttpRequest::get(url)
        .header(
            reqwest::header::ACCEPT,
            "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5",
        )
        .body_bytes_max(limits::FEED_BYTES_MAX)
        .credentials(credentials);
    // In the middle of a document its body is needed, not the news that it is the same.
    if memory.taken.is_none() {
        request = request.validators(&memory.validators);
    }
    let with_credentials = request.has_credentials();
    let response = http.send(request).await?;
    let not_before = max_age(&response);
    if response.status == 304 {
        return Ok(Fetched::NotModified { not_before });
    }
    let moved = response.moved_to.as_ref().map(masked);
    let status = response.status;
    let response = response.into_ok(now).map_err(|error| class_for_feeds(error, status, with_credentials))?;
    let mut base = response.final_url.clone();
    base.set_query(None);
    let _ = (base.set_username(""), base.set_password(None));
    let label = header(&response.headers, reqwest::header::CONTENT_TYPE).and_then(charset);
    Ok(Fetched::Document(Fresh {
        validators: response.validators(),
        label,
        base: Some(base.to_string()),
        moved,
        not_before,
        bytes: response.body,
    }))
}

/// Most refusals of a feed pass: sites move behind bot walls and back. Gone is gone.
fn class_for_feeds(error: PortError, status: u16, with_credentials: bool) -> PortError {
    match (status, error.class) {
        (410, _) => PortError::caused(
            ErrorClass::Config,
            error.doing,
            "the feed is gone for good (410); remove it or change `url`",
        ),
        (403, ErrorClass::Permanent) if with_credentials => PortError { class: ErrorClass::Auth, ..error },
        (_, ErrorClass::Permanent) => PortError { class: ErrorClass::NETWORK, ..error },
        _ => error,
    }
}

/// `Cache-Control: max-age`; over a day is not believed.
fn max_age(response: &HttpResponse) -> Option<Duration> {
    let control = header(&response.headers, reqwest::header::CACHE_CONTROL)?.to_ascii_lowercase();
    let seconds =
        control.split(',').find_map(|part| part.trim().strip_prefix("max-age=")?.parse::<u64>().ok())?;
    wait(seconds)
}

/// A wait that a source asks for in seconds.
#[must_use]
pub fn wait(seconds: u64) -> Option<Duration> {
    let span = Duration::from_secs(seconds);
    let span = if span > limits::RETRY_HINT_MAX { limits::RETRY_HINT_ABSURD } else { span };
    (!span.is_zero()).then_some(span)
}

fn charset(content_type: &str) -> Option<String> {
    let value = content_type.split(';').find_map(|part| part.trim().strip_prefix("charset="))?;
    Some(value.trim_matches(['"', '\'', ' ']).to_owned())
}

/// Reads a file. It need not exist yet, so that is no fault of the unit.
pub async fn file(url: &Url) -> Result<Fetched, PortError> {
    let doing = format!("read the feed {}", masked(url));
    let Ok(path) = url.to_file_path() else {
        return Err(PortError::caused(ErrorClass::Config, doing, "the URL names no file of this machine"));
    };
    let read = tokio::task::spawn_blocking(move || read_regular(&path)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(PortError::caused(ErrorClass::NETWORK, doing, error)),
        Err(error) => return Err(PortError::caused(ErrorClass::Bug, doing, error)),
    };
    if bytes.len() > limits::FEED_BYTES_MAX {
        let most = short_size(limits::FEED_BYTES_MAX as u64);
        return Err(PortError::caused(
            ErrorClass::NETWORK,
            doing,
            format!("the file is larger than {most}, the most that is taken"),
        ));
    }
    Ok(Fetched::Document(Fresh {
        bytes,
        validators: Validators::default(),
        label: None,
        base: None,
        moved: None,
        not_before: None,
    }))
}

fn read_regular(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use rustix::fs::{Mode, OFlags};
    // Without the flag a FIFO would hold us until somebody writes to it.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limits::FEED_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
