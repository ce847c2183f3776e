//! A text that is not on disk yet: an editor's buffer, or what `--fix` would write.

use std::path::Path;
use std::sync::Arc;

use super::name::{self, Sort};
use super::{Loaded, Role, UnitFile, absolute};

impl Loaded {
    /// Takes a text as the content of a file: in place of the one that was read from the same path, else above all others.
    /// `false`: by its name it is neither a unit file nor a drop-in.
    pub fn put(&mut self, path: &Path, text: Arc<str>) -> bool {
        if let Some(file) = self.files.iter_mut().find(|file| absolute(&file.path) == absolute(path)) {
            file.text = text;
            return true;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let dir = absolute(path.parent().unwrap_or(Path::new("")));
        let parent = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (role, dir) = match (name::sort(&parent), name::sort(&name)) {
            (Sort::DropIns(target), _) if name::leftover(&name).is_none() => {
                (Role::DropIn { target, file: name }, dir.parent().unwrap_or(&dir).to_owned())
            }
            (_, Sort::Unit(unit)) => (Role::Main(unit), dir),
            _ => return false,
        };
        // It could not be read from disk, and need not be.
        self.notices.retain(|notice| notice.path != path);
        let level = self.files.iter().map(|file| file.level).max().unwrap_or(0) + 1;
        self.files.push(UnitFile { level, path: path.to_owned(), dir, role, text });
        true
    }
}

/// Letters, digits, `-`, `_`, `.`; one `@` for a template or an instance of one.
#[must_use]
pub fn is_unit_name(name: &str) -> bool {
    name::is_name(name)
}
