//! The named places, in the order of the way through the house, at which tests kill the process. Between two of them
//! lies one transaction or one effect outside: whatever a crash can interrupt, it interrupts between two of these.

use std::fmt;

use crate::supervise::crash;

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A place at which the process may be killed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        impl Point {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// As `WORKAGENT_CRASH_AT` names it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)*
                }
            }
        }
    };
}

points! {
    /// What a dead predecessor held is returned; nothing runs yet.
    AfterRecovery = "after-recovery",
    /// A page was read; the connector may have noted that, the record has not.
    AfterPoll = "after-poll",
    /// The page is about to be committed.
    BeforeCommit = "before-commit",
    /// Items and cursor are committed; the source was not told.
    AfterCommit = "after-commit",
    /// The source was told: files may have been moved.
    AfterTidying = "after-tidying",
    /// New cases are queued, parked or dismissed.
    AfterRouting = "after-routing",
    /// A case is leased; no run is recorded.
    AfterClaim = "after-claim",
    /// A run is recorded; its engine was not started.
    AfterBegin = "after-begin",
    /// The engine has answered; the answer is in memory only.
    AfterEngine = "after-engine",
    /// Run and draft are committed.
    AfterDraft = "after-draft",
    /// Decision and action are committed; whoever decided has heard nothing.
    AfterApproval = "after-approval",
    /// The journal says `sending`; the wire was not touched.
    AfterSending = "after-sending",
    /// The wire was touched; the answer was not looked at.
    AfterWire = "after-wire",
    /// It was sent; the receipt is in memory only.
    BeforeReceipt = "before-receipt",
    /// The receipt is committed.
    AfterReceipt = "after-receipt",
    /// The platform said whether it had arrived; the answer is in memory only.
    AfterConfirm = "after-confirm",
}

impl Point {
    /// Comes by here.
    pub fn pass(self) {
        crash::point(self.name());
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
