//! Putting a backup back: everything is checked before anything is replaced, and what is replaced is kept aside.
//!
//! The copy becomes what it is to be beside the place (migrated, told that it is a copy), and takes it with one rename.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::BackupError;
use super::archive::{self, DATABASE, Manifest, PLANS, SECRETS, UNITS};
use crate::daemon::mark;
use crate::model::time::{Clock, Timestamp};
use crate::store::{Store, StoreOptions, check_copy, empty_log};

/// What a SQLite database begins with: a copy from before a migration, or one made by hand.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Where it goes.
pub struct Target {
    /// The state directory; its lock is held.
    pub state: PathBuf,
    /// The database.
    pub database: PathBuf,
    /// The directory of kept plans.
    pub plans: PathBuf,
    /// The directory of the user's unit files.
    pub units: Option<PathBuf>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Now.
    pub clock: Clock,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restore {
    /// Look at everything, replace nothing.
    pub dry_run: bool,
    /// Replace unit files that are there; without it they are put back only where there are none.
    pub units: bool,
}

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// It is not in the backup.
    Absent,
    /// What is here stays.
    Kept,
    /// It is put back.
    PutBack,
}

/// What came of it, or would.
#[derive(Clone, Debug, Serialize)]
pub struct Restored {
    /// The backup.
    pub from: PathBuf,
    /// What it says of itself; `None` for a copy of the database alone.
    pub manifest: Option<Manifest>,
    /// When the copy was made.
    pub copied_at: Timestamp,
    /// The newest migration of the database in it.
    pub schema: i64,
    /// Where the database went.
    pub database: PathBuf,
    /// Sends that were not over in it: asked about, and held for the user.
    pub sends_in_doubt: u64,
    /// Drafts that wait in it.
    pub drafts_open: u64,
    /// Unit files.
    pub units: Plan,
    /// Kept plans.
    pub plans: Plan,
    /// Unit files of the backup that name the home directory of the machine it was made on.
    pub foreign_paths: Vec<String>,
    /// What was replaced lies there.
    pub aside: Vec<PathBuf>,
    /// The secrets in it, closed with a passphrase.
    #[serde(skip)]
    pub sealed_secrets: Option<Vec<u8>>,
}

/// Puts a backup back, or says what that would do. The caller holds the lock of the state.
///
/// # Errors
/// The file is damaged, of a newer program or no backup, or the disk has no room: then everything is as it was.
pub async fn restore(from: &Path, target: &Target, wish: Restore) -> Result<Restored, BackupError> {
    let folder = target.database.parent().unwrap_or(Path::new("/"));
    let workshop = tempfile::Builder::new()
        .prefix(".workagent-restore-")
        .tempdir_in(folder)
        .map_err(BackupError::io("write in", folder))?;
    let staged = workshop.path().join(DATABASE);
    let (manifest, files) = if is_database(from)? {
        fs::copy(from, &staged).map_err(BackupError::io("copy", from))?;
        (None, Vec::new())
    } else {
        let unpacked = archive::unpack(from, &staged)?;
        (Some(unpacked.manifest), unpacked.files)
    };
    fs::set_permissions(&staged, fs::Permissions::from_mode(0o600))
        .map_err(BackupError::io("write", &staged))?;
    let schema = check_copy(&staged).await.map_err(|error| told_of(error, from))?;
    let copied_at = manifest.as_ref().map_or_else(|| modified(from), |manifest| manifest.made_at);
    let settled = settle(&staged, target, (manifest.as_ref(), copied_at)).await?;

    let has = |part: &str| files.iter().any(|(name, _)| name.starts_with(&format!("{part}/")));
    let plan = |in_backup: bool, wanted: bool| match (in_backup, wanted) {
        (false, _) => Plan::Absent,
        (true, true) => Plan::PutBack,
        (true, false) => Plan::Kept,
    };
    let units_wanted = target.units.as_deref().is_some_and(|units| wish.units || is_empty(units));
    let mut restored = Restored {
        from: from.to_path_buf(),
        copied_at,
        schema,
        database: target.database.clone(),
        sends_in_doubt: settled.doubt.0,
        drafts_open: settled.doubt.1,
        units: plan(has(UNITS), units_wanted),
        plans: plan(has(PLANS), true),
        foreign_paths: foreign_paths(&files, settled.homes.as_ref().map(|homes| homes.0.as_str())),
        aside: Vec::new(),
        sealed_secrets: files.iter().find(|(name, _)| name == SECRETS).and_then(|(_, bytes)| bytes.clone()),
        manifest,
    };
    if wish.dry_run {
        return Ok(restored);
    }
    let aside = aside_of(&target.state, target.clock.now());
    if restored.plans == Plan::PutBack {
        replace_folder(&files, PLANS, &target.plans, &aside.join(PLANS), &mut restored.aside)?;
    }
    if let (Plan::PutBack, Some(units)) = (restored.units, &target.units) {
        let old = beside(units, &format!(".{}", aside.file_name().unwrap_or_default().to_string_lossy()));
        replace_folder(&files, UNITS, units, &old, &mut restored.aside)?;
    }
    empty_log(&target.database).await;
    replace_database(&staged, &target.database, &aside, &mut restored.aside)?;
    mark::leave(&target.state, &settled.life).map_err(BackupError::io("write in", &target.state))?;
    Ok(restored)
}

