//! Noticing that a leader ended without reaping it: while it is a zombie, its number stays its own, so the tree can
//! be looked up by it and its group be signalled.

use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;
use tokio::process::Child;

/// Between two looks where the system has no process handles.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Tells when a leader ended.
pub(super) struct ExitWatch {
    pid: Option<Pid>,
    #[cfg(target_os = "linux")]
    handle: Option<AsyncFd<rustix::fd::OwnedFd>>,
}

impl ExitWatch {
    pub(super) fn new(child: &Child) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Self {
            #[cfg(target_os = "linux")]
            handle: pid.and_then(handle),
            pid,
        }
    }

    /// Returns when the leader ended; it still has to be waited for.
    pub(super) async fn ended(&self) {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle
            && handle.readable().await.is_ok()
        {
            return;
        }
        let Some(pid) = self.pid else { return };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child to wait for.
        while matches!(waitid(WaitId::Pid(pid), look), Ok(None)) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// Kernels before 5.3 and some sandboxes have none.
#[cfg(target_os = "linux")]
fn handle(pid: Pid) -> Option<AsyncFd<rustix::fd::OwnedFd>> {
    use rustix::process::{PidfdFlags, pidfd_open};
    let fd = pidfd_open(pid, PidfdFlags::NONBLOCK).ok()?;
    #[expect(unsafe_code, reason = "the safe form is deprecated as unsound for odd descriptor types")]
    // SAFETY: an `OwnedFd` keeps its one descriptor open for as long as it lives.
    unsafe { AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE) }.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sees_the_end_without_a_handle_and_leaves_the_zombie() {
        #[expect(clippy::disallowed_methods, reason = "the home of child processes")]
        let mut child = tokio::process::Command::new("/bin/sh").args(["-c", "exit 3"]).spawn().unwrap();
        let watch = ExitWatch {
            pid: ExitWatch::new(&child).pid,
            #[cfg(target_os = "linux")]
            handle: None,
        };
        watch.ended().await;
        assert_eq!(child.wait().await.unwrap().code(), Some(3));
    }
}
