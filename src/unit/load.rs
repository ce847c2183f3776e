//! Reads the search path: which files are units, which are drop-ins, which are neither. Nothing here stops at the
//! first trouble: what cannot be read is noted, the rest is read.

mod file;
mod given;
mod name;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::{Kind, UnitName};
use super::registry::ShippedUnit;
use super::search::SearchPath;
use crate::model::limits;
use crate::model::time::Timestamp;
use file::Reader;
pub use given::is_unit_name;
use name::Sort;
pub(super) use name::is_name;

/// Stands for a directory in the places of the unit files in the binary.
pub const BUILT_IN: &str = "<built-in>";

/// Stands for a directory in the places of last good versions of units.
pub const KEPT: &str = "<last-good>";

/// What was found on the search path.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Unit files and drop-ins.
    pub files: Vec<UnitFile>,
    /// What was passed over, could not be read, or can be written by others.
    pub notices: Vec<Notice>,
}

/// One file that was read.
#[derive(Clone, Debug)]
pub struct UnitFile {
    /// Its rank: higher replaces lower. The binary's own files have 0.
    pub level: usize,
    /// As found on the search path; `<built-in>/imap.connector.toml` for the binary's own.
    pub path: PathBuf,
    /// Where its relative paths begin: the absolute directory of its level, for a drop-in too.
    pub dir: PathBuf,
    /// What it is.
    pub role: Role,
    /// Its text.
    pub text: Arc<str>,
}

/// What a file is, by its name and place alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A whole unit, or a template.
    Main(UnitName),
    /// A link to `/dev/null` under the name of a unit: the unit is masked. It has the rank of a main file.
    Mask(UnitName),
    /// Overrides some keys.
    DropIn {
        /// Of what.
        target: Target,
        /// Its own file name: the order among drop-ins, and what a higher level replaces. Empty: the directory as a
        /// whole, which cannot be read.
        file: String,
    },
}

/// What a drop-in applies to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// All units of a kind: `connector.d/`.
    Kind(Kind),
    /// One unit, or all instances of a template: `inbox.connector.d/`, `github@.connector.d/`.
    Unit(UnitName),
}

/// Something that was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notice {
    /// Where.
    pub path: PathBuf,
    /// What is the matter.
    pub trouble: Trouble,
    /// What it would have been, with its level: such a unit is off, rather than absent or an older version of itself.
    pub instead_of: Option<(usize, Role)>,
}

impl Notice {
    /// It is about a directory rather than about one file.
    #[must_use]
    pub fn is_about_directory(&self) -> bool {
        matches!(
            self.trouble,
            Trouble::Ignored(_)
                | Trouble::TooMany
                | Trouble::Directory(_)
                | Trouble::WritableByOthers { directory: true, .. }
        )
    }
}

