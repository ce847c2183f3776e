//! What lies in a Maildir, and how a mail in it is read. Never `tmp`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::time::Timestamp;

/// The mails of a Maildir by key.
pub type Listing = BTreeMap<String, PathBuf>;

/// Lists `new` and `cur`. A mail that is in both (it is being moved) is there once.
///
/// # Errors
/// `Network` (try again) if a folder cannot be read: a part that is missing for a moment, on a disk that is not mounted
/// yet, must not look like mail that was deleted.
pub fn list(maildir: &Path) -> Result<Listing, PortError> {
    let mut mails = Listing::new();
    for folder in ["new", "cur"] {
        let path = maildir.join(folder);
        let doing = || format!("list the Maildir folder {}", path.display());
        let failed = |error: io::Error| PortError::caused(ErrorClass::NETWORK, doing(), error);
        for entry in fs::read_dir(&path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if name.as_bytes().starts_with(b".") {
                continue;
            }
            if mails.len() >= limits::MAILDIR_MAILS_MAX {
                let more = format!("it holds more than {} mails", limits::MAILDIR_MAILS_MAX);
                return Err(PortError::caused(ErrorClass::Config, doing(), more));
            }
            mails.insert(key_of(&name), path.join(&name));
        }
    }
    Ok(mails)
}

/// The key of a mail: its file name without the flags behind `:`, which change as it is read and answered. Bytes that a
/// line of text cannot hold are escaped.
pub fn key_of(name: &OsStr) -> String {
    let bytes = name.as_bytes();
    let base = bytes.split(|byte| *byte == b':').next().unwrap_or(bytes);
    let mut key = String::with_capacity(base.len());
    for chunk in base.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '%' => key.push_str("%25"),
                c if c.is_control() || c.is_whitespace() => {
                    escape(&mut key, c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                c => key.push(c),
            }
        }
        escape(&mut key, chunk.invalid());
    }
    key
}

fn escape(key: &mut String, bytes: &[u8]) {
    for byte in bytes {
        key.push_str(&format!("%{byte:02X}"));
    }
}

/// The flags behind `:2,` as words.
pub fn labels(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let flags = name.rsplit_once(":2,").map_or("", |(_, flags)| flags);
    let word = |flag| match flag {
        'D' => Some("draft"),
        'F' => Some("flagged"),
        'P' => Some("passed"),
        'R' => Some("replied"),
        'S' => Some("seen"),
        'T' => Some("trashed"),
        _ => None,
    };
    flags.chars().filter_map(word).map(str::to_owned).collect()
}

/// A mail as far as it is read.
pub struct Content {
    /// The beginning, or all.
    pub bytes: Vec<u8>,
    /// Bytes there are.
    pub total_bytes: u64,
    /// When the file was written.
    pub written_at: Option<Timestamp>,
}

/// Opens a mail; `None` if it is not there any more, or not a file.
///
/// # Errors
/// Of the file system.
pub fn open(path: &Path) -> io::Result<Option<File>> {
    // A pipe that lies there would wait for a writer for ever.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Reads a mail: small ones whole, of a large one the beginning, which is where the text is.
///
/// # Errors
/// Of the file system.
pub fn read(file: File) -> io::Result<Content> {
    let about = file.metadata()?;
    let wanted = if about.len() > limits::MAIL_PAGE_BYTES_MAX {
        u64::from(limits::MAIL_PART_BYTES)
    } else {
        limits::MAIL_PAGE_BYTES_MAX
    };
    let mut bytes = Vec::new();
    file.take(wanted).read_to_end(&mut bytes)?;
    let total_bytes = about.len().max(bytes.len() as u64);
    Ok(Content { bytes, total_bytes, written_at: written_at(&about) })
}

/// When the file was written, which mail programs set to when the mail arrived.
pub fn written_at(about: &fs::Metadata) -> Option<Timestamp> {
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp(i64::try_from(since.as_millis()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_not_part_of_the_key() {
        let key = |name: &[u8]| key_of(OsStr::from_bytes(name));
        assert_eq!(key(b"1796025600.M1P2.host,S=10:2,FS"), "1796025600.M1P2.host,S=10");
        assert_eq!(key(b"1796025600.M1P2.host,S=10"), "1796025600.M1P2.host,S=10");
        assert_eq!(key(b"a b\n%\xff\xc3\xa9:2,"), "a%20b%0A%25%FF\u{e9}");
    }

    #[test]
    fn flags_are_labels() {
        assert_eq!(labels(Path::new("/m/cur/1.a.b:2,RSx")), ["replied", "seen"]);
        assert!(labels(Path::new("/m/new/1.a.b")).is_empty());
    }
}
