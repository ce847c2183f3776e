//! Connections: TCP, TLS, and a meter on what a server may send.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;

use super::spec::Endpoint;
use crate::model::class::{ErrorClass, PortError};

/// A connection, protected or not.
pub type Stream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// After so long without a sign of life the kernel asks the peer, without waking this process...
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
/// ...this often...
const KEEPALIVE_EVERY: Duration = Duration::from_secs(20);
/// ...and gives the connection up after so many questions without an answer: two minutes in all.
const KEEPALIVE_COUNT: u32 = 3;

/// Opens a TCP connection that notices a dead peer.
///
/// # Errors
/// Class `Network`.
pub async fn connect(endpoint: &Endpoint, limit: Duration) -> Result<TcpStream, PortError> {
    let doing = || format!("connect to {endpoint}");
    let host = endpoint.host.trim_start_matches('[').trim_end_matches(']');
    let tcp = timeout(limit, TcpStream::connect((host, endpoint.port)))
        .await
        .map_err(|_| PortError::caused(ErrorClass::NETWORK, doing(), "no answer in time"))?
        .map_err(|error| PortError::caused(ErrorClass::NETWORK, doing(), error))?;
    // Without these a connection that a NAT or a sleeping machine lost looks healthy for ever; a kernel that knows
    // them not is no reason to fail.
    let _ = rustix::net::sockopt::set_socket_keepalive(&tcp, true);
    let _ = rustix::net::sockopt::set_tcp_keepidle(&tcp, KEEPALIVE_IDLE);
    let _ = rustix::net::sockopt::set_tcp_keepintvl(&tcp, KEEPALIVE_EVERY);
    let _ = rustix::net::sockopt::set_tcp_keepcnt(&tcp, KEEPALIVE_COUNT);
    let _ = tcp.set_nodelay(true);
    Ok(tcp)
}

/// Puts TLS over a connection.
///
/// # Errors
/// Class `Network` (also for a certificate that is not trusted: it may be a captive portal); `Config` for a host that
/// cannot be in a certificate.
pub async fn protect(
    tcp: TcpStream,
    endpoint: &Endpoint,
    config: Arc<ClientConfig>,
    limit: Duration,
) -> Result<Stream, PortError> {
    let doing = || format!("set up TLS with {endpoint}");
    let host = endpoint.host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name =
        ServerName::try_from(host).map_err(|error| PortError::caused(ErrorClass::Config, doing(), error))?;
    let stream = timeout(limit, TlsConnector::from(config).connect(name, tcp))
        .await
        .map_err(|_| PortError::caused(ErrorClass::NETWORK, doing(), "no answer in time"))?
        .map_err(|error| PortError::caused(ErrorClass::NETWORK, doing(), error))?;
    Ok(Either::Right(Box::new(stream)))
}

/// A stream that ends with an error once the other side has sent more than it was allowed: the IMAP reader would
/// collect up to 512 MiB for one answer.
#[derive(Debug)]
pub struct Metered {
    inner: Stream,
    left: u64,
}

impl Metered {
    /// Nothing may be read before [`Metered::allow`].
    #[must_use]
    pub fn new(inner: Stream) -> Self {
        Self { inner, left: 0 }
    }

    /// So much may be read from now on.
    pub fn allow(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// How much may still be read; it falls as long as the server sends.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The stream itself.
    #[must_use]
    pub fn into_inner(self) -> Stream {
        self.inner
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(std::io::Error::other("the server sends more than was asked for")));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        let read = buf.filled().len().saturating_sub(before);
        self.left = self.left.saturating_sub(read as u64);
        polled
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
