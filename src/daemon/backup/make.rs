//! Making a backup: while the daemon runs, into one file that is there whole or not at all.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::BackupError;
use super::archive::{self, Content, DATABASE, FORMAT, Manifest, PLANS, SECRETS, SecretsKept, UNITS};
use super::kept::{ENDING, FOLDER};
use crate::model::limits;
use crate::model::time::Timestamp;
use crate::store::{Expected, copy_database};
use crate::unit::search::{SearchEnv, SearchPath};

/// What a backup is made of.
pub struct Sources {
    /// The database.
    pub database: PathBuf,
    /// What the state knows of it.
    pub expected: Expected,
    /// The directory of the user's unit files.
    pub units: Option<PathBuf>,
    /// The directory of kept plans.
    pub plans: PathBuf,
    /// The secrets, closed with a passphrase; `None`: they are left out.
    pub secrets: Option<Vec<u8>>,
    /// The machine.
    pub host: String,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Now.
    pub now: Timestamp,
}

/// A backup that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Made {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// What is in it.
    pub manifest: Manifest,
}

/// The user's own directory of unit files: the first of a list that is given by hand, else the usual one.
#[must_use]
pub fn units_of(search: &SearchPath, env: &SearchEnv) -> Option<PathBuf> {
    let passing = env.runtime_dir.as_ref().map(|dir| dir.join("workagent/units"));
    let given = search.dirs.last().filter(|dir| Some(*dir) != passing.as_ref()).cloned();
    given.or_else(|| SearchPath::user_dir(env).filter(|dir| search.dirs.contains(dir)))
}

/// Where a backup goes when nobody says where: a name of its own in the state directory.
#[must_use]
pub fn usual_path(state: &Path, host: &str, now: Timestamp) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let host: String = host.chars().take(40).map(plain).collect();
    let at: String = now.to_string().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let name = |number: u32| match number {
        1 => state.join(FOLDER).join(format!("{host}-{at}{ENDING}")),
        more => state.join(FOLDER).join(format!("{host}-{at}-{more}{ENDING}")),
    };
    // Several within one second.
    (1..100).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(100))
}

/// Makes a backup at `to`, mode 0600: copies the database while others use it, checks the copy, and adds the rest.
///
/// # Errors
/// The database cannot be used, `to` is there already, or the disk has no room; nothing is left then.
pub async fn make(sources: Sources, to: &Path) -> Result<Made, BackupError> {
    let to = std::path::absolute(to).map_err(BackupError::io("find", to))?;
    let folder = to.parent().unwrap_or(Path::new("/")).to_path_buf();
    if to.exists() {
        let source = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(BackupError::Io { doing: "write", path: to, source });
    }
    if !folder.exists() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(BackupError::io("make", &folder))?;
    }
    // Beside the backup: where that has room, its copy of the database has.
    let workshop = tempfile::Builder::new()
        .prefix(".workagent-backup-")
        .tempdir_in(&folder)
        .map_err(BackupError::io("write in", &folder))?;
    let copy = workshop.path().join(DATABASE);
    let schema = copy_database(&sources.database, &sources.expected, &copy).await?;
    let made_at = sources.now;
    let secrets = if sources.secrets.is_some() { SecretsKept::Encrypted } else { SecretsKept::None };
    let mut contents = vec![(DATABASE.to_owned(), Content::File(copy))];
    if let Some(units) = &sources.units {
        collect(units, UNITS, 0, &mut contents)?;
    }
    collect(&sources.plans, PLANS, limits::BACKUP_DEPTH_MAX, &mut contents)?;
    contents.extend(sources.secrets.map(|sealed| (SECRETS.to_owned(), Content::Bytes(sealed))));
    let files = contents
        .iter()
        .map(|(name, content)| archive::entry_of(name.clone(), content))
        .collect::<Result<Vec<_>, _>>()?;
    let manifest = Manifest {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        schema,
        made_at,
        host: sources.host,
        home: sources.home,
        secrets,
        files,
    };
    let contents: Vec<Content> = contents.into_iter().map(|(_, content)| content).collect();
    let failed = || BackupError::io("write", &to);
    let part = tempfile::NamedTempFile::new_in(workshop.path()).map_err(failed())?;
    part.as_file().set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed())?;
    let out = part.reopen().map_err(failed())?;
    let out = archive::write(out, &manifest, &contents).map_err(failed())?;
    out.sync_all().map_err(failed())?;
    let size_bytes = out.metadata().map_or(0, |meta| meta.len());
    part.persist_noclobber(&to).map_err(|error| failed()(error.error))?;
    Ok(Made { path: to, size_bytes, manifest })
}

/// The files of a directory, by name: regular ones, and links as what they lead to; a link to null stays one. `depth`:
/// how deep it lies already.
fn collect(
    folder: &Path,
    name: &str,
    depth: usize,
    contents: &mut Vec<(String, Content)>,
) -> Result<(), BackupError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(BackupError::io("read", folder)(error)),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // Names that are no text, and what editors and version control hide.
        let Some(own) = path.file_name().and_then(|own| own.to_str()).filter(|own| !own.starts_with('.'))
        else {
            continue;
        };
        let name = format!("{name}/{own}");
        if contents.len() >= limits::BACKUP_FILES_MAX {
            return Err(BackupError::unfit(folder, "it holds too many files"));
        }
        if fs::read_link(&path).is_ok_and(|target| target == Path::new("/dev/null")) {
            contents.push((name, Content::Null));
            continue;
        }
        let Ok(meta) = fs::metadata(&path) else { continue };
        if meta.is_dir() && depth < limits::BACKUP_DEPTH_MAX {
            collect(&path, &name, depth + 1, contents)?;
        } else if meta.is_file() && meta.len() <= limits::BACKUP_FILE_BYTES_MAX {
            // A plan may be swept away meanwhile.
            match fs::read(&path) {
                Ok(bytes) => contents.push((name, Content::Bytes(bytes))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(BackupError::io("read", &path)(error)),
            }
        }
    }
    Ok(())
}
