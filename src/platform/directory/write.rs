//! Replies as files: written whole or not at all, over nothing, and found again.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::read::short_name;
use super::scan::{REPLY_END, open_folder};

/// The names a reply may get: beside `note.md` it is `note.md.reply.md`; if that is another reply's, the action's
/// number and the first letters of its key go into the name.
pub struct Names {
    first: OsString,
    second: OsString,
}

/// How a reply came to lie there.
pub struct Written {
    /// The file's name.
    pub name: OsString,
    /// It was there already, with our bytes.
    pub found: bool,
}

impl Names {
    pub fn new(source: &OsStr, action_key: &str) -> Self {
        // A file name has at most 255 bytes.
        let stem = short_name(source, 200);
        let with = |middle: &str| {
            let mut name = stem.clone();
            name.push(middle);
            name.push(REPLY_END);
            name
        };
        let own = action_key.strip_prefix("wa-").unwrap_or(action_key);
        Self {
            first: with(""),
            second: with(&format!(".{}", own.get(..own.len().min(40)).unwrap_or_default())),
        }
    }

    pub fn first(&self) -> &OsStr {
        &self.first
    }

    /// Hidden, so that no poll takes it, and ours alone: the second name holds the action's key.
    fn temporary(&self) -> OsString {
        let mut name = OsString::from(".");
        name.push(&self.second);
        name.push(".tmp");
        name
    }
}

/// Writes the reply. The last step, which gives the file its name, either happens or does not.
pub fn write(folder: &Path, names: &Names, bytes: &[u8]) -> io::Result<Written> {
    let folder = open_folder(folder)?;
    if let Some(name) = find_once(&folder, names, bytes)? {
        return Ok(Written { name, found: true });
    }
    let temporary = names.temporary();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(0o644))?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    file.sync_all()?;
    let named = give_name(&folder, &temporary, names);
    // Gone already if it was renamed; a leftover is hidden and written anew by the next try.
    let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
    let name = named?;
    rustix::fs::fsync(&folder)?;
    Ok(Written { name, found: false })
}

fn give_name(folder: &OwnedFd, temporary: &OsStr, names: &Names) -> io::Result<OsString> {
    for name in [&names.first, &names.second] {
        match link_or_rename(folder, temporary, name) {
            Ok(()) => return Ok(name.clone()),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Gives a file its name without ever taking one from another file.
fn link_or_rename(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    match rustix::fs::linkat(folder, from, folder, to, AtFlags::empty()) {
        // Some filesystems know no links.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            rename_over_nothing(folder, from, folder, to)
        }
        other => other,
    }
}

/// Renames, refusing to replace.
pub fn rename_over_nothing(
    from_folder: &OwnedFd,
    from: &OsStr,
    to_folder: &OwnedFd,
    to: &OsStr,
) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    match rustix::fs::renameat_with(from_folder, from, to_folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        other => return other,
    }
    // Without help of the system there is a gap between the look and the rename, in a folder that is the user's own.
    match rustix::fs::statat(to_folder, to, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => rustix::fs::renameat(from_folder, from, to_folder, to),
        Ok(_) => Err(Errno::EXIST),
        Err(error) => Err(error),
    }
}

/// The reply, if it lies there. The second name holds the action's key, so what has it is ours even if somebody has
/// edited it since; the first must hold our bytes.
pub fn find(folder: &Path, names: &Names, bytes: &[u8]) -> io::Result<Option<OsString>> {
    find_once(&open_folder(folder)?, names, bytes)
}

/// Finds it, under one name: a crash right after it was given its name leaves the temporary one.
fn find_once(folder: &OwnedFd, names: &Names, bytes: &[u8]) -> io::Result<Option<OsString>> {
    let found = find_in(folder, names, bytes)?;
    if found.is_some() {
        let _ = rustix::fs::unlinkat(folder, names.temporary(), AtFlags::empty());
    }
    Ok(found)
}

fn find_in(folder: &OwnedFd, names: &Names, bytes: &[u8]) -> io::Result<Option<OsString>> {
    if rustix::fs::statat(folder, &names.second, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Ok(Some(names.second.clone()));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, &names.first, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut there = Vec::new();
    file.take(bytes.len() as u64 + 1).read_to_end(&mut there)?;
    Ok((there == bytes).then(|| names.first.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_between_name_and_tidying_leaves_one_reply() {
        let dir = tempfile::tempdir().unwrap();
        let names = Names::new(OsStr::new("note.md"), "wa-7-0123456789abcdef");
        std::fs::write(dir.path().join(names.temporary()), "yes\n").unwrap();
        assert_eq!(find(dir.path(), &names, b"yes\n").unwrap(), None);
        std::fs::hard_link(dir.path().join(names.temporary()), dir.path().join(names.first())).unwrap();
        assert_eq!(find(dir.path(), &names, b"yes\n").unwrap().as_deref(), Some(names.first()));
        let left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [names.first()]);
    }
}
