//! The client's end: one request, one connection.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes};
use hyper::service::Service as _;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use super::server::finished;
use super::wire::{API_HEADER, API_VERSION, ApiError};
use crate::model::limits::{CONTROL_ANSWER_BYTES_MAX, CONTROL_TIMEOUT};
use crate::secret::Scrubber;

/// Talks to the daemon of one state directory, or to a router in this process.
#[derive(Clone, Debug)]
pub struct Client {
    way: Way,
    timeout: Duration,
}

#[derive(Clone, Debug)]
enum Way {
    Socket(PathBuf),
    InProcess(Router),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("the daemon is not running (nobody listens on {})", socket.display())]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// The socket is somebody else's.
    #[error("{} belongs to another user", socket.display())]
    NotAllowed {
        /// The socket.
        socket: PathBuf,
    },
    /// The daemon says no.
    #[error("{}", error.message)]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it says.
        error: ApiError,
    },
    /// The two ends are of different versions.
    #[error("the running daemon speaks another version of the control API (it {theirs}, we {API_VERSION})")]
    WireMismatch {
        /// Its version, `?` when it named none.
        theirs: String,
    },
    /// No answer in time.
    #[error("the daemon does not answer within {}s", after.as_secs())]
    TimedOut {
        /// The time given.
        after: Duration,
    },
    /// The connection broke or the answer is not what it should be.
    #[error("{doing}")]
    Broken {
        /// What was being done.
        doing: String,
        /// The cause.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl ClientError {
    /// What to do next, if there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRunning { .. } => Some(
                "start it in this terminal with `workagent run`, or as a service with `systemctl --user start workagent`"
                    .to_owned(),
            ),
            Self::WireMismatch { .. } => {
                Some("restart the daemon after an upgrade: `systemctl --user restart workagent`".to_owned())
            }
            Self::Refused { error, .. } => error.hint.clone(),
            Self::NotAllowed { .. } => Some("run this as the user the daemon runs as".to_owned()),
            Self::TimedOut { .. } => Some("see what it does in its log: `journalctl --user -u workagent`".to_owned()),
            Self::Broken { .. } => None,
        }
    }
}

impl Client {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { way: Way::Socket(socket.into()), timeout: CONTROL_TIMEOUT }
    }

    /// The same handlers without a daemon: a command that holds the instance lock itself.
    #[must_use]
    pub fn in_process(router: Router, scrubber: Scrubber) -> Self {
        Self { way: Way::InProcess(finished(router, scrubber)), timeout: CONTROL_TIMEOUT }
    }

    /// For requests that take their time on purpose.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Asks. `path` begins with a slash, is percent-encoded where needed and may have a query.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.call(Method::GET, path, Bytes::new()).await
    }

    /// Tells. Give `&()` where there is nothing to say.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn post<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(|error| broken("write the request", error))?;
        self.call(Method::POST, path, Bytes::from(body)).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, ClientError> {
        let exchange = self.exchange(method, path, body);
        let timed_out = |_| ClientError::TimedOut { after: self.timeout };
        let (status, bytes) = tokio::time::timeout(self.timeout, exchange).await.map_err(timed_out)??;
        if status.is_success() {
            let text: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
            return serde_json::from_slice(text)
                .map_err(|error| broken(format!("read the daemon's answer to {path}"), error));
        }
        let error: ApiError = serde_json::from_slice(&bytes)
            .map_err(|error| broken(format!("read the daemon's error ({status})"), error))?;
        Err(ClientError::Refused { status: status.as_u16(), error })
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "workagent")
            .header("content-type", "application/json")
            .header("connection", "close")
            .header(API_HEADER, API_VERSION)
            .body(Full::new(body))
            .map_err(|error| broken(asking(path), error))?;
        match &self.way {
            Way::Socket(socket) => over_socket(socket, path, request).await,
            Way::InProcess(router) => {
                let answer = TowerToHyperService::new(router.clone()).call(request).await;
                read(path, answer.map_err(|error| broken(asking(path), error))?).await
            }
        }
    }
}

async fn over_socket(
    socket: &Path,
    path: &str,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Bytes), ClientError> {
    let stream = connect(socket).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(asking(path), error))?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(|error| broken(asking(path), error))?;
        read(path, answer).await
    };
    // The connection moves the bytes while the answer is awaited; when it ends first, what it read is still there.
    let mut answer = std::pin::pin!(answer);
    tokio::select! {
        biased;
        done = &mut answer => done,
        _ = connection => answer.await,
    }
}

async fn connect(socket: &Path) -> Result<UnixStream, ClientError> {
    let named = || socket.to_owned();
    UnixStream::connect(socket).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ClientError::NotRunning { socket: named() }
        }
        io::ErrorKind::PermissionDenied => ClientError::NotAllowed { socket: named() },
        _ => broken(format!("connect to {}", socket.display()), error),
    })
}

/// The answer's status and body, if it is of our version.
async fn read<B>(path: &str, answer: Response<B>) -> Result<(StatusCode, Bytes), ClientError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let theirs = answer.headers().get(API_HEADER).map(|value| value.to_str().unwrap_or("?"));
    if theirs != Some(API_VERSION.to_string().as_str()) {
        return Err(ClientError::WireMismatch { theirs: theirs.unwrap_or("?").to_owned() });
    }
    let status = answer.status();
    let body = Limited::new(answer.into_body(), CONTROL_ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|source| ClientError::Broken { doing: asking(path), source })?;
    Ok((status, body.to_bytes()))
}

fn asking(path: &str) -> String {
    format!("ask the daemon for {path}")
}

fn broken(doing: impl Into<String>, source: impl Into<Box<dyn StdError + Send + Sync>>) -> ClientError {
    ClientError::Broken { doing: doing.into(), source: source.into() }
}
