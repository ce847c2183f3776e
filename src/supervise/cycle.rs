//! A cycle: one pass of one runtime. It takes no input and is not told why it runs.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::model::class::ErrorClass;
use crate::model::retry::RestartPolicy;
use crate::model::time::Timestamp;

/// So long a pass in flight may go on after its driver was told to end, where a unit does not say.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// One periodic piece of work. The same method serves start-up, timer, wake-up and by hand.
pub trait Cycle: Send + Sync + 'static {
    /// What one pass reports.
    type Record: Clone + Send + Sync + 'static;

    /// The unit's full name, for status and logs.
    fn unit(&self) -> &str;

    /// Looks at what is due and does it. Does not retry in a loop: the next cycle comes.
    fn activate(&self) -> BoxFuture<'_, Pass<Self::Record>>;

    /// When to run after a due time that was noticed much too late, because the machine slept, the process stood still or
    /// the clock was set; or that has moved far away, because the clock was set back. At once, unless the cycle knows
    /// better: what looks at the record only costs nothing, and what goes out must not go out with everybody else.
    fn overslept(&self) -> Next {
        Next::Now
    }

    /// The first moment from `at` on at which it may run; `None`: not any more by itself. Also tries after a fault keep
    /// to it.
    fn allowed_from(&self, at: Timestamp) -> Option<Timestamp> {
        Some(at)
    }

    /// How it is tried again after a fault.
    fn restart(&self) -> RestartPolicy {
        RestartPolicy::default()
    }

    /// A pass in flight may go on for so long after its driver was told to end; then it is cut.
    fn stop_timeout(&self) -> Duration {
        STOP_TIMEOUT
    }

    /// Resolves when there may be something to do before the next due time.
    fn woken(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// What a pass came to.
#[derive(Clone, Debug)]
pub struct Pass<R> {
    /// The typed record.
    pub record: R,
    /// The fault that ended the pass, if one did.
    pub fault: Option<Fault>,
    /// When to come back if nothing wakes the cycle earlier. After a fault the driver may come later.
    pub next: Next,
    /// Something new was found (for "last new item" in status).
    pub fresh: bool,
    /// The work was really tried. `false` with a fault: the old fault still holds and nothing was asked of the far
    /// side, so that status must not count it as one more failure.
    pub tried: bool,
}

/// When a cycle wants to run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once: there is more.
    Now,
    /// At this time.
    At(Timestamp),
    /// Only when woken.
    WhenWoken,
}

/// What ended a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its class decides the wait.
    pub class: ErrorClass,
    /// What people are told it is: the class's word, or a finer one.
    pub word: &'static str,
    /// The whole chain in one line, secrets masked.
    pub message: String,
}

impl Fault {
    /// A fault that goes by its class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, word: class.word(), message: message.into() }
    }
}
