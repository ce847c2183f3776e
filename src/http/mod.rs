//! The only home of the HTTP client and of TLS settings: limits, retry class, conditional requests, redacting errors.
//!
//! One request is one try. The room never repeats a request and follows redirects by hand: only for requests that
//! change nothing at the far side, and for 307 and 308 within one origin, at most [`limits::HTTP_REDIRECTS_MAX`] hops;
//! credentials stay with the origin they were given for. Every error says whether the request can have reached the far side.

mod errors;
mod hint;
mod pace;
mod redact;
mod request;
mod response;
mod socket;
pub mod sse;
pub mod tls;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream::BoxStream;
use hyper::body::Bytes;
use reqwest::header::{HeaderMap, HeaderName, LOCATION};
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

pub use self::errors::{is_too_big, timed_out};
pub use self::hint::retry_hint;
pub use self::pace::Pace;
pub use self::redact::masked;
pub use self::request::{Credentials, Effect, HttpRequest, Validators};
pub use self::response::{HttpResponse, status_class};
pub use self::socket::Socket;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;

/// Makes HTTP requests; cheap to clone, clones share connections. The TLS client is built at first use.
#[derive(Clone, Debug, Default)]
pub struct HttpRoom {
    clients: Arc<Clients>,
    paces: Arc<pace::Paces>,
}

/// One client for each pair of (TLS, this machine). Plain HTTP gets by without the system's certificates: they take
/// time and memory, and a small container has none. A proxy from the environment (`HTTPS_PROXY`, `HTTP_PROXY`,
/// `ALL_PROXY`, `NO_PROXY`) must not see what is meant for this machine.
#[derive(Debug, Default)]
struct Clients([OnceLock<reqwest::Client>; 4]);

/// An answer that is still coming in.
pub struct HttpStream {
    /// The status code; an error status has a body too.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// The decompressed body. Ends after the first error; over the request's cap is an error.
    pub body: BoxStream<'static, Result<Bytes, PortError>>,
}

impl HttpRoom {
    /// What is known of an account's limits; the name is the caller's, and who asks under the same name shares it.
    #[must_use]
    pub fn pace(&self, account: &str) -> Pace {
        self.paces.of(account)
    }

    /// Sends a request, once, and reads the whole answer, whatever its status
    /// (see [`HttpResponse::into_ok`] to make errors of error statuses).
    ///
    /// # Errors
    /// Nothing came back that is an answer. The class is `Network` where trying again does no harm: the request only
    /// reads, or it surely never left (name not found, refused, TLS failed). A write that may have left is `Uncertain`.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, PortError> {
        let deadline = Instant::now() + request.total;
        let mut url = request.url.clone();
        let mut credentials = true;
        let mut permanent = true;
        let mut moved_to = None;
        for _ in 0..=limits::HTTP_REDIRECTS_MAX {
            let mut answer = self.open(&request, &url, credentials, deadline).await?;
            let status = answer.status().as_u16();
            let target = redirect_target(&request, status, &url, answer.headers())?;
            let Some(target) = target else {
                let body = collect(&request, &mut answer, deadline).await?;
                return Ok(HttpResponse {
                    status,
                    headers: std::mem::take(answer.headers_mut()),
                    final_url: url,
                    moved_to,
                    effect: request.effect,
                    doing: request.doing(),
                    body,
                });
            };
            permanent &= matches!(status, 301 | 308);
            if permanent {
                moved_to = Some(target.clone());
            }
            // Once over the border they stay behind, also on the way back: the far side chose that way.
            credentials &= target.origin() == url.origin();
            url = target;
        }
        Err(PortError::caused(
            ErrorClass::NETWORK,
            request.doing(),
            format!("more than {} redirects, the last one to {}", limits::HTTP_REDIRECTS_MAX, masked(&url)),
        ))
    }

    /// Sends a request, once, and gives the body as it comes; `idle` bounds the wait for each piece.
    /// Redirects are not followed. The request's `total` bounds everything from now to the last piece.
    ///
    /// # Errors
    /// As [`send`](Self::send); errors after the headers come through the stream.
    pub async fn stream(&self, request: HttpRequest, idle: Duration) -> Result<HttpStream, PortError> {
        let deadline = Instant::now() + request.total;
        let mut answer = self.open(&request, &request.url.clone(), true, deadline).await?;
        let status = answer.status().as_u16();
        let headers = std::mem::take(answer.headers_mut());
        let state = Some((request, answer, 0usize));
        let body = futures_util::stream::unfold(state, move |state| async move {
            let (request, mut answer, seen) = state?;
            let wait = deadline.min(Instant::now() + idle);
            let piece = match timeout_at(wait, answer.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => return None,
                Ok(Err(error)) => return Some((Err(errors::of_transport(&request, error)), None)),
                Err(_) => return Some((Err(errors::too_slow(&request, idle)), None)),
            };
            let seen = seen.saturating_add(piece.len());
            if seen > request.body_bytes_max {
                return Some((Err(errors::too_big(&request)), None));
            }
            Some((Ok(piece), Some((request, answer, seen))))
        });
        Ok(HttpStream { status, headers, body: Box::pin(body) })
    }

    /// Sends the head and body of one hop and waits for the answer's head.
    async fn open(
        &self,
        request: &HttpRequest,
        url: &Url,
        credentials: bool,
        deadline: Instant,
    ) -> Result<reqwest::Response, PortError> {
        let client = self.client(url, request)?;
        let mut builder =
            client.request(request.method.clone(), url.clone()).headers(request.headers.clone());
        if credentials {
            builder = request.authorize(builder, url)?;
        }
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        match timeout_at(deadline, builder.send()).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(errors::of_transport(request, error)),
            // The connection has its own, shorter limit, so by now bytes may have left.
            Err(_) => Err(errors::too_slow(request, request.total)),
        }
    }

    fn client(&self, url: &Url, request: &HttpRequest) -> Result<&reqwest::Client, PortError> {
        let (secure, loopback) = (url.scheme() == "https", is_loopback(url));
        let [plain_out, plain_in, secure_out, secure_in] = &self.clients.0;
        let cell = match (secure, loopback) {
            (false, false) => plain_out,
            (false, true) => plain_in,
            (true, false) => secure_out,
            (true, true) => secure_in,
        };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let client = build(secure, loopback)
            .map_err(|error| PortError { doing: format!("{}: {}", request.doing(), error.doing), ..error })?;
        Ok(cell.get_or_init(|| client))
    }
}

