//! A port of the loopback interface: never another address, a bounded number of connections, none that rests for long.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

use crate::model::limits::{WEB_CONNECTIONS_MAX, WEB_IDLE_MAX};

/// After a failed accept (no file descriptors left) the next try waits, or the loop would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// A bound port.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    slots: Arc<Semaphore>,
}

impl Port {
    /// Binds on 127.0.0.1; 0 is any port that is free.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        Ok(Self { listener, slots: Arc::new(Semaphore::new(WEB_CONNECTIONS_MAX)) })
    }

    /// Its number.
    ///
    /// # Errors
    /// The system does not say.
    pub fn number(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }
}

impl axum::serve::Listener for Port {
    type Io = Visit;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visit, SocketAddr) {
        loop {
            // The semaphore is never closed.
            let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
            match self.listener.accept().await {
                Ok((stream, from)) if from.ip().is_loopback() => {
                    let _ = stream.set_nodelay(true);
                    let idle = Box::pin(tokio::time::sleep(WEB_IDLE_MAX));
                    return (Visit { stream, idle, _slot: slot }, from);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%error, "the page takes no connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, its slot, and the time until it has rested too long.
#[derive(Debug)]
pub struct Visit {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Visit {
    /// Something moved, or the time is up.
    fn timed<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.idle.as_mut().reset(Instant::now() + WEB_IDLE_MAX);
            return polled;
        }
        match self.idle.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Visit {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.timed(cx, polled)
    }
}

impl AsyncWrite for Visit {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.timed(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
