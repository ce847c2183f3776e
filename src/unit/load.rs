//! Reads the search path: which files are units, which are drop-ins, which are neither. Nothing here stops at the
//! first trouble: what cannot be read is noted, the rest is read.

mod name;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::{Kind, UnitName};
use super::registry::ShippedUnit;
use super::search::SearchPath;
use crate::model::limits;
use name::Sort;

/// Stands for a directory in the places of the unit files in the binary.
pub const BUILT_IN: &str = "<built-in>";

/// Stands for a directory in the places of last good versions of units.
pub const KEPT: &str = "<last-good>";

/// What was found on the search path.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Unit files and drop-ins.
    pub files: Vec<UnitFile>,
    /// What was passed over or could not be read.
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
    /// A whole unit.
    Main(UnitName),
    /// Overrides some keys.
    DropIn {
        /// Of what.
        target: Target,
        /// Its own file name: the order among drop-ins, and what a higher level replaces.
        file: String,
    },
}

/// What a drop-in applies to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// All units of a kind: `connector.d/`.
    Kind(Kind),
    /// One unit: `inbox.connector.d/`.
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
        matches!(self.trouble, Trouble::Ignored(_) | Trouble::TooMany)
    }
}

/// What is the matter with something that was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Names in this directory that are no unit files, each with the reason.
    Ignored(Vec<(String, &'static str)>),
    /// The name promises a unit, but it cannot be read; the operating system's words.
    Unreadable(String),
    /// A link whose target does not exist.
    Dangling,
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
}

/// Reads everything on the path. Directories that do not exist are empty.
#[must_use]
pub fn load(path: &SearchPath, shipped: &'static [ShippedUnit]) -> Loaded {
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
        loaded.read_dir(&Level { number: index + 1, root: absolute(dir) }, dir);
    }
    for file in &path.files {
        loaded.read_single(path.dirs.len() + 1, file);
    }
    loaded
}

/// One level of the search path.
struct Level {
    number: usize,
    /// Absolute.
    root: PathBuf,
}

/// Relative directories come from the command line; a working directory that is gone leaves them as they are.
fn absolute(dir: &Path) -> PathBuf {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned())
}

impl Loaded {
    /// Directories that could not be read, or not to their end: what was known of files below them is not gone.
    pub fn unread_dirs(&self) -> impl Iterator<Item = &Path> {
        let unread = |notice: &&Notice| {
            notice.instead_of.is_none() && matches!(notice.trouble, Trouble::Unreadable(_) | Trouble::TooMany)
        };
        self.notices.iter().filter(unread).map(|notice| notice.path.as_path())
    }

    fn read_dir(&mut self, level: &Level, dir: &Path) {
        let Some(names) = self.names(dir) else { return };
        let mut ignored = Vec::new();
        for name in names {
            let place = dir.join(&name);
            match name::sort(&name) {
                Sort::Unit(unit) => self.read_file(level, place, Role::Main(unit)),
                Sort::DropIns(target) if place.is_dir() => self.read_drop_ins(level, &place, &target),
                Sort::DropIns(_) => ignored.push((name, "not a directory")),
                Sort::Ignored(why) => ignored.push((name, why)),
                other => self.refuse(place, &name, &other),
            }
        }
        if !ignored.is_empty() {
            self.note(dir.to_owned(), Trouble::Ignored(ignored));
        }
    }

    fn read_drop_ins(&mut self, level: &Level, dir: &Path, target: &Target) {
        let Some(names) = self.names(dir) else { return };
        let mut ignored = Vec::new();
        for name in names {
            match name::leftover(&name) {
                Some(why) => ignored.push((name, why)),
                None => {
                    let role = Role::DropIn { target: target.clone(), file: name.clone() };
                    self.read_file(level, dir.join(&name), role);
                }
            }
        }
        if !ignored.is_empty() {
            self.note(dir.to_owned(), Trouble::Ignored(ignored));
        }
    }

    fn read_single(&mut self, number: usize, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let dir = absolute(path.parent().unwrap_or(Path::new("")));
        let parent = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Sort::DropIns(target) = name::sort(&parent)
            && name::leftover(&name).is_none()
        {
            let level = Level { number, root: dir.parent().unwrap_or(&dir).to_owned() };
            return self.read_file(&level, path.to_owned(), Role::DropIn { target, file: name });
        }
        match name::sort(&name) {
            Sort::Unit(unit) => {
                self.read_file(&Level { number, root: dir }, path.to_owned(), Role::Main(unit));
            }
            Sort::Ignored(why) => self.note(path.to_owned(), Trouble::Ignored(vec![(name, why)])),
            Sort::DropIns(_) => self.note(path.to_owned(), Trouble::NotAFile("a directory")),
            other => self.refuse(path.to_owned(), &name, &other),
        }
    }

    /// The sorted names in a directory; `None` if it is not there or cannot be read (which is noted).
    fn names(&mut self, dir: &Path) -> Option<Vec<String>> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.note(dir.to_owned(), Trouble::Unreadable(plain(&error)));
                return None;
            }
        };
        let mut names = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => names.push(entry.file_name().to_string_lossy().into_owned()),
                // Half a directory must not look like deleted units.
                Err(error) => self.note(dir.to_owned(), Trouble::Unreadable(plain(&error))),
            }
            if names.len() > limits::UNIT_FILES_MAX {
                self.note(dir.to_owned(), Trouble::TooMany);
                break;
            }
        }
        names.sort();
        Some(names)
    }

    fn read_file(&mut self, level: &Level, path: PathBuf, role: Role) {
        match read(&path) {
            Ok(text) => {
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

fn read(path: &Path) -> Result<Arc<str>, Trouble> {
    let unreadable = |error: io::Error| Trouble::Unreadable(plain(&error));
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Trouble::Dangling),
        Err(error) => return Err(unreadable(error)),
    };
    if meta.is_dir() {
        return Err(Trouble::NotAFile("a directory"));
    }
    if !meta.is_file() {
        return Err(Trouble::NotAFile("a device, pipe or socket"));
    }
    let mut bytes =
        Vec::with_capacity(usize::try_from(meta.len().min(limits::UNIT_FILE_BYTES_MAX)).unwrap_or(0));
    let file = File::open(path).map_err(unreadable)?;
    file.take(limits::UNIT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limits::UNIT_FILE_BYTES_MAX {
        return Err(Trouble::TooLarge);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let lines = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count();
            Err(Trouble::NotText(lines + 1))
        }
    }
}

/// "permission denied", without the number that Rust appends.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
