//! The file on the disk: who may read it, whether it changed, how it is replaced.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::super::SecretError;
use crate::model::limits::SECRETS_FILE_BYTES_MAX;

/// Bytes that may be secret.
type Bytes = Zeroizing<Vec<u8>>;

/// Tells one state of a file from the next: a replaced file has another inode, an edited one another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(Option<[i64; 6]>);

impl Stamp {
    /// As it is now; a missing file has a stamp too.
    pub fn of(path: &Path) -> Result<Self, SecretError> {
        match fs::metadata(path) {
            Ok(found) => Ok(Self::from(&found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self(None)),
            Err(error) => Err(unavailable("look at", path, &error)),
        }
    }
}

impl From<&fs::Metadata> for Stamp {
    fn from(found: &fs::Metadata) -> Self {
        Self(Some([
            found.ino().cast_signed(),
            found.size().cast_signed(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ]))
    }
}

/// The bytes of a file that only its owner may read; `None` when it is not there. Looks at the opened file, not at the
/// name again, so that nobody can swap it in between.
pub fn read(path: &Path) -> Result<(Stamp, Option<Bytes>), SecretError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Stamp(None), None)),
        Err(error) => return Err(unavailable("open", path, &error)),
    };
    let found = file.metadata().map_err(|error| unavailable("look at", path, &error))?;
    check_private(path, &found)?;
    let bytes = read_bounded(path, file)?;
    Ok((Stamp::from(&found), Some(bytes)))
}

/// All bytes, up to the bound.
pub fn read_bounded(path: &Path, file: File) -> Result<Bytes, SecretError> {
    let size = file.metadata().map_or(0, |found| found.len().min(SECRETS_FILE_BYTES_MAX));
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1));
    let read = file.take(SECRETS_FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unavailable("read", path, &error))?;
    if bytes.len() as u64 > SECRETS_FILE_BYTES_MAX {
        return Err(SecretError::Unavailable { why: format!("{} is too large", path.display()) });
    }
    Ok(bytes)
}

/// Ours, and closed to everybody else.
pub fn check_private(path: &Path, found: &fs::Metadata) -> Result<(), SecretError> {
    let refuse = |why: String| Err(SecretError::Unavailable { why: format!("{} {why}", path.display()) });
    if !found.is_file() {
        return refuse("is not a file".to_owned());
    }
    let us = rustix::process::geteuid().as_raw();
    if found.uid() != us && found.uid() != 0 {
        return refuse(format!("belongs to user {}, and this is user {us}", found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return refuse(format!(
            "can be used by others (mode {mode:04o}), so it is not used: run `chmod 600 {}`",
            path.display()
        ));
    }
    Ok(())
}

/// Held by the only writer; released when dropped. Waits for another writer, which takes moments.
pub fn lock(path: &Path) -> Result<File, SecretError> {
    let path = with_suffix(path, ".lock");
    make_parent(&path)?;
    let failed = |error: &io::Error| unavailable("lock", &path, error);
    loop {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| failed(&error))?;
        file.lock().map_err(|error| failed(&error))?;
        // Somebody may have removed the name while we waited: then the lock is on a file nobody else will see.
        let held = file.metadata().map_err(|error| failed(&error))?;
        if fs::metadata(&path).is_ok_and(|named| (named.dev(), named.ino()) == (held.dev(), held.ino())) {
            return Ok(file);
        }
    }
}

/// Replaces the file as a whole: a crash leaves the old one or the new one.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), SecretError> {
    // Through a link to the file it means, or the link itself would be replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let directory = make_parent(&path)?;
    let failed = |error: &io::Error| unavailable("write", &path, error);
    // Made with mode 0600.
    let mut temporary = tempfile::NamedTempFile::new_in(directory).map_err(|error| failed(&error))?;
    temporary.write_all(bytes).map_err(|error| failed(&error))?;
    temporary.as_file().sync_all().map_err(|error| failed(&error))?;
    temporary.persist(&path).map_err(|error| failed(&error.error))?;
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| failed(&error))
}

/// Makes a file that must not be there yet, mode 0600.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), SecretError> {
    let directory = make_parent(path)?;
    let failed = |error: &io::Error| unavailable("make", path, error);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| failed(&error))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| failed(&error))?;
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| failed(&error))
}

fn make_parent(path: &Path) -> Result<&Path, SecretError> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| unavailable("make the directory", directory, &error))?;
    Ok(directory)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub fn unavailable(doing: &str, path: &Path, error: &io::Error) -> SecretError {
    SecretError::Unavailable { why: format!("{doing} {}: {error}", path.display()) }
}
