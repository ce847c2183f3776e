//! Which copies of the record there are.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::archive::read_manifest;
use crate::model::time::Timestamp;
use crate::store::before_migrations;

/// What a backup's name ends with.
pub(super) const ENDING: &str = ".workagent-backup.tar";

/// The folder of backups, in the state directory.
pub(super) const FOLDER: &str = "backups";

/// A copy that can be put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// When it was made.
    pub at: Timestamp,
    /// The newest migration of the database in it, where that can be read.
    pub schema: Option<i64>,
}

/// Copies from before migrations, and backups in the state directory, newest first.
#[must_use]
pub fn kept(state: &Path, database: &Path) -> Vec<Kept> {
    let copy = |(path, number): (PathBuf, i64)| {
        // Made before that migration ran.
        let schema = Some(number.saturating_sub(1));
        Kept { at: made_at(&path), path, schema }
    };
    let mut all: Vec<Kept> = before_migrations(database).into_iter().map(copy).collect();
    all.extend(backups_in(&state.join(FOLDER)));
    all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.schema.cmp(&a.schema)));
    all
}

/// The backups in a folder, in no order.
pub(super) fn backups_in(folder: &Path) -> Vec<Kept> {
    let of = |entry: fs::DirEntry| {
        let path = entry.path();
        let ours = path.file_name()?.to_string_lossy().ends_with(ENDING);
        ours.then(|| match read_manifest(&path) {
            Ok(manifest) => Kept { at: manifest.made_at, schema: Some(manifest.schema), path },
            Err(_) => Kept { at: made_at(&path), schema: None, path },
        })
    };
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(of).collect()
}

fn made_at(path: &Path) -> Timestamp {
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Timestamp(since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0))
}
