//! A cycle: one pass of one runtime. It takes no input and is not told why it runs.

use futures_util::future::BoxFuture;

use crate::model::class::ErrorClass;
use crate::model::time::Timestamp;

/// One periodic piece of work. The same method serves start-up, timer, wake-up and by hand.
pub trait Cycle: Send + Sync + 'static {
    /// What one pass reports.
    type Record: Clone + Send + Sync + 'static;

    /// The unit's full name, for status and logs.
    fn unit(&self) -> &str;

    /// Looks at what is due and does it. Does not retry in a loop: the next cycle comes.
    fn activate(&self) -> BoxFuture<'_, Pass<Self::Record>>;

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
    /// The whole chain in one line, secrets masked.
    pub message: String,
}
