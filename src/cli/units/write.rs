//! Writing unit files: whole or not at all, through links, with the mode of the old file kept.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::cli::error::CliError;
use crate::daemon::exit;

/// Mode of a new unit file: it holds no secrets, so who may read the directory may read it.
const MODE: u32 = 0o644;

/// Writes `text` to `path`: into a file beside it first, which then takes its name. A link stays a link; what it leads
/// to is replaced. Directories above are made.
///
/// # Errors
/// Names the file; it is as it was then.
pub fn write(path: &Path, text: &str) -> Result<(), CliError> {
    replace(path, text).map_err(|error| {
        let failed = CliError::new(exit::FAILURE, format!("write {}: {error}", path.display()));
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => failed
                .hint("the file is managed by somebody else; `workagent paths` shows where yours can go"),
            _ => failed,
        }
    })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let target = target(path)?;
    let mode = match fs::metadata(&target) {
        // A link to /dev/null masks a unit; to put a file in the place of that device would be a disaster.
        Ok(meta) if !meta.is_file() => return Err(io::Error::other("it is not a regular file")),
        Ok(meta) => Some(meta.permissions().mode() & 0o7777),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let dir = target.parent().unwrap_or(Path::new("."));
    // Hidden: who looks at the directory meanwhile passes it over.
    let mut beside = tempfile::Builder::new()
        .prefix(".workagent-")
        .suffix("~")
        .permissions(fs::Permissions::from_mode(mode.unwrap_or(MODE)))
        .tempfile_in(dir)?;
    if let Some(mode) = mode {
        // The one given above went through the umask.
        beside.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(&target).map_err(|error| error.error)?;
    // The rename itself must outlive a power cut; a directory that cannot be opened was still renamed in.
    if let Ok(dir) = fs::File::open(dir) {
        let _ = dir.sync_all();
    }
    Ok(())
}

/// Where a path leads in the end; a link that leads nowhere yet gives the place it names.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(link) => Ok(path.parent().unwrap_or(Path::new(".")).join(link)),
            Err(_) => Ok(path.to_owned()),
        },
        Err(error) => Err(error),
    }
}

/// Removes a file (of a link, the link only), and the directory it was in when nothing else is there.
///
/// # Errors
/// Names the file.
pub fn remove(path: &Path) -> Result<(), CliError> {
    fs::remove_file(path)
        .map_err(|error| CliError::new(exit::FAILURE, format!("remove {}: {error}", path.display())))?;
    if let Some(dir) = path.parent().filter(|dir| dir.extension().is_some_and(|ending| ending == "d")) {
        // Fails when something is in it, which is as it should be.
        let _ = fs::remove_dir(dir);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_link_is_written_through_and_the_mode_stays() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("dotfiles")).unwrap();
        fs::create_dir(at("units")).unwrap();
        fs::write(at("dotfiles/a.toml"), "old").unwrap();
        fs::set_permissions(at("dotfiles/a.toml"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("../dotfiles/a.toml", at("units/a.toml")).unwrap();
        write(&at("units/a.toml"), "new").unwrap();
        assert!(fs::symlink_metadata(at("units/a.toml")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(at("dotfiles/a.toml")).unwrap(), "new");
        assert_eq!(fs::metadata(at("dotfiles/a.toml")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(
            (names(&at("units")), names(&at("dotfiles"))),
            (vec!["a.toml".into()], vec!["a.toml".into()])
        );
    }

    #[test]
    fn a_device_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join("a.toml");
        symlink("/dev/null", &link).unwrap();
        assert!(write(&link, "x").unwrap_err().message.contains("not a regular file"));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn directories_are_made_and_go_with_their_last_file() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("x.connector.d");
        write(&dir.join("a.toml"), "a").unwrap();
        write(&dir.join("b.toml"), "b").unwrap();
        remove(&dir.join("a.toml")).unwrap();
        assert_eq!(names(&dir), ["b.toml"]);
        remove(&dir.join("b.toml")).unwrap();
        assert!(!dir.exists());
    }
}
