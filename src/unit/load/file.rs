//! One file: read with a bound, whatever it is.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Trouble;
use crate::model::limits;
use crate::model::time::Timestamp;

/// Reads files; one that was read before and is certainly the same is not read again.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// When this round of reading began; without it nothing is remembered.
    now: Option<Timestamp>,
    before: HashMap<PathBuf, Known>,
    read: HashMap<PathBuf, Known>,
}

/// A file as it was read.
#[derive(Debug)]
struct Known {
    stamp: Stamp,
    text: Arc<str>,
}

/// What changes when somebody writes a file or puts another in its place; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: i128,
    changed: i128,
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        let time = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            modified: time(meta.mtime(), meta.mtime_nsec()),
            changed: time(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The clock of the file system has moved on since the last change, so that a further one must show. Two seconds are
    /// the coarsest clock in use (FAT's).
    fn is_settled(&self, now: Timestamp) -> bool {
        self.changed + 2_000_000_000 < i128::from(now.0) * 1_000_000
    }
}

impl Reader {
    /// A round of reading begins: what is not read in it is forgotten.
    pub fn begin(&mut self, now: Timestamp) {
        self.now = Some(now);
        self.before = std::mem::take(&mut self.read);
    }

    /// The text of a file, and who besides its owner can write it.
    pub fn read(&mut self, path: &Path) -> Result<(Arc<str>, Option<&'static str>), Trouble> {
        // Looked at before it is opened: opening a pipe would wait for a writer.
        let meta = fs::metadata(path).map_err(|error| trouble(&error))?;
        if meta.is_dir() {
            return Err(Trouble::NotAFile("a directory"));
        }
        if !meta.is_file() {
            return Err(Trouble::NotAFile("a device, pipe or socket"));
        }
        let known = self.before.remove(path).filter(|known| known.stamp == Stamp::of(&meta));
        let known = match known {
            Some(known) => known,
            None => fresh(path)?,
        };
        let text = Arc::clone(&known.text);
        if self.now.is_some_and(|now| known.stamp.is_settled(now)) {
            self.read.insert(path.to_owned(), known);
        }
        Ok((text, writers(&meta)))
    }
}

fn fresh(path: &Path) -> Result<Known, Trouble> {
    let file = File::open(path).map_err(|error| trouble(&error))?;
    // Of the file that was opened: the path may lead to another one by now.
    let meta = file.metadata().map_err(|error| trouble(&error))?;
    let mut bytes =
        Vec::with_capacity(usize::try_from(meta.len().min(limits::UNIT_FILE_BYTES_MAX)).unwrap_or(0));
    let bounded = file.take(limits::UNIT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    bounded.map_err(|error| trouble(&error))?;
    if bytes.len() as u64 > limits::UNIT_FILE_BYTES_MAX {
        return Err(Trouble::TooLarge);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Known { stamp: Stamp::of(&meta), text: text.into() }),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reader: &mut Reader, path: &Path, now: Timestamp) -> Arc<str> {
        reader.begin(now);
        reader.read(path).unwrap().0
    }

    #[test]
    fn a_settled_file_is_read_once_and_a_changed_one_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.env.toml");
        fs::write(&path, "one").unwrap();
        let changed = Stamp::of(&fs::metadata(&path).unwrap()).changed / 1_000_000;
        let after = |seconds: i64| Timestamp(i64::try_from(changed).unwrap() + seconds * 1000);
        let mut reader = Reader::default();
        let fresh = read(&mut reader, &path, after(1));
        let again = read(&mut reader, &path, after(3));
        assert!(!Arc::ptr_eq(&fresh, &again), "too young to be trusted");
        assert!(Arc::ptr_eq(&again, &read(&mut reader, &path, after(3))));
        // The same size; in most file systems also the same time of change.
        fs::write(dir.path().join("new"), "two").unwrap();
        fs::rename(dir.path().join("new"), &path).unwrap();
        assert_eq!(&*read(&mut reader, &path, after(3)), "two");
        // What was not asked for in a round is forgotten.
        reader.begin(after(3));
        reader.begin(after(3));
        assert!(reader.before.is_empty());
    }
}
