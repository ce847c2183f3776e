//! The daemon as a service of the user: files for systemd and launchd, and how they are installed, removed and asked.
//!
//! What is decided is pure (`unit_file`, `plist`, `launchd`, the lints); what is done goes through a [`calls::Caller`], so
//! that the sequence of calls can be tried without the supervisor it is meant for.

pub mod calls;
pub mod install;
pub mod launchctl;
pub mod launchd;
pub mod login_path;
pub mod plist;
pub mod plist_lint;
pub mod show;
pub mod site;
pub mod starts;
pub mod state;
pub mod systemd;
pub mod unit_file;
pub mod unit_lint;

pub use calls::{Caller, System};
pub use install::{Installed, Removed, Wishes, install, restart, uninstall};
pub use site::{Site, Supervisor};
pub use state::State;

use crate::model::class::PortError;

/// Something wrong in a service file or in what a supervisor made of it: one line for people.
pub type Fault = String;

/// Why something about the service could not be done.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ServiceError {
    /// What went wrong.
    pub message: String,
    /// The next thing to type or to do.
    pub hint: Option<String>,
    /// The cause.
    #[source]
    pub source: Option<PortError>,
}

impl ServiceError {
    /// With a text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, source: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<PortError> for ServiceError {
    fn from(error: PortError) -> Self {
        Self { message: "ask the service manager".to_owned(), hint: None, source: Some(error) }
    }
}

/// What an exit code of the daemon means to whoever finds it with a supervisor.
#[must_use]
pub fn exit_meaning(code: i32) -> Option<&'static str> {
    use crate::model::exit;
    match u8::try_from(code).ok()? {
        exit::DATABASE => Some("the database is damaged or was made by a newer workagent"),
        exit::HELD => Some("another workagent runs with the same state directory; stop it first"),
        exit::NOT_ALLOWED => Some("a file or directory belongs to somebody else or can be written by others"),
        exit::CONFIG => {
            Some("the configuration cannot be started with: `workagent validate` shows the place")
        }
        exit::USAGE => Some("the command line in the service file is wrong"),
        exit::BUG => Some("a fault of workagent"),
        126 | 127 => Some("the program could not be started"),
        _ => None,
    }
}
