//! The class of an error: what it means for the next step, decided where it happens.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// What an error means for whoever has to go on. Every error that reaches a runtime has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The far side or the way to it is not there; try again, never give up.
    Network {
        /// A wait that the far side asked for.
        retry_after: Option<Duration>,
    },
    /// The far side asked to wait; counts as healthy.
    RateLimited {
        /// When to come back.
        until: Timestamp,
    },
    /// The credentials are missing, wrong or used up; waits for the user or a new secret version.
    Auth,
    /// The unit says something that cannot work; waits for an edit.
    Config,
    /// Asking again will never help.
    Permanent,
    /// It may have happened: only `confirm` or the user can tell.
    Uncertain,
    /// A fault of ours.
    Bug,
}

impl ErrorClass {
    /// Transient without a hint.
    pub const NETWORK: Self = Self::Network { retry_after: None };

    /// The stable word for tables, logs and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Network { .. } => "network",
            Self::RateLimited { .. } => "rate-limit",
            Self::Auth => "auth",
            Self::Config => "config",
            Self::Permanent => "permanent",
            Self::Uncertain => "uncertain",
            Self::Bug => "bug",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// An error of a connector, the HTTP room or the process room: its class, what was being done and to what, the cause.
///
/// `doing` never repeats the cause's text and never holds a secret value.
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct PortError {
    /// What it means for the next step.
    pub class: ErrorClass,
    /// What this layer was doing, and to what: "log in to imap.example.org:993 as me".
    pub doing: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl PortError {
    /// An error without a further cause.
    pub fn new(class: ErrorClass, doing: impl Into<String>) -> Self {
        Self { class, doing: doing.into(), source: None }
    }

    /// An error with its cause. A plain string does as a cause.
    pub fn caused(
        class: ErrorClass,
        doing: impl Into<String>,
        cause: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self { class, doing: doing.into(), source: Some(cause.into()) }
    }
}

/// The whole chain in one line: "fetch the feed: connect to 127.0.0.1:9: connection refused".
#[must_use]
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        // Some libraries print their cause as part of their own text.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