/// What is the matter with something that was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Names in this directory that are no unit files, each with the reason.
    Ignored(Vec<(String, &'static str)>),
    /// The name promises a unit, but it cannot be read; the operating system's words.
    Unreadable(String),
    /// A directory that cannot be read, or not to its end; the operating system's words.
    Directory(String),
    /// A link whose target does not exist.
    Dangling,
    /// Links that lead in a circle.
    Loop,
    /// A directory, a socket, a device under a unit's name.
    NotAFile(&'static str),
    /// Over `limits::UNIT_FILE_BYTES_MAX`.
    TooLarge,
    /// Not UTF-8; the line of the first bad byte.
    NotText(usize),
    /// Ends in `.toml`, but the word before is no kind (empty: there is none).
    UnknownKind(String),
    /// The part before the kind is not a name.
    BadName(String),
    /// More entries than `limits::UNIT_FILES_MAX`; the rest was not read.
    TooMany,
    /// It was read, but others than its owner could have written it.
    WritableByOthers {
        /// "everybody", "its group".
        who: &'static str,
        /// It is a directory.
        directory: bool,
    },
}

/// Reads everything on the path. Directories that do not exist are empty.
#[must_use]
pub fn load(path: &SearchPath, shipped: &'static [ShippedUnit]) -> Loaded {
    everything(path, shipped, &RefCell::default())
}

/// Reads again and again: a file that is certainly the same as the last time is looked at, not read. Two texts are the
/// same or not by what is in them; times only tell that there is no need to look.
#[derive(Debug, Default)]
pub struct Loader(RefCell<Reader>);

impl Loader {
    /// As [`load()`].
    #[must_use]
    pub fn load(&mut self, path: &SearchPath, shipped: &'static [ShippedUnit], now: Timestamp) -> Loaded {
        self.0.get_mut().begin(now);
        everything(path, shipped, &self.0)
    }
}

fn everything(path: &SearchPath, shipped: &'static [ShippedUnit], reader: &RefCell<Reader>) -> Loaded {
    let mut loaded = Loaded::default();
    if path.builtin {
        for unit in shipped {
            let place = Path::new(BUILT_IN).join(unit.file);
            match name::sort(unit.file) {
                Sort::Unit(name) => loaded.files.push(UnitFile {
                    level: 0,
                    path: place,
                    dir: PathBuf::from("/"),
                    role: Role::Main(name),
                    text: unit.text.into(),
                }),
                other => loaded.refuse(place, unit.file, &other),
            }
        }
    }
    for (index, dir) in path.dirs.iter().enumerate() {
        loaded.read_dir(&Level { number: index + 1, root: absolute(dir), reader }, dir);
    }
    for file in &path.files {
        loaded.read_single(path.dirs.len() + 1, file, reader);
    }
    loaded
}

/// One level of the search path.
struct Level<'a> {
    number: usize,
    /// Absolute.
    root: PathBuf,
    reader: &'a RefCell<Reader>,
}

/// An entry of a directory.
struct Found {
    name: String,
    /// It is a link.
    link: bool,
}

/// Relative directories come from the command line; a working directory that is gone leaves them as they are.
fn absolute(dir: &Path) -> PathBuf {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned())
}

impl Loaded {
    /// Directories that could not be read, or not to their end: what was known of files below them is not gone.
    pub fn unread_dirs(&self) -> impl Iterator<Item = &Path> {
        let unread = |notice: &&Notice| matches!(notice.trouble, Trouble::Directory(_) | Trouble::TooMany);
        self.notices.iter().filter(unread).map(|notice| notice.path.as_path())
    }

    /// Takes over the files that were read `before` below directories that cannot be read now: a directory that cannot be
    /// read is not one whose files were deleted.
    pub fn keep_unread(&mut self, before: &Self) {
        let unread: Vec<PathBuf> = self.unread_dirs().map(Path::to_owned).collect();
        if unread.is_empty() {
            return;
        }
        let here: BTreeSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        let lost = |file: &&UnitFile| {
            !here.contains(file.path.as_path()) && unread.iter().any(|dir| file.path.starts_with(dir))
        };
        let kept: Vec<UnitFile> = before.files.iter().filter(lost).cloned().collect();
        self.files.extend(kept);
    }

    fn read_dir(&mut self, level: &Level<'_>, dir: &Path) {
        let Some(found) = self.entries(dir, None) else { return };
        let mut ignored = Vec::new();
        for Found { name, link } in found {
            let place = dir.join(&name);
            match name::sort(&name) {
                Sort::Unit(unit) => self.read_file(level, place, Role::Main(unit), link),
                // A link to nowhere: it is told when it is read.
                Sort::DropIns(target) if place.is_dir() || (link && !place.exists()) => {
                    self.read_drop_ins(level, &place, &target);
                }
                Sort::DropIns(_) => ignored.push((name, "not a directory")),
                Sort::Ignored(why) => ignored.push((name, why)),
                other => self.refuse(place, &name, &other),
            }
        }
        if !ignored.is_empty() {
            self.note(dir.to_owned(), Trouble::Ignored(ignored));
        }
    }

    fn read_drop_ins(&mut self, level: &Level<'_>, dir: &Path, target: &Target) {
        // Without them the unit would be another one than its owner wrote.
        let whole = Role::DropIn { target: target.clone(), file: String::new() };
        let Some(found) = self.entries(dir, Some((level.number, whole))) else { return };
        let mut ignored = Vec::new();
        for Found { name, link } in found {
            match name::leftover(&name) {
                Some(why) => ignored.push((name, why)),
                None => {
                    let role = Role::DropIn { target: target.clone(), file: name.clone() };
                    self.read_file(level, dir.join(&name), role, link);
                }
            }
        }
        if !ignored.is_empty() {
            self.note(dir.to_owned(), Trouble::Ignored(ignored));
        }
    }

