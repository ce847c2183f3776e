//! What the service manager is told: ready, stopping, a line of status, signs of life. Silent where there is none.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio_util::sync::CancellationToken;

use crate::model::environment::Environment;
use crate::model::text::one_line;

/// systemd shows one line.
const STATUS_BYTES_MAX: usize = 200;

/// The service manager, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceManager {
    listens: bool,
    sign_every: Option<Duration>,
}

impl ServiceManager {
    /// It listens when `NOTIFY_SOCKET` is set; it wants signs of life when `WATCHDOG_USEC` is set for this process.
    #[must_use]
    pub fn of(environment: &Environment) -> Self {
        let listens = environment.get("NOTIFY_SOCKET").is_some();
        let for_us = environment.get("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let limit = environment.get("WATCHDOG_USEC").and_then(|text| text.parse().ok());
        // Half the limit, as its manual advises; a limit of zero is none.
        let sign_every = limit.map(|limit| Duration::from_micros(limit) / 2).filter(|every| !every.is_zero());
        Self { listens, sign_every: sign_every.filter(|_| listens && for_us) }
    }

    /// Started: units that wait for us may go on.
    pub fn ready(self, status: &str) {
        self.say(&[NotifyState::Ready, NotifyState::Status(&one_line(status, STATUS_BYTES_MAX))]);
    }

    /// Looking at the configuration again: who asked for it (`systemctl reload`) waits until the answer is dropped.
    #[must_use]
    pub fn reloading(self) -> Reloading {
        // systemd takes the end of a reload only from a service that said when it began, on the clock it uses itself.
        match NotifyState::monotonic_usec_now() {
            Ok(now) => self.say(&[NotifyState::Reloading, now]),
            Err(error) => tracing::debug!(%error, "the clock was not read"),
        }
        Reloading { manager: self, status: None }
    }

    /// One line for `systemctl status`.
    pub fn status(self, status: &str) {
        // One line: a line break would begin another assignment.
        self.say(&[NotifyState::Status(&one_line(status, STATUS_BYTES_MAX))]);
    }

    /// Going down in order, which takes at most so long: the packaged unit waits for the usual drain, a longer one is
    /// asked for here.
    pub fn stopping(self, status: &str, longest: Duration) {
        let longest = NotifyState::ExtendTimeoutUsec(u32::try_from(longest.as_micros()).unwrap_or(u32::MAX));
        let status = one_line(status, STATUS_BYTES_MAX);
        self.say(&[NotifyState::Stopping, longest, NotifyState::Status(&status)]);
    }

    /// Gives signs of life while `alive` says so, until `stop`. Returns at once when none are wanted, so that an idle
    /// daemon has no timer for it.
    pub async fn watchdog(self, alive: impl Fn() -> bool + Send, stop: &CancellationToken) {
        let Some(every) = self.sign_every else { return };
        let mut ticks = tokio::time::interval(every);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if alive() {
                self.say(&[NotifyState::Watchdog]);
            }
        }
    }

    fn say(self, states: &[NotifyState<'_>]) {
        if !self.listens {
            return;
        }
        if let Err(error) = sd_notify::notify(states) {
            tracing::debug!(%error, "the service manager was not reached");
        }
    }
}

/// A reload goes on. However it ends, the service manager hears that it did, or it would wait until it gives up on us.
#[derive(Debug)]
pub struct Reloading {
    manager: ServiceManager,
    status: Option<String>,
}

impl Reloading {
    /// It ended, and this is what `systemctl status` shows from now on.
    pub fn done(mut self, status: &str) {
        self.status = Some(status.to_owned());
    }
}

impl Drop for Reloading {
    fn drop(&mut self) {
        match &self.status {
            Some(status) => self.manager.ready(status),
            None => self.manager.say(&[NotifyState::Ready]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign_every(pairs: &[(&str, &str)]) -> Option<u64> {
        ServiceManager::of(&Environment::of(pairs.iter().copied()))
            .sign_every
            .map(|every| u64::try_from(every.as_millis()).unwrap())
    }

    #[test]
    fn signs_of_life_only_where_wanted() {
        let (socket, limit) = (("NOTIFY_SOCKET", "/run/notify"), ("WATCHDOG_USEC", "20000000"));
        let own = std::process::id().to_string();
        assert_eq!(sign_every(&[socket, limit]), Some(10_000));
        assert_eq!(sign_every(&[socket, limit, ("WATCHDOG_PID", &own)]), Some(10_000));
        assert_eq!(sign_every(&[socket, limit, ("WATCHDOG_PID", "1")]), None);
        assert_eq!(sign_every(&[limit]), None);
        for text in ["0", "-1", "soon", ""] {
            assert_eq!(sign_every(&[socket, ("WATCHDOG_USEC", text)]), None);
        }
    }

    #[tokio::test]
    async fn without_a_service_manager_nothing_waits() {
        let manager = ServiceManager::of(&Environment::default());
        manager.ready("up");
        manager.watchdog(|| true, &CancellationToken::new()).await;
    }
}
