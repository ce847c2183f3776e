//! The client's end: one request, one connection.

use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use super::wire::{API_HEADER, API_VERSION, ApiError};
use crate::model::limits::{CONTROL_ANSWER_BYTES_MAX, CONTROL_TIMEOUT};

/// Talks to the daemon of one state directory.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
    timeout: Duration,
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
        Self { socket: socket.into(), timeout: CONTROL_TIMEOUT }
    }

    /// For requests that take their time on purpose.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
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

    async fn connect(&self) -> Result<UnixStream, ClientError> {
        let socket = self.socket.clone();
        UnixStream::connect(&self.socket).await.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ClientError::NotRunning { socket },
            io::ErrorKind::PermissionDenied => ClientError::NotAllowed { socket },
            _ => broken(format!("connect to {}", self.socket.display()), error),
        })
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let stream = self.connect().await?;
        let asking = || format!("ask the daemon for {path}");
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "workagent")
            .header("content-type", "application/json")
            .header("connection", "close")
            .header(API_HEADER, API_VERSION)
            .body(Full::new(body))
            .map_err(|error| broken(asking(), error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(asking(), error))?;
        let answer = async {
            let answer = sender.send_request(request).await.map_err(|error| broken(asking(), error))?;
            let theirs = answer.headers().get(API_HEADER).map(|value| value.to_str().unwrap_or("?"));
            if theirs != Some(API_VERSION.to_string().as_str()) {
                return Err(ClientError::WireMismatch { theirs: theirs.unwrap_or("?").to_owned() });
            }
            let status = answer.status();
            let body = Limited::new(answer.into_body(), CONTROL_ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|error| ClientError::Broken { doing: asking(), source: error })?;
            Ok((status, body.to_bytes()))
        };
        // The connection moves the bytes while the answer is awaited; when it ends first, what it read is still there.
        let mut answer = std::pin::pin!(answer);
        tokio::select! {
            biased;
            done = &mut answer => done,
            _ = connection => answer.await,
        }
    }
}

fn broken(doing: impl Into<String>, source: impl Into<Box<dyn StdError + Send + Sync>>) -> ClientError {
    ClientError::Broken { doing: doing.into(), source: source.into() }
}