    fn read_single(&mut self, number: usize, path: &Path, reader: &RefCell<Reader>) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let dir = absolute(path.parent().unwrap_or(Path::new("")));
        let parent = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Sort::DropIns(target) = name::sort(&parent)
            && name::leftover(&name).is_none()
        {
            let level = Level { number, root: dir.parent().unwrap_or(&dir).to_owned(), reader };
            return self.read_file(&level, path.to_owned(), Role::DropIn { target, file: name }, true);
        }
        match name::sort(&name) {
            Sort::Unit(unit) => {
                self.read_file(&Level { number, root: dir, reader }, path.to_owned(), Role::Main(unit), true);
            }
            Sort::Ignored(why) => self.note(path.to_owned(), Trouble::Ignored(vec![(name, why)])),
            Sort::DropIns(_) => self.note(path.to_owned(), Trouble::NotAFile("a directory")),
            other => self.refuse(path.to_owned(), &name, &other),
        }
    }

    /// What is in a directory, sorted; `None` if it is not there or cannot be read (which is noted).
    fn entries(&mut self, dir: &Path, instead_of: Option<(usize, Role)>) -> Option<Vec<Found>> {
        let unread = |why: String| Notice {
            path: dir.to_owned(),
            trouble: Trouble::Directory(why),
            instead_of: instead_of.clone(),
        };
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link to nowhere is not a directory that was removed.
                if dir.is_symlink() {
                    self.notices.push(unread("a link to something that does not exist".to_owned()));
                }
                return None;
            }
            Err(error) => {
                self.notices.push(unread(match file::trouble(&error) {
                    Trouble::Loop => "links that lead in a circle".to_owned(),
                    _ => file::plain(&error),
                }));
                return None;
            }
        };
        if let Some(who) = fs::metadata(dir).ok().as_ref().and_then(file::writers) {
            self.note(dir.to_owned(), Trouble::WritableByOthers { who, directory: true });
        }
        let mut found = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => found.push(Found {
                    link: entry.file_type().is_ok_and(|kind| kind.is_symlink()),
                    name: entry.file_name().to_string_lossy().into_owned(),
                }),
                // Half a directory must not look like deleted units.
                Err(error) => self.notices.push(unread(file::plain(&error))),
            }
            if found.len() > limits::UNIT_FILES_MAX {
                self.note(dir.to_owned(), Trouble::TooMany);
                break;
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Some(found)
    }

    fn read_file(&mut self, level: &Level<'_>, path: PathBuf, role: Role, link: bool) {
        let null = link && fs::canonicalize(&path).is_ok_and(|end| end == Path::new("/dev/null"));
        let (role, result) = match role {
            Role::Main(name) if null => (Role::Mask(name), Ok(("".into(), None))),
            // As with units: nothing instead of the lower file of this name.
            drop_in if null => (drop_in, Ok(("".into(), None))),
            role => (role, level.reader.borrow_mut().read(&path)),
        };
        match result {
            Ok((text, writers)) => {
                if let Some(who) = writers {
                    self.note(path.clone(), Trouble::WritableByOthers { who, directory: false });
                }
                let dir = level.root.clone();
                self.files.push(UnitFile { level: level.number, path, dir, role, text });
            }
            Err(trouble) => {
                self.notices.push(Notice { path, trouble, instead_of: Some((level.number, role)) });
            }
        }
    }

    fn refuse(&mut self, path: PathBuf, name: &str, sort: &Sort) {
        let trouble = match sort {
            Sort::UnknownKind(word) => Trouble::UnknownKind(word.clone()),
            Sort::BadName => Trouble::BadName(name.to_owned()),
            Sort::Unit(_) | Sort::DropIns(_) | Sort::Ignored(_) => return,
        };
        self.note(path, trouble);
    }

    fn note(&mut self, path: PathBuf, trouble: Trouble) {
        self.notices.push(Notice { path, trouble, instead_of: None });
    }
}
