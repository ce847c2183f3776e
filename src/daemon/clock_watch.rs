//! Notices that the machine woke up or that its clock was set, and tells every driver to look at its due time again.
//!
//! Drivers wait on a clock that stands still while the machine sleeps. On Linux the kernel tells by a timer that is
//! cancelled whenever the clock is set, which it is on waking up too, so that an idle daemon sleeps undisturbed.
//! Elsewhere two clocks are compared now and then.

use std::time::Duration;

use crate::model::time::{Clock, Timestamp};
use crate::supervise::Jumps;

/// Smaller steps are the correction of a clock that runs a little wrong.
const STEP_MIN: Duration = Duration::from_secs(5);

/// Watches for ever. `resumed` is called after the drivers were told, for whoever else wants to look around.
pub async fn watch(clock: Clock, jumps: Jumps, resumed: impl Fn() + Send) {
    let tell = || {
        let now = clock.now();
        tracing::info!(%now, "the machine woke up, or its clock was set: due times are looked at again");
        jumps.tell(now);
        resumed();
    };
    #[cfg(target_os = "linux")]
    match kernel::Cancelled::new() {
        Ok(cancelled) => loop {
            match cancelled.next().await {
                Ok(()) => tell(),
                Err(error) => {
                    tracing::warn!("watch the clock: {error}; comparing clocks instead");
                    break;
                }
            }
        },
        Err(error) => tracing::warn!("watch the clock: {error}; comparing clocks instead"),
    }
    compare(&clock, tell).await;
}

/// How often the clocks are compared where nobody tells.
const COMPARE_EVERY: Duration = Duration::from_secs(60);

async fn compare(clock: &Clock, tell: impl Fn()) {
    loop {
        let (wall, steady) = (clock.now(), tokio::time::Instant::now());
        tokio::time::sleep(COMPARE_EVERY).await;
        if stepped(wall, clock.now(), steady.elapsed()) {
            tell();
        }
    }
}

/// The clock on the wall did not go as far as the steady one.
fn stepped(before: Timestamp, after: Timestamp, steady: Duration) -> bool {
    let expected = before.plus(steady);
    expected.since(after).max(after.since(expected)) >= STEP_MIN
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::io::Errno;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;

    /// A timer far away that is cancelled whenever the clock is set.
    pub(super) struct Cancelled(AsyncFd<OwnedFd>);

    /// The year 2286; it never fires by itself.
    const FAR_AWAY_S: i64 = 9_999_999_999;

    impl Cancelled {
        pub fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
            arm(&timer)?;
            #[expect(
                deprecated,
                reason = "its twin is unsafe for types that change their descriptor under way, which an `OwnedFd` does not"
            )]
            let timer = AsyncFd::new(timer)?;
            Ok(Self(timer))
        }

        /// Resolves when the clock was set.
        pub async fn next(&self) -> io::Result<()> {
            loop {
                let mut ready = self.0.readable().await?;
                let mut expirations = [0; 8];
                match rustix::io::read(self.0.get_ref(), &mut expirations) {
                    Err(Errno::CANCELED) => {
                        ready.clear_ready();
                        arm(self.0.get_ref())?;
                        return Ok(());
                    }
                    Err(Errno::AGAIN) => ready.clear_ready(),
                    Err(Errno::INTR) => {}
                    // It fired by itself: the clock stands beyond its end.
                    Ok(_) => return Err(io::Error::other("the clock is beyond the year 2286")),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    fn arm(timer: &OwnedFd) -> io::Result<()> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let far_away = Timespec { tv_sec: FAR_AWAY_S, tv_nsec: 0 };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(timer, flags, &Itimerspec { it_interval: never, it_value: far_away })?;
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[tokio::test]
        async fn an_undisturbed_clock_tells_nothing() {
            use futures_util::FutureExt;

            let cancelled = Cancelled::new().unwrap();
            for _ in 0..20 {
                tokio::task::yield_now().await;
                assert!(cancelled.next().now_or_never().is_none());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_more_than_a_correction() {
        let start = Timestamp(1_000_000_000);
        let after = |seconds: u64| start.plus(Duration::from_secs(seconds));
        let minute = Duration::from_secs(60);
        assert!(!stepped(start, after(60), minute));
        assert!(!stepped(start, after(63), minute));
        assert!(stepped(start, after(600), minute), "it slept");
        assert!(stepped(start, after(0), minute), "it was set back");
    }
}
