//! How a command fails: a kind (which sets the exit code), the chain, and the next thing to type.

use std::error::Error as StdError;

use crate::daemon::exit;
use crate::model::class::chain;

/// A failed command.
#[derive(Debug)]
pub struct CliError {
    /// The exit code.
    pub code: u8,
    /// The whole chain.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl CliError {
    /// A failure with its code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// The same failure with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// While `doing`, this went wrong.
    pub fn doing(doing: &str, error: &(dyn StdError + 'static)) -> Self {
        Self::new(exit::FAILURE, format!("{doing}: {}", chain(error)))
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        // Whoever reads the output has read enough (`workagent validate | head`): nobody wants to hear of it.
        let heard_enough = error.kind() == std::io::ErrorKind::BrokenPipe;
        let message = if heard_enough { String::new() } else { format!("write the output: {error}") };
        Self::new(exit::FAILURE, message)
    }
}
