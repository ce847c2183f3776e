//! Signals become tokens: whoever has to stop waits on a token, not on a signal.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What the outside asks of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// Stop in order.
    pub stop: CancellationToken,
    /// Stop at once: what is not done goes back to the queue.
    pub hurry: CancellationToken,
    /// Look at the unit files again.
    pub reload: Arc<Notify>,
}

impl Orders {
    /// One more request to stop: the first is in order, a second one hurries.
    pub fn stop(&self) {
        if self.stop.is_cancelled() {
            self.hurry.cancel();
        }
        self.stop.cancel();
    }
}

/// What a hang-up means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hangup {
    /// Under a service manager: reload.
    Reload,
    /// In a terminal: the terminal is gone.
    Stop,
}

/// The process's signals, caught from the moment this exists.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    hangup_means: Hangup,
}

impl Signals {
    /// Catches TERM, INT and HUP. Done before anything slow, so that a stop during the start is an orderly one.
    /// Needs a tokio runtime.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn catch(hangup_means: Hangup) -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            hangup_means,
        })
    }

    /// Turns signals into orders until it is dropped; it never ends by itself.
    pub async fn run(mut self, orders: &Orders) {
        loop {
            let (name, hangup) = tokio::select! {
                _ = self.terminate.recv() => ("SIGTERM", false),
                _ = self.interrupt.recv() => ("SIGINT", false),
                _ = self.hangup.recv() => ("SIGHUP", true),
            };
            if hangup && self.hangup_means == Hangup::Reload {
                tracing::info!("{name}: reloading");
                orders.reload.notify_one();
                continue;
            }
            let how =
                if orders.stop.is_cancelled() { "stopping at once" } else { "stopping; again to hurry" };
            tracing::info!("{name}: {how}");
            orders.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_stop_hurries() {
        let orders = Orders::default();
        orders.stop();
        assert!(orders.stop.is_cancelled() && !orders.hurry.is_cancelled());
        orders.stop();
        assert!(orders.hurry.is_cancelled());
    }
}
