//! Which directories must be watched for a search path, and what in them matters.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::model::limits::UNIT_FILES_MAX;
use crate::unit::search::SearchPath;

/// Links followed on one way, as many as the kernel follows.
const LINKS_MAX: u32 = 40;

/// What matters in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interest {
    /// It holds unit files or drop-ins.
    pub units: bool,
    /// Names on the way to something: links, directories, what is missing.
    pub names: BTreeSet<OsString>,
}

impl Interest {
    /// Something happened to this name; `None` is the directory itself. What editors leave and probe is not wanted:
    /// it can only be files that are not read.
    pub fn wants(&self, name: Option<&OsStr>) -> bool {
        let Some(name) = name else { return true };
        self.names.contains(name) || self.units && is_unit_like(name)
    }

    /// Both: two places may lead to one watch of the kernel.
    #[cfg(target_os = "linux")]
    pub fn join(&mut self, other: &Self) {
        self.units |= other.units;
        self.names.extend(other.names.iter().cloned());
    }
}

fn is_unit_like(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.starts_with(b".") && !name.starts_with(b"#") && (name.ends_with(b".toml") || name.ends_with(b".d"))
}

/// What a directory of the search path turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There, under this name without links.
    At(PathBuf),
    /// Not there, or no directory, or a link that leads nowhere.
    Missing,
    /// The system does not let us look.
    Unreadable,
}

/// Directories by their names without links.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// What to watch.
    pub dirs: BTreeMap<PathBuf, Interest>,
    /// The search path.
    pub searched: Vec<(PathBuf, Found)>,
}

impl Places {
    /// As the disk is now: the directories of the path and those of drop-ins, where each could come, go or be replaced,
    /// and the directory behind each link.
    pub fn of(search: &SearchPath) -> Self {
        let mut places = Self::default();
        for dir in &search.dirs {
            let found = places.unit_dir(dir);
            places.searched.push((dir.clone(), found));
        }
        for file in &search.files {
            places.file(file);
        }
        places
    }

    fn unit_dir(&mut self, dir: &Path) -> Found {
        let real = match self.follow(dir) {
            Found::At(real) => real,
            other => return other,
        };
        self.name(&real);
        match fs::read_dir(&real) {
            Ok(entries) => {
                self.dirs.entry(real.clone()).or_default().units = true;
                for entry in entries.flatten().take(UNIT_FILES_MAX) {
                    self.entry(&entry);
                }
                Found::At(real)
            }
            Err(error) if is_absent(&error) => Found::Missing,
            Err(_) => Found::Unreadable,
        }
    }

    fn entry(&mut self, entry: &fs::DirEntry) {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { return };
        if !is_unit_like(&name) {
            return;
        }
        if name.as_encoded_bytes().ends_with(b".d") {
            self.drop_ins(&entry.path());
        } else if kind.is_symlink() {
            self.file(&entry.path());
        }
    }

    fn drop_ins(&mut self, dir: &Path) {
        let Found::At(real) = self.follow(dir) else { return };
        let Ok(entries) = fs::read_dir(&real) else { return };
        self.name(&real);
        self.dirs.entry(real).or_default().units = true;
        for entry in entries.flatten().take(UNIT_FILES_MAX) {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.file(&entry.path());
            }
        }
    }

    /// A file, where it really lies.
    fn file(&mut self, path: &Path) {
        if let Found::At(real) = self.follow(path) {
            self.name(&real);
        }
    }

    /// The name matters where it stands.
    fn name(&mut self, path: &Path) {
        if let (Some(dir), Some(name)) = (path.parent(), path.file_name()) {
            self.dirs.entry(dir.to_owned()).or_default().names.insert(name.to_owned());
        }
    }

    /// Goes the way the kernel goes, and notes each link on it, and the name that is missing.
    fn follow(&mut self, path: &Path) -> Found {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut way: VecDeque<OsString> = parts(&path);
        let mut real = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = way.pop_front() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            let kind = match fs::symlink_metadata(&next) {
                Ok(meta) => meta.file_type(),
                Err(error) => {
                    self.name(&next);
                    return if is_absent(&error) { Found::Missing } else { Found::Unreadable };
                }
            };
            if kind.is_symlink() {
                self.name(&next);
                links += 1;
                let Ok(target) = fs::read_link(&next) else { return Found::Missing };
                if links > LINKS_MAX {
                    return Found::Missing;
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                let mut longer = parts(&target);
                longer.append(&mut way);
                way = longer;
            } else if !kind.is_dir() && !way.is_empty() {
                self.name(&next);
                return Found::Missing;
            } else {
                real = next;
            }
        }
        Found::At(real)
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(part).collect()
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
