//! Starting a child so that nothing of ours goes with it: no inherited environment, descriptor, group or terminal.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use tokio::net::unix::pipe;

use super::leader::Leader;
use super::{ChildSpec, lookup};
use crate::model::class::PortError;

#[cfg(target_os = "linux")]
use linux::launch;
#[cfg(not(target_os = "linux"))]
use other::launch;

/// Another thread that forks while we write a program file holds that file open for an instant ("text file busy").
const BUSY_TRIES_MAX: u32 = 5;

/// Between two of those tries.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// A child that runs, and our ends of its pipes.
pub(super) struct Started {
    pub(super) leader: Leader,
    pub(super) stdin: pipe::Sender,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

/// Starts `program` with the arguments, environment and directory of `spec`, marked, in a session of its own: that is
/// a group of its own too, and has no terminal, so that a child that asks for a password there fails at once instead of
/// being stopped for ever.
pub(super) async fn spawn(program: &Path, spec: &ChildSpec, mark: &str) -> Result<Started, PortError> {
    let mut tries = 0;
    loop {
        match start(program, spec, mark) {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES_MAX => {
                tries += 1;
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            Err(error) => return Err(lookup::explain(program, &spec.cwd, error)),
        }
    }
}

fn start(program: &Path, spec: &ChildSpec, mark: &str) -> io::Result<Started> {
    let (theirs_in, ours_in) = io::pipe()?;
    let (ours_out, theirs_out) = io::pipe()?;
    let (ours_err, theirs_err) = io::pipe()?;
    let stdin = pipe::Sender::from_owned_fd(OwnedFd::from(ours_in))?;
    let stdout = pipe::Receiver::from_owned_fd(OwnedFd::from(ours_out))?;
    let stderr = pipe::Receiver::from_owned_fd(OwnedFd::from(ours_err))?;
    let theirs = [OwnedFd::from(theirs_in), OwnedFd::from(theirs_out), OwnedFd::from(theirs_err)];
    let pid = launch(program, spec, mark, theirs)?;
    Ok(Started { leader: Leader::new(pid), stdin, stdout, stderr })
}
