//! A `WebSocket` to the outside: opened by us, bounded in what it takes, and never taken for alive when it is not.
//!
//! Proxies from the environment are not used for it: a machine that has no other way out is told so by the error.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use url::Url;

use super::{HttpRoom, is_loopback, masked, tls};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;

trait Way: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Way for T {}

/// An open connection. Everything on it may be cut short and tried again: no message is lost by that.
pub struct Socket {
    stream: WebSocketStream<Box<dyn Way>>,
    doing: String,
    idle: Duration,
    /// Nothing came for `idle`, and the other side was asked whether it is there.
    asked: bool,
}

impl HttpRoom {
    /// Opens a connection to `wss://…`, or `ws://…` on this machine. `idle`: after so long without a sign of life the
    /// other side is asked for one, after twice as long the connection counts as dead.
    ///
    /// # Errors
    /// `Config`: not such a URL, or TLS cannot be set up. `Network`: anything on the way.
    pub async fn socket(&self, url: &Url, idle: Duration) -> Result<Socket, PortError> {
        // The query of such a URL is a ticket.
        let doing = format!("open a socket to {}", masked(url));
        let failed = |class: ErrorClass, why: String| PortError::caused(class, doing.clone(), why);
        let (secure, host) = match (url.scheme(), url.host_str()) {
            ("wss", Some(host)) => (true, host),
            ("ws", Some(host)) if is_loopback(url) => (false, host),
            _ => return Err(failed(ErrorClass::Config, "it is not a wss URL".into())),
        };
        let port = url.port_or_known_default().unwrap_or(443);
        let network = |why: String| failed(ErrorClass::NETWORK, why);
        let open = async {
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let tcp = TcpStream::connect((bare, port)).await.map_err(|error| network(error.to_string()))?;
            let _ = tcp.set_nodelay(true);
            let way: Box<dyn Way> = if secure {
                let mut settings = tls::client_config(None)?;
                settings.alpn_protocols = vec![b"http/1.1".to_vec()];
                let name = ServerName::try_from(bare.to_owned())
                    .map_err(|error| failed(ErrorClass::Config, error.to_string()))?;
                let protected = TlsConnector::from(Arc::new(settings)).connect(name, tcp).await;
                Box::new(protected.map_err(|error| network(error.to_string()))?)
            } else {
                Box::new(tcp)
            };
            let bounds = WebSocketConfig::default()
                .max_message_size(Some(limits::SOCKET_MESSAGE_BYTES_MAX))
                .max_frame_size(Some(limits::SOCKET_MESSAGE_BYTES_MAX));
            let opened = tokio_tungstenite::client_async_with_config(url.as_str(), way, Some(bounds)).await;
            // The library's own text may hold the URL.
            let (stream, _) = opened.map_err(|error| network(said(&error)))?;
            Ok::<_, PortError>(stream)
        };
        let stream = timeout(limits::HTTP_CONNECT, open)
            .await
            .map_err(|_| failed(ErrorClass::NETWORK, "no connection in time".into()))??;
        Ok(Socket { stream, doing: format!("listen at {}", masked(url)), idle, asked: false })
    }
}

fn said(error: &Error) -> String {
    match error {
        Error::Http(response) => format!("the server answered {}", response.status()),
        Error::Capacity(_) => "a message is larger than is taken".to_owned(),
        Error::Io(error) => error.to_string(),
        Error::ConnectionClosed | Error::AlreadyClosed => "the connection is closed".to_owned(),
        _ => "the other side does not keep to the protocol".to_owned(),
    }
}

impl Socket {
    /// The next text; `None`: the other side closed. Pings are answered on the way, binary messages passed over.
    ///
    /// # Errors
    /// `Network`: the connection is lost, silent or out of bounds. It is of no use any more.
    pub async fn next(&mut self) -> Result<Option<String>, PortError> {
        loop {
            let failed = |why: String| PortError::caused(ErrorClass::NETWORK, self.doing.clone(), why);
            let came = match timeout(self.idle, self.stream.next()).await {
                Ok(came) => came,
                Err(_) if self.asked => return Err(failed("no sign of life".into())),
                Err(_) => {
                    self.asked = true;
                    let sent = self.stream.send(Message::Ping(Vec::new().into())).await;
                    sent.map_err(|error| failed(said(&error)))?;
                    continue;
                }
            };
            self.asked = false;
            match came {
                Some(Ok(Message::Text(text))) => return Ok(Some(text.as_str().to_owned())),
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                // Answers to pings are queued by the library and leave with the next look or message.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(failed(said(&error))),
            }
        }
    }

    /// Sends a text.
    ///
    /// # Errors
    /// `Network`: the connection is lost.
    pub async fn send(&mut self, text: String) -> Result<(), PortError> {
        let doing = self.doing.clone();
        let sent = timeout(self.idle, self.stream.send(Message::Text(text.into()))).await;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(PortError::caused(ErrorClass::NETWORK, doing, said(&error))),
            Err(_) => Err(PortError::caused(ErrorClass::NETWORK, doing, "the other side takes nothing")),
        }
    }
}
