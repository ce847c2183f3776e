//! The Unix socket: mode 0600 from the first moment, only for our own user, a bounded number of connections.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::model::limits::CONTROL_CONNECTIONS_MAX;

/// After a failed accept (no file descriptors left) the next try waits, or the loop would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// A bound socket; its file goes when this is dropped, unless somebody put another in its place.
#[derive(Debug)]
pub struct ControlListener {
    listener: UnixListener,
    path: PathBuf,
    identity: Option<(u64, u64)>,
    slots: Arc<Semaphore>,
    is_child: fn(i32) -> bool,
    strangers: u64,
    failures: u64,
}

impl ControlListener {
    /// Binds. A socket file of an earlier daemon is replaced: **call this only while holding the instance lock**. The
    /// directory must be there and private. Needs a tokio runtime.
    ///
    /// # Errors
    /// The socket cannot be made there.
    pub fn bind(path: &Path) -> io::Result<Self> {
        // Bound under another name, closed to others, then moved: at no moment can somebody else connect.
        let mut young = path.as_os_str().to_owned();
        young.push(".new");
        let young = PathBuf::from(young);
        match fs::remove_file(&young) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&young)?;
        fs::set_permissions(&young, fs::Permissions::from_mode(0o600))?;
        fs::rename(&young, path)?;
        Ok(Self {
            listener,
            path: path.to_path_buf(),
            identity: identity(path),
            slots: Arc::new(Semaphore::new(CONTROL_CONNECTIONS_MAX)),
            is_child: |_| false,
            strangers: 0,
            failures: 0,
        })
    }

    /// Takes no connection from processes of which this says that the daemon started them.
    #[must_use]
    pub fn refusing(mut self, is_child: fn(i32) -> bool) -> Self {
        self.is_child = is_child;
        self
    }
}

impl Drop for ControlListener {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Our own user, and root, who can do everything anyway; but nobody whom the daemon itself has started: what an engine is
/// told by strangers must not approve drafts. As the kernel tells, not as the client does.
fn is_welcome(stream: &UnixStream, is_child: fn(i32) -> bool) -> bool {
    let us = rustix::process::geteuid().as_raw();
    let Ok(peer) = stream.peer_cred() else { return false };
    (peer.uid() == us || peer.uid() == 0) && !peer.pid().is_some_and(is_child)
}

impl axum::serve::Listener for ControlListener {
    type Io = Connection;
    type Addr = ();

    async fn accept(&mut self) -> (Connection, ()) {
        loop {
            // The semaphore is never closed.
            let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
            match self.listener.accept().await {
                Ok((stream, _)) if is_welcome(&stream, self.is_child) => {
                    return (Connection { stream, _slot: slot }, ());
                }
                // Anybody may knock as often as they like: a line at each doubling keeps the log small.
                Ok(_) => {
                    self.strangers += 1;
                    if self.strangers.is_power_of_two() {
                        let times = self.strangers;
                        tracing::warn!(
                            times,
                            "a process of another user, or started by an engine or connector, tried the control socket"
                        );
                    }
                }
                Err(error) => {
                    self.failures += 1;
                    if self.failures.is_power_of_two() {
                        let times = self.failures;
                        tracing::warn!(%error, times, "the control socket takes no connection");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection and its slot.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    _slot: Option<OwnedSemaphorePermit>,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
