//! A value from the person: without echo at a terminal, else from standard input.

use std::io::{IsTerminal as _, Read as _, Write as _};

use crate::cli::error::CliError;
use crate::cli::tty::TtyMode;
use crate::secret::SecretValue;

/// A value is a line or a key, not a file.
const VALUE_BYTES_MAX: u64 = 64 * 1024;

/// Asks for the value of a secret.
pub(in crate::cli) fn ask(name: &str) -> Result<SecretValue, CliError> {
    let mut text = String::new();
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let mut err = anstream::stderr().lock();
        write!(err, "value of {name} (not shown): ")?;
        err.flush()?;
        let _quiet = TtyMode::with(|mode| mode.local_modes.remove(rustix::termios::LocalModes::ECHO));
        stdin.read_line(&mut text)?;
        writeln!(err)?;
    } else {
        stdin.take(VALUE_BYTES_MAX).read_to_string(&mut text)?;
    }
    Ok(SecretValue::new(text))
}
