//! A second hold on the state directory, by its path: whoever deletes the whole directory under a running daemon deletes
//! its lock with it, and the next daemon would begin anew beside it, with an empty record.
//!
//! On Linux it is a name in the kernel (an abstract socket), which nobody can delete and which goes with the process.

use std::path::Path;

/// Held as long as it lives.
#[derive(Debug)]
pub(super) struct Anchor {
    #[cfg(target_os = "linux")]
    _name: Option<std::os::unix::net::UnixListener>,
}

#[cfg(target_os = "linux")]
impl Anchor {
    /// Holds the path.
    ///
    /// # Errors
    /// The process of this user that holds it, `None` where the kernel does not say which.
    pub(super) fn hold(state: &Path) -> Result<Self, Option<u32>> {
        use rustix::net::sockopt::socket_peercred;
        use std::io::ErrorKind;
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

        let us = rustix::process::geteuid();
        let real = std::fs::canonicalize(state).unwrap_or_else(|_| state.to_path_buf());
        let path = crate::model::text::digest(&[real.as_os_str().as_bytes()]);
        let name = format!("workagent/{}/{}", us.as_raw(), path.get(..32).unwrap_or_default());
        let Ok(address) = SocketAddr::from_abstract_name(name) else { return Ok(Self { _name: None }) };
        match UnixListener::bind_addr(&address) {
            Ok(name) => Ok(Self { _name: Some(name) }),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let Ok(stream) = UnixStream::connect_addr(&address) else { return Err(None) };
                match socket_peercred(&stream) {
                    // A stranger took the name: no reason not to run.
                    Ok(peer) if peer.uid != us => Ok(Self { _name: None }),
                    Ok(peer) => Err(u32::try_from(peer.pid.as_raw_nonzero().get()).ok()),
                    Err(_) => Err(None),
                }
            }
            // Where such names are forbidden the lock on the directory stays.
            Err(_) => Ok(Self { _name: None }),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Anchor {
    pub(super) fn hold(_state: &Path) -> Result<Self, Option<u32>> {
        Ok(Self {})
    }
}
