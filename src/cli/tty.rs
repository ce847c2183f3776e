//! How the terminal reads while a person types: changed for a while, and as it was afterwards, whatever happens.

use std::io;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The mode of the terminal while it lives. Where standard input is no terminal, nothing.
pub struct TtyMode(Option<Termios>);

impl TtyMode {
    /// Changes it from now on.
    pub fn with(change: impl FnOnce(&mut Termios)) -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut mode) = before.clone() {
            change(&mut mode);
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &mode);
        }
        Self(before)
    }
}

impl Drop for TtyMode {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
