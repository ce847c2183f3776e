//! The first process of a run. It is noticed when it ends without being reaped: while it is a zombie, its number stays
//! its own, so the tree can be looked up by it and its group be signalled.

use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;

use super::ChildEnd;

/// Between two looks where the system has no process handles.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A child of ours. Its number is its own until [`reap`](Self::reap), or until this is dropped.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    #[cfg(target_os = "linux")]
    handle: Option<AsyncFd<rustix::fd::OwnedFd>>,
    reaped: bool,
}

impl Leader {
    pub(super) fn new(pid: Pid) -> Self {
        Self {
            pid,
            #[cfg(target_os = "linux")]
            handle: handle(pid),
            reaped: false,
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Returns when it ended; it still has to be reaped.
    pub(super) async fn ended(&self) {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle
            && handle.readable().await.is_ok()
        {
            return;
        }
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that there is no such child to wait for.
        while matches!(waitid(WaitId::Pid(self.pid), look), Ok(None)) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Gives its number back and says how it ended, if it did.
    pub(super) fn reap(&mut self) -> Option<ChildEnd> {
        let status = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        self.reaped = !matches!(status, Ok(None));
        let status = status.ok().flatten()?;
        Some(match status.exit_status() {
            Some(code) => ChildEnd::Exited(code),
            None => ChildEnd::Signalled(status.terminating_signal().unwrap_or(0)),
        })
    }
}

impl Drop for Leader {
    /// A run that was dropped on its way was killed a moment ago: somebody has to take its status, or it stays a zombie.
    fn drop(&mut self) {
        if !self.reaped {
            self.reap();
        }
        if self.reaped {
            return;
        }
        // A drop has nobody to wait for it, and must not block.
        let pid = self.pid;
        let waits = std::thread::Builder::new().name("reap".into()).spawn(move || {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
        });
        if let Err(error) = waits {
            tracing::debug!(%error, "a child that was ended stays a zombie");
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

    fn child(script: &str) -> Leader {
        #[expect(
            clippy::disallowed_methods,
            clippy::zombie_processes,
            reason = "the home of child processes, and this is the test of who waits"
        )]
        let child = std::process::Command::new("/bin/sh").args(["-c", script]).spawn().unwrap();
        Leader::new(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap())
    }

    #[tokio::test]
    async fn sees_the_end_without_a_handle_and_leaves_the_zombie() {
        let mut leader = child("exit 3");
        #[cfg(target_os = "linux")]
        {
            leader.handle = None;
        }
        leader.ended().await;
        assert_eq!(leader.reap(), Some(ChildEnd::Exited(3)));
        assert_eq!(leader.reap(), None);
    }

    #[tokio::test]
    async fn a_signal_is_told() {
        let mut leader = child("kill -9 $$");
        leader.ended().await;
        assert_eq!(leader.reap(), Some(ChildEnd::Signalled(9)));
    }

    #[tokio::test]
    async fn who_is_dropped_before_its_end_leaves_no_zombie() {
        let leader = child("read line < /dev/zero");
        let pid = leader.pid;
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        drop(leader);
        let gone = || rustix::process::test_kill_process(pid).is_err();
        for _ in 0..500 {
            if gone() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(gone());
    }
}
