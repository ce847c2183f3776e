//! A log file of our own, for service managers that keep none (launchd): opened by us, rotated by us, bounded in all.
//!
//! Rotation renames and opens anew, so a reader that follows the name (`tail -F`) goes on; nobody else holds a descriptor
//! that we write through.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use crate::model::limits::{LOG_FILE_BYTES_MAX, LOG_FILES_OLD_MAX};

/// Cheap to clone; clones are the same file.
#[derive(Clone, Debug)]
pub struct LogFile(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    file: File,
    bytes: u64,
    identity: (u64, u64),
}

impl Open {
    fn at(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let found = file.metadata()?;
        Ok(Self { bytes: found.len(), identity: (found.dev(), found.ino()), file })
    }
}

impl LogFile {
    /// Opens the file at its end, with mode 0600 if it is new; its folder is made.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let open = Mutex::new(Some(Open::at(&path)?));
        Ok(Self(Arc::new(Shared { path, open })))
    }

    /// One line. What cannot be written is lost: there is no place left to say so.
    pub fn write(&self, line: &[u8]) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.write(&mut open, line);
    }

    /// The same from a place that may have been reached while a line was being written: rather lost than stuck.
    pub fn write_if_free(&self, line: &[u8]) {
        match self.0.open.try_lock() {
            Ok(mut open) => self.0.write(&mut open, line),
            Err(TryLockError::Poisoned(poisoned)) => self.0.write(&mut poisoned.into_inner(), line),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

impl Shared {
    fn write(&self, slot: &mut Option<Open>, line: &[u8]) {
        let full = |open: &Open| open.bytes > 0 && open.bytes + line.len() as u64 > LOG_FILE_BYTES_MAX;
        if slot.as_ref().is_some_and(full) {
            self.shift();
            *slot = None;
        } else if slot.as_ref().is_some_and(|open| !self.is_there(open)) {
            *slot = None;
        }
        if slot.is_none() {
            *slot = Open::at(&self.path).ok();
        }
        if let Some(open) = slot {
            // It could not be moved away (a folder that takes no new names): begun anew in place rather than endless.
            if full(open) && open.file.set_len(0).is_ok() {
                open.bytes = 0;
            }
            if open.file.write_all(line).is_ok() {
                open.bytes += line.len() as u64;
            }
        }
    }

    /// Nobody moved or removed it.
    fn is_there(&self, open: &Open) -> bool {
        fs::metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == open.identity)
    }

    fn shift(&self) {
        for nth in (1..=LOG_FILES_OLD_MAX).rev() {
            let from = if nth == 1 { self.path.clone() } else { self.old(nth - 1) };
            let _ = fs::rename(from, self.old(nth));
        }
    }

    fn old(&self, nth: usize) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{nth}"));
        PathBuf::from(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(root: &Path) -> Vec<(String, u64)> {
        let mut found: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn it_is_rotated_and_bounded_in_all() {
        let root = tempfile::tempdir().unwrap();
        let file = LogFile::open(root.path().join("log")).unwrap();
        let line = [b"x".repeat(64 * 1024 - 1), b"\n".to_vec()].concat();
        (0..1000).for_each(|_| file.write(&line));
        let found = sizes(root.path());
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["log", "log.1", "log.2", "log.3", "log.4"]);
        assert!(found.iter().all(|(_, bytes)| *bytes <= LOG_FILE_BYTES_MAX && *bytes > 0), "{found:?}");
    }

    #[test]
    fn it_goes_on_after_a_restart_and_after_somebody_moved_it() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("deep/log");
        LogFile::open(path.clone()).unwrap().write(b"one\n");
        let file = LogFile::open(path.clone()).unwrap();
        file.write(b"two\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        fs::rename(&path, root.path().join("away")).unwrap();
        file.write(b"three\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }
}
