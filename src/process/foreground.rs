//! Programs that a person asked for and that get their terminal and whole environment: a pager, `journalctl`.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::process::{ExitStatus, Stdio};

use crate::model::class::{ErrorClass, PortError};

/// Runs a program found on the user's own PATH to its end, with the terminal it was asked for on.
///
/// # Errors
/// `Config` if it cannot be started.
pub fn run(program: &OsStr, args: &[OsString]) -> Result<ExitStatus, PortError> {
    #[expect(clippy::disallowed_methods, reason = "this is the room of child processes")]
    let status = std::process::Command::new(program).args(args).status();
    status.map_err(|cause| {
        PortError::caused(ErrorClass::Config, format!("start `{}`", program.display()), cause)
    })
}

/// Shows `text` in a pager and waits until it is left. `command` may hold arguments, as in `PAGER="less -R"`.
///
/// # Errors
/// `Config` if it cannot be started or ends badly; the text was perhaps not seen then.
pub fn page(command: &OsStr, text: &str) -> Result<(), PortError> {
    let failed = |cause| {
        PortError::caused(ErrorClass::Config, format!("start the pager `{}`", command.display()), cause)
    };
    #[expect(clippy::disallowed_methods, reason = "this is the room of child processes")]
    let mut child = std::process::Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Left before its end: nobody wants the rest.
        let _ = stdin.write_all(text.as_bytes());
    }
    let status = child.wait().map_err(failed)?;
    match status.code() {
        // The shell's words for "cannot be run" and "not found".
        Some(126 | 127) => {
            let doing = format!("start the pager `{}`: it ended with {status}", command.display());
            Err(PortError::new(ErrorClass::Config, doing))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_gets_the_text() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let command = format!("cat > {}", seen.display());
        page(OsStr::new(&command), "one\ntwo\n").unwrap();
        assert_eq!(std::fs::read_to_string(seen).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_pager_that_is_not_there_is_told_and_one_that_is_left_is_fine() {
        assert!(page(OsStr::new("no-such-pager"), "x").unwrap_err().doing.contains("no-such-pager"));
        assert!(page(OsStr::new("true"), &"x".repeat(1_000_000)).is_ok());
    }
}
