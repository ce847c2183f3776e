//! Noticing that a leader ended without reaping it: while it is a zombie, its number stays its own, so the tree can
//! be looked up by it.

use tokio::process::Child;

#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;

/// Tells when a leader ended.
pub(super) struct ExitWatch {
    #[cfg(target_os = "linux")]
    handle: Option<AsyncFd<rustix::fd::OwnedFd>>,
}

impl ExitWatch {
    #[cfg(target_os = "linux")]
    pub(super) fn new(child: &Child) -> Self {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::NONBLOCK).ok()).and_then(|fd| {
            #[expect(unsafe_code, reason = "the safe form is deprecated as unsound for odd descriptor types")]
            // SAFETY: an `OwnedFd` keeps its one descriptor open for as long as it lives.
            unsafe { AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE) }.ok()
        });
        Self { handle }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn new(_child: &Child) -> Self {
        Self {}
    }

    /// Returns when the leader ended; `true` if it had to be waited for to know it (no process handles here).
    pub(super) async fn ended(&mut self, child: &mut Child) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle
            && handle.readable().await.is_ok()
        {
            return false;
        }
        let _ = child.wait().await;
        true
    }
}
