//! The user's editor: the one child that gets the terminal and the user's whole environment.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;

/// Opens `text` in an editor and gives what was saved. `command` may hold arguments, as in `EDITOR="code --wait"`.
///
/// # Errors
/// `Config` if the editor cannot be started or ends badly.
pub fn edit(command: &OsStr, text: &str) -> Result<String, PortError> {
    let failed = |doing: String, cause: std::io::Error| PortError::caused(ErrorClass::Config, doing, cause);
    let in_file = |cause| failed("write the text for the editor".into(), cause);
    let mut file = tempfile::Builder::new().prefix("workagent-").suffix(".md").tempfile().map_err(in_file)?;
    file.write_all(text.as_bytes()).map_err(in_file)?;
    file.flush().map_err(in_file)?;
    open(command, file.path())?;
    let mut edited = String::new();
    std::fs::File::open(file.path())
        .and_then(|file| file.take(limits::DRAFT_BYTES_MAX as u64).read_to_string(&mut edited))
        .map_err(|cause| failed("read what the editor saved".into(), cause))?;
    Ok(edited)
}

/// Opens a file in an editor and waits for its end. `command` may hold arguments.
///
/// # Errors
/// `Config` if the editor cannot be started or ends badly; what it saved is in the file all the same.
pub fn open(command: &OsStr, path: &Path) -> Result<(), PortError> {
    // As git does: a shell splits the command; the file's name is a parameter, never part of the script.
    let mut script = command.to_owned();
    script.push(" \"$1\"");
    #[expect(clippy::disallowed_methods, reason = "this is the room of child processes")]
    let status = std::process::Command::new("/bin/sh")
        .arg("-c")
        .arg(script)
        .arg("editor")
        .arg(path)
        .status()
        .map_err(|cause| {
            PortError::caused(ErrorClass::Config, "start /bin/sh for the editor".to_owned(), cause)
        })?;
    if status.success() {
        return Ok(());
    }
    let doing = format!("edit with `{}`: it ended with {status}", command.display());
    Err(PortError::new(ErrorClass::Config, doing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_was_saved() {
        let edited = edit(OsStr::new("sh -c 'echo more >> \"$0\"'"), "text\n").unwrap();
        assert_eq!(edited, "text\nmore\n");
    }

    #[test]
    fn an_editor_that_fails_changes_nothing() {
        assert!(edit(OsStr::new("false"), "text").unwrap_err().doing.contains("false"));
    }
}
