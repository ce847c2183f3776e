//! What lies in the folder, and what of it is complete.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use globset::GlobSet;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::model::limits;
use crate::model::text::{digest, hex};
use crate::model::time::Timestamp;

/// Replies end in this, and are never read.
pub const REPLY_END: &str = ".reply.md";

/// Leftovers of editors and downloads, and vim's probe.
const IGNORED_ENDS: [&[u8]; 7] = [b".tmp", b"~", b".part", b".crdownload", b".swp", b".swx", b".filepart"];

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
    modified: Timestamp,
    changed: Timestamp,
}

impl Stamp {
    pub fn of(stat: &Stat) -> Self {
        let at = |seconds: i64, nanos: u64| {
            Timestamp(seconds.saturating_mul(1000) + (nanos / 1_000_000).cast_signed())
        };
        #[expect(clippy::useless_conversion, reason = "the types differ between systems")]
        Self {
            inode: u64::from(stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: at(stat.st_mtime, u64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            changed: at(stat.st_ctime, u64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// When its content was written.
    pub fn modified(&self) -> Timestamp {
        self.modified
    }

    /// When it came to lie where it lies: a copy that keeps the old time, and a move, show here.
    pub fn arrived(&self) -> Timestamp {
        self.modified.max(self.changed)
    }

    /// As one word, for comparing over restarts.
    pub fn word(&self) -> String {
        format!("{}.{}.{}.{}", self.inode, self.size, self.modified.0, self.changed.0)
    }

    /// Untouched for so long, by the clock of the files. A time that lies ahead says nothing.
    pub fn rested(&self, now: Timestamp, settle: Duration) -> bool {
        settle.is_zero() || self.arrived().plus(settle) <= now
    }
}

/// A regular file with a name that counts.
#[derive(Clone, Debug)]
pub struct Found {
    pub name: OsString,
    pub stamp: Stamp,
}

/// The files that count, by name, and whether there were more than are taken.
pub fn list(path: &Path, patterns: Option<&GlobSet>) -> std::io::Result<(Vec<Found>, bool)> {
    let folder = open_folder(path)?;
    let mut found = Vec::new();
    let mut more = false;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if ignored(name) || patterns.is_some_and(|set| !set.is_match(Path::new(name))) {
            continue;
        }
        if found.len() == limits::DIRECTORY_FILES_MAX {
            more = true;
            break;
        }
        // A file that went away meanwhile is no fault.
        let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            found.push(Found { name: name.to_owned(), stamp: Stamp::of(&stat) });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((found, more))
}

/// Names the same listing again.
pub fn mark(found: &[Found]) -> String {
    let lines: Vec<String> =
        found.iter().map(|file| format!("{} {}", hex(file.name.as_bytes()), file.stamp.word())).collect();
    digest(&[lines.join("\n").as_bytes()]).get(..32).unwrap_or_default().to_owned()
}

/// The folder itself.
pub fn open_folder(path: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// By name alone: hidden files, leftovers, our own replies.
pub fn ignored(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    bytes.starts_with(b".")
        || bytes == b"4913"
        || (bytes.starts_with(b"#") && bytes.ends_with(b"#"))
        || bytes.ends_with(REPLY_END.as_bytes())
        || IGNORED_ENDS.iter().any(|end| bytes.to_ascii_lowercase().ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_count() {
        for name in [
            ".x",
            ".#note.md",
            "note.tmp",
            "note.TMP",
            "note.md~",
            "a.part",
            "a.swp",
            "4913",
            "#a#",
            "a.reply.md",
        ] {
            assert!(ignored(OsStr::new(name)), "{name}");
        }
        for name in ["note.md", "reply.md", "tmp", "49131", "part.txt", "#1 idea.md"] {
            assert!(!ignored(OsStr::new(name)), "{name}");
        }
    }
}