struct Settled {
    life: crate::store::Life,
    doubt: (u64, u64),
    homes: Option<(String, String)>,
}

/// Migrates the copy and tells it that it is one.
async fn settle(
    staged: &Path,
    target: &Target,
    (manifest, copied_at): (Option<&Manifest>, Timestamp),
) -> Result<Settled, BackupError> {
    let then = manifest.and_then(|manifest| manifest.home.as_deref()).and_then(Path::to_str);
    let now = target.home.as_deref().and_then(Path::to_str);
    let homes = then.zip(now).filter(|(then, now)| then != now && then.len() > 1);
    let homes = homes.map(|(then, now)| (then.to_owned(), now.to_owned()));
    let why = match manifest {
        Some(manifest) => format!("a backup of {} from {}", manifest.made_at, manifest.host),
        None => format!("a copy of the database of {copied_at}"),
    };
    let options = StoreOptions { path: staged.to_path_buf(), normal: false, clock: target.clock.clone() };
    let store = Store::open(options).await?;
    let doubt = store.put_back(Some(copied_at), &why, homes.clone()).await;
    let life = crate::store::Life { path: target.database.clone(), ..store.life().clone() };
    store.close().await;
    Ok(Settled { life, doubt: doubt?, homes })
}

/// The copy is in a workshop that nobody knows: what is said is about the file that was given.
fn told_of(error: crate::store::StoreError, from: &Path) -> BackupError {
    use crate::store::StoreError as E;
    match error {
        E::Newer { found, known, by, .. } => E::Newer { path: from.to_path_buf(), found, known, by }.into(),
        E::Altered { number, .. } => E::Altered { path: from.to_path_buf(), number }.into(),
        E::Foreign { tables, .. } => E::Foreign { path: from.to_path_buf(), tables }.into(),
        E::Damaged { detail, .. } => E::Damaged { path: from.to_path_buf(), detail }.into(),
        E::Missing { .. } => BackupError::unfit(from, "there is nothing in it"),
        other => other.into(),
    }
}

fn is_database(path: &Path) -> Result<bool, BackupError> {
    let mut head = [0; SQLITE.len()];
    let mut file = fs::File::open(path).map_err(BackupError::io("open", path))?;
    Ok(match file.read_exact(&mut head) {
        Ok(()) => head == SQLITE,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(BackupError::io("read", path)(error)),
    })
}

