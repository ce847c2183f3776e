//! What a directory looks like, for where the system does not tell of changes.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::places::Interest;
use crate::model::limits::UNIT_FILES_MAX;

/// Differs when something that matters in a directory differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64);

impl Stamp {
    /// As it is now. Reads no file; goes through links, so it sees what happens behind them.
    pub fn of(dir: &Path, interest: &Interest) -> Self {
        let mut hasher = DefaultHasher::new();
        let mut names: Vec<OsString> = interest.names.iter().cloned().collect();
        if interest.units {
            match fs::read_dir(dir) {
                Ok(entries) => {
                    let wanted = entries.flatten().map(|entry| entry.file_name());
                    names.extend(wanted.filter(|name| interest.wants(Some(name))).take(UNIT_FILES_MAX));
                }
                Err(error) => error.kind().to_string().hash(&mut hasher),
            }
        }
        names.sort();
        names.dedup();
        for name in names {
            let path = dir.join(&name);
            name.hash(&mut hasher);
            fs::read_link(&path).ok().hash(&mut hasher);
            let seen = fs::metadata(&path).ok().map(|meta| {
                let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
                // The size of a directory may grow with each name, also with those that do not matter.
                let (size, times) = if meta.is_dir() { (0, [0; 4]) } else { (meta.size(), times) };
                (meta.dev(), meta.ino(), size, times)
            });
            seen.hash(&mut hasher);
        }
        Self(hasher.finish())
    }
}