fn build(secure: bool, loopback: bool) -> Result<reqwest::Client, PortError> {
    let mut settings = if secure { tls::client_config(None)? } else { no_tls()? };
    settings.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    #[expect(clippy::disallowed_methods, reason = "this is the one home of HTTP clients")]
    let mut builder = reqwest::Client::builder();
    builder = builder
        .tls_backend_preconfigured(settings)
        .user_agent(concat!("workagent/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(limits::HTTP_CONNECT)
        .pool_idle_timeout(limits::HTTP_POOL_IDLE)
        .pool_max_idle_per_host(2)
        .http2_max_header_list_size(limits::HTTP_HEADER_BYTES_MAX);
    if loopback {
        builder = builder.no_proxy();
    }
    let config = |error: reqwest::Error| {
        PortError::caused(ErrorClass::Config, "set up the HTTP client", error.without_url())
    };
    builder.build().map_err(config)
}

/// For clients that are never asked for https; the library wants settings all the same.
fn no_tls() -> Result<rustls::ClientConfig, PortError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| PortError::caused(ErrorClass::Bug, "set up the HTTP client", error))?;
    Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

/// Where to go next, or `None` when this is the answer.
fn redirect_target(
    request: &HttpRequest,
    status: u16,
    from: &Url,
    headers: &HeaderMap,
) -> Result<Option<Url>, PortError> {
    let writes = request.effect == Effect::Write || !request.method.is_safe();
    // 307 and 308 say that nothing was done, and that the same request belongs elsewhere. Of the others, some servers make
    // a GET and some mean that they have acted.
    if !matches!(status, 307 | 308) && (writes || !matches!(status, 301..=303)) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION).and_then(|value| value.to_str().ok()) else {
        return Ok(None);
    };
    let refuse = |why: &str| Err(PortError::caused(ErrorClass::NETWORK, request.doing(), why.to_owned()));
    let Ok(mut target) = from.join(location) else {
        return refuse("the server redirects to something that is not a URL");
    };
    if !matches!(target.scheme(), "http" | "https") {
        return refuse("the server redirects to something that is not HTTP");
    }
    if from.scheme() == "https" && target.scheme() == "http" {
        return refuse("the server redirects from https to plain http");
    }
    if is_loopback(&target) && !is_loopback(from) {
        return refuse("an outside server redirects into this machine");
    }
    if request.same_origin && target.origin() != from.origin() {
        let why = format!("the server redirects to another host, {}; it was not followed", masked(&target));
        return Err(PortError::caused(ErrorClass::Config, request.doing(), why));
    }
    // What is written goes nowhere but where it was meant for: another path of the same server is a renamed thing.
    if writes && target.origin() != from.origin() {
        let why =
            format!("the server sends it on to another host, {}; nothing was sent there", masked(&target));
        return Err(PortError::caused(ErrorClass::Config, request.doing(), why));
    }
    target.set_fragment(None);
    Ok(Some(target))
}

/// The whole body within its cap, counted after decompression.
async fn collect(
    request: &HttpRequest,
    answer: &mut reqwest::Response,
    deadline: Instant,
) -> Result<Vec<u8>, PortError> {
    let mut body = Vec::new();
    loop {
        match timeout_at(deadline, answer.chunk()).await {
            Ok(Ok(Some(piece))) => {
                if body.len().saturating_add(piece.len()) > request.body_bytes_max {
                    return Err(errors::too_big(request));
                }
                body.extend_from_slice(&piece);
            }
            Ok(Ok(None)) => return Ok(body),
            Ok(Err(error)) => return Err(errors::of_transport(request, error)),
            Err(_) => return Err(errors::too_slow(request, request.total)),
        }
    }
}

/// The URL itself carries a user name or a password, where everybody who sees it reads them.
#[must_use]
pub fn holds_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Plain HTTP to another machine: whatever goes there can be read on the way.
#[must_use]
pub fn is_in_the_open(url: &Url) -> bool {
    url.scheme() == "http" && !is_loopback(url)
}

/// This machine, by name or number.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A header's value as text, where it is text.
#[must_use]
pub fn header(headers: &HeaderMap, name: impl AsRef<str>) -> Option<&str> {
    let name: HeaderName = name.as_ref().parse().ok()?;
    headers.get(name)?.to_str().ok()
}
