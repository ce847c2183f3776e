//! Copies of the database: one before each migration, and those that people ask for. A copy is whole and checked before
//! it gets its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use super::life::Expected;
use super::look::{Found, beside, look, missed, missing, whole_check};
use super::open::{self, base, connect, create};
use super::{Result, StoreError};
use crate::model::limits;

/// Stands between the database's name and the number of the migration that the copy was made before.
const BEFORE: &str = ".before-";

/// A copy of the database as it was, `NAME.before-N`, where N is the first migration that will run on it. The oldest of
/// such copies go.
pub(super) async fn back_up(conn: &mut SqliteConnection, path: &Path, applied: i64) -> Result<()> {
    const DOING: &str = "copy the database before its migration";
    let copy = beside(path, &format!("{BEFORE}{}", applied.saturating_add(1)));
    let unfinished = beside(&copy, ".part");
    let io = |error: io::Error| StoreError::Sql { doing: DOING, source: error.into() };
    write_copy(conn, &unfinished, DOING).await?;
    fs::rename(&unfinished, &copy).map_err(io)?;
    let older = before_migrations(path);
    for (old, _) in older.iter().rev().skip(limits::MIGRATION_COPIES_MAX) {
        let _ = fs::remove_file(old);
    }
    Ok(())
}

/// Copies beside this database that were made before migrations, oldest first, each with the number of the migration.
#[must_use]
pub fn before_migrations(path: &Path) -> Vec<(PathBuf, i64)> {
    let Some((folder, name)) = path.parent().zip(path.file_name()) else { return Vec::new() };
    let prefix = format!("{}{BEFORE}", name.to_string_lossy());
    let of = |entry: fs::DirEntry| {
        let number = entry.file_name().to_string_lossy().strip_prefix(&prefix)?.parse().ok()?;
        Some((entry.path(), number))
    };
    let mut found: Vec<(PathBuf, i64)> =
        fs::read_dir(folder).into_iter().flatten().flatten().filter_map(of).collect();
    found.sort_by_key(|(_, number)| *number);
    found
}

/// Copies the database of this path, while others read and write it, into a new file at `to` (mode 0600), and checks the
/// copy. Gives the number of its newest migration.
///
/// # Errors
/// The database cannot be used (see [`StoreError`]), or the disk has no room; then nothing is left at `to`.
pub async fn copy_database(path: &Path, expected: &Expected, to: &Path) -> Result<i64> {
    const DOING: &str = "copy the database";
    let migrator = open::migrations(open::MIGRATIONS);
    if look(path, &migrator).await? == Found::Nothing {
        let never = || missing(path, "nothing was ever written there");
        return Err(missed(path, expected).unwrap_or_else(never));
    }
    let mut conn = connect(&base(path, "store-copier").read_only(true), path).await?;
    let written = write_copy(&mut conn, to, DOING).await;
    let _ = conn.close().await;
    if written.is_err() {
        let _ = fs::remove_file(to);
    }
    written?;
    check_copy(to).await
}

/// Looks at the database without changing a byte, also while others use it: `true` where there is one, `false` where none
/// was made yet.
///
/// # Errors
/// As [`Store::open_expected`](super::Store::open_expected) has them for a database that cannot be used.
pub async fn check_database(path: &Path, expected: &Expected) -> Result<bool> {
    match look(path, &open::migrations(open::MIGRATIONS)).await? {
        Found::Ours(_) => Ok(true),
        Found::Nothing => missed(path, expected).map_or(Ok(false), Err),
    }
}

/// Looks at a copy that nobody uses: ours, of a schema that this program knows, and whole. Gives the number of its newest
/// migration.
///
/// # Errors
/// As [`Store::open`](super::Store::open) has them for a database that cannot be used.
pub async fn check_copy(path: &Path) -> Result<i64> {
    let migrator = open::migrations(open::MIGRATIONS);
    let Found::Ours(schema) = look(path, &migrator).await? else {
        return Err(missing(path, "it holds nothing"));
    };
    let mut conn = connect(&base(path, "store-look").read_only(true).immutable(true), path).await?;
    let checked = whole_check(&mut conn, path).await;
    let _ = conn.close().await;
    checked.map(|()| schema)
}

/// Brings what is only in the log of a database that nobody uses into the database itself, as far as that can be done.
pub async fn empty_log(path: &Path) {
    if !fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0) {
        return;
    }
    if let Ok(mut conn) = connect(&base(path, "store-copier"), path).await {
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await;
        let _ = conn.close().await;
    }
}

async fn write_copy(conn: &mut SqliteConnection, to: &Path, doing: &'static str) -> Result<()> {
    let io = |error: io::Error| StoreError::Sql { doing, source: error.into() };
    // A copy that a crash left half done.
    if to.exists() {
        fs::remove_file(to).map_err(io)?;
    }
    // Made first with the narrow mode: the copy holds mail.
    create(to).map_err(io)?;
    let target = to.to_string_lossy().into_owned();
    sqlx::query("VACUUM INTO ?1").bind(target).execute(conn).await.map_err(StoreError::sql(doing))?;
    // SQLite does not wait for the disk there.
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(io)
}