fn modified(path: &Path) -> Timestamp {
    let at = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let since = at.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    Timestamp(since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0))
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

fn foreign_paths(files: &[(String, Option<Vec<u8>>)], home: Option<&str>) -> Vec<String> {
    let Some(home) = home else { return Vec::new() };
    let names_it = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains(home);
    let units = files.iter().filter(|(name, _)| name.starts_with("units/"));
    let named = units.filter(|(_, bytes)| bytes.as_ref().is_some_and(names_it));
    named.map(|(name, _)| name.trim_start_matches("units/").to_owned()).collect()
}

/// A folder that is not there yet.
fn aside_of(state: &Path, now: Timestamp) -> PathBuf {
    let at: String = now.to_string().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let name = |number: u32| match number {
        0 => state.join(format!("before-restore-{at}")),
        more => state.join(format!("before-restore-{at}-{more}")),
    };
    let free = (0..100).map(name).find(|path| !path.exists());
    free.unwrap_or_else(|| name(100))
}

/// `name.SUFFIX` beside a folder.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn make_folder(path: &Path) -> Result<(), BackupError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(BackupError::io("make", path))
}

/// Writes the files of a part beside its folder and lets it take the place; the old one goes to `old`.
fn replace_folder(
    files: &[(String, Option<Vec<u8>>)],
    part: &str,
    folder: &Path,
    old: &Path,
    aside: &mut Vec<PathBuf>,
) -> Result<(), BackupError> {
    let parent = folder.parent().unwrap_or(Path::new("/"));
    make_folder(parent)?;
    let workshop = tempfile::Builder::new()
        .prefix(".workagent-restore-")
        .tempdir_in(parent)
        .map_err(BackupError::io("write in", parent))?;
    let fresh = workshop.path().join(part);
    make_folder(&fresh)?;
    for (name, bytes) in files {
        let Ok(below) = Path::new(name).strip_prefix(part) else { continue };
        let path = fresh.join(below);
        make_folder(path.parent().unwrap_or(&fresh))?;
        match bytes {
            Some(bytes) => {
                fs::write(&path, bytes).map_err(BackupError::io("write", &path))?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
                    .map_err(BackupError::io("write", &path))?;
            }
            None => {
                std::os::unix::fs::symlink("/dev/null", &path).map_err(BackupError::io("write", &path))?;
            }
        }
    }
    if folder.symlink_metadata().is_ok() {
        make_folder(old.parent().unwrap_or(Path::new("/")))?;
        fs::rename(folder, old).map_err(BackupError::io("put aside", folder))?;
        if is_empty(old) {
            let _ = fs::remove_dir(old);
        } else {
            aside.push(old.to_path_buf());
        }
    }
    fs::rename(&fresh, folder).map_err(BackupError::io("put back", folder))
}

/// The old file gets a second name aside, its log goes there, and the new one takes the place with one rename.
fn replace_database(
    staged: &Path,
    database: &Path,
    aside: &Path,
    kept: &mut Vec<PathBuf>,
) -> Result<(), BackupError> {
    if database.exists() {
        make_folder(aside)?;
        let old = aside.join(database.file_name().unwrap_or_default());
        if fs::hard_link(database, &old).is_err() {
            fs::copy(database, &old).map_err(BackupError::io("keep aside", database))?;
        }
        // A log beside the new file would be taken for its own.
        for suffix in ["-wal", "-shm"] {
            let side = beside(database, suffix);
            if side.exists() {
                let to = beside(&old, suffix);
                let moved = fs::rename(&side, &to)
                    .or_else(|_| fs::copy(&side, &to).and_then(|_| fs::remove_file(&side)));
                moved.map_err(BackupError::io("keep aside", &side))?;
            }
        }
        kept.push(old);
    }
    fs::rename(staged, database).map_err(BackupError::io("put back", database))?;
    if let Some(folder) = database.parent() {
        // The rename itself is to survive a loss of power.
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}
