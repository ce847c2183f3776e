//! One file: read with a bound, whatever it is.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use super::Trouble;
use crate::model::limits;

/// The text of a file, and who besides its owner can write it.
pub(super) fn read(path: &Path) -> Result<(Arc<str>, Option<&'static str>), Trouble> {
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let meta = fs::metadata(path).map_err(|error| trouble(&error))?;
    if meta.is_dir() {
        return Err(Trouble::NotAFile("a directory"));
    }
    if !meta.is_file() {
        return Err(Trouble::NotAFile("a device, pipe or socket"));
    }
    let mut bytes =
        Vec::with_capacity(usize::try_from(meta.len().min(limits::UNIT_FILE_BYTES_MAX)).unwrap_or(0));
    let file = File::open(path).map_err(|error| trouble(&error))?;
    let bounded = file.take(limits::UNIT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    bounded.map_err(|error| trouble(&error))?;
    if bytes.len() as u64 > limits::UNIT_FILE_BYTES_MAX {
        return Err(Trouble::TooLarge);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text.into(), writers(&meta))),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let lines = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count();
            Err(Trouble::NotText(lines + 1))
        }
    }
}

/// Who besides the owner can write: "everybody", "its group". A group of the owner's own (same number, as systems with
/// private groups and a umask of 002 have it) is the owner.
pub(super) fn writers(meta: &Metadata) -> Option<&'static str> {
    match meta.mode() & 0o022 {
        0 => None,
        0o020 if meta.uid() == meta.gid() => None,
        0o020 => Some("its group"),
        _ => Some("everybody"),
    }
}

/// What an error of the operating system means for a file.
pub(super) fn trouble(error: &io::Error) -> Trouble {
    if error.kind() == io::ErrorKind::NotFound {
        return Trouble::Dangling;
    }
    if rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP) {
        return Trouble::Loop;
    }
    Trouble::Unreadable(plain(error))
}

/// "permission denied", without the number that Rust appends.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
