//! A look at the database before anything touches it: whether it is there, whole, ours, and of a schema we know.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Row};

use super::life::Expected;
use super::open::{base, connect};
use super::{Result, StoreError};
use crate::model::limits;
use crate::model::text::one_line;

const LOOKING: &str = "look at the database";
const CHECKING: &str = "check the database";

/// A table that every database of ours has had from its first migration on.
const OURS: &str = "connectors";

const TABLES: &str =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
const APPLIED: &str = "SELECT version, checksum FROM _sqlx_migrations ORDER BY version";
const WRITTEN_BY: &str = "SELECT version FROM programs ORDER BY id DESC LIMIT 1";

/// What is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or one in which nothing was ever written.
    Nothing,
    /// Our database, with this migration as its newest.
    Ours(i64),
}

/// Looks without changing a byte. What cannot be used is an error, and is left as it is.
pub(super) async fn look(path: &Path, migrator: &Migrator) -> Result<Found> {
    if fs::metadata(path).map_or(0, |meta| meta.len()) == 0 {
        return match fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0) {
            // SQLite would throw the log away, and with it all that was not yet copied out of it.
            true => Err(missing(path, "only its log is left")),
            false => Ok(Found::Nothing),
        };
    }
    // Without a log there is nothing to recover, and `immutable` then leaves no side files behind.
    let log_left = fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0);
    let options = base(path, "store-look").read_only(true).immutable(!log_left);
    let mut conn = connect(&options, path).await?;
    let found = inside(&mut conn, path, migrator).await;
    let _ = conn.close().await;
    found
}

/// Why nothing is to be made where nothing is, if something was there.
pub(super) fn missed(path: &Path, expected: &Expected) -> Option<StoreError> {
    let Expected::Known(known) = expected else { return None };
    if known.is_begun() {
        return None;
    }
    Some(if known.path.as_os_str().is_empty() || known.path == path {
        missing(path, "there was one here")
    } else {
        missing(path, format!("it was {} until now", known.path.display()))
    })
}

pub(super) fn missing(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::Missing { path: path.to_owned(), why: why.into() }
}

async fn inside(conn: &mut SqliteConnection, path: &Path, migrator: &Migrator) -> Result<Found> {
    let tables: Vec<String> = column(conn, path, TABLES).await?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    let applied = if has("_sqlx_migrations") { applied(conn, path).await? } else { Vec::new() };
    let Some(found) = applied.iter().map(|(version, _)| *version).max() else {
        // Killed while it was made: nothing of anybody's is in it.
        if tables.iter().all(|table| table == "_sqlx_migrations") {
            return Ok(Found::Nothing);
        }
        return Err(foreign(path, &tables));
    };
    if !has(OURS) {
        return Err(foreign(path, &tables));
    }
    let known: i64 = migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
    if found > known {
        // Whatever that program has made of it, this is not worth a failure.
        let by = column::<String>(conn, path, WRITTEN_BY).await.unwrap_or_default();
        let by = by.first().map(|version| one_line(version, 40));
        return Err(StoreError::Newer { path: path.to_owned(), found, known, by });
    }
    for (version, checksum) in &applied {
        let same =
            migrator.iter().any(|ours| ours.version == *version && *ours.checksum == *checksum.as_slice());
        if !same {
            return Err(StoreError::Altered { path: path.to_owned(), number: *version });
        }
    }
    quick_check(conn, path).await?;
    Ok(Found::Ours(found))
}

fn foreign(path: &Path, tables: &[String]) -> StoreError {
    const NAMES_MAX: usize = 3;
    let names: Vec<String> = tables.iter().take(NAMES_MAX).map(|name| one_line(name, 40)).collect();
    StoreError::Foreign { path: path.to_owned(), tables: names.join(", ") }
}

async fn applied(conn: &mut SqliteConnection, path: &Path) -> Result<Vec<(i64, Vec<u8>)>> {
    let rows =
        sqlx::query(APPLIED).fetch_all(conn).await.map_err(|error| damaged_or(error, path, LOOKING))?;
    let of = |row: &sqlx::sqlite::SqliteRow| Ok((row.try_get(0)?, row.try_get(1)?));
    rows.iter().map(of).collect::<std::result::Result<_, _>>().map_err(StoreError::sql(LOOKING))
}

async fn column<T>(conn: &mut SqliteConnection, path: &Path, sql: &'static str) -> Result<Vec<T>>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    let rows = sqlx::query(sql).fetch_all(conn).await.map_err(|error| damaged_or(error, path, LOOKING))?;
    let values = rows.iter().map(|row| row.try_get(0)).collect::<std::result::Result<_, _>>();
    values.map_err(StoreError::sql(LOOKING))
}

/// SQLite's own words tell damage from trouble with the disk.
pub(super) fn damaged_or(error: sqlx::Error, path: &Path, doing: &'static str) -> StoreError {
    let code = error.as_database_error().and_then(|database| database.code());
    let number = code.as_deref().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    match number {
        // SQLITE_CORRUPT
        Some(11) => StoreError::Damaged { path: path.to_owned(), detail: error.to_string() },
        // SQLITE_NOTADB
        Some(26) => {
            let detail = "it is no SQLite database, or its beginning was overwritten".to_owned();
            StoreError::Damaged { path: path.to_owned(), detail }
        }
        _ => StoreError::Sql { doing, source: error },
    }
}

pub(super) async fn quick_check(conn: &mut SqliteConnection, path: &Path) -> Result<()> {
    let small = fs::metadata(path).is_ok_and(|meta| meta.len() <= limits::QUICK_CHECK_BYTES_MAX);
    // A large database is checked where a fault would lose or repeat work; the whole would take seconds.
    let checks: &[&'static str] = if small {
        &["PRAGMA quick_check(1)"]
    } else {
        &["PRAGMA quick_check('connectors')", "PRAGMA quick_check('actions')", "PRAGMA quick_check('drafts')"]
    };
    for &check in checks {
        run_check(conn, path, check).await?;
    }
    Ok(())
}

/// Everything, however long it takes: for copies, which are looked at once.
pub(super) async fn whole_check(conn: &mut SqliteConnection, path: &Path) -> Result<()> {
    run_check(conn, path, "PRAGMA integrity_check(1)").await
}

async fn run_check(conn: &mut SqliteConnection, path: &Path, check: &'static str) -> Result<()> {
    let rows = sqlx::query(check).fetch_all(conn).await.map_err(|error| damaged_or(error, path, CHECKING))?;
    let Some(row) = rows.first() else { return Ok(()) };
    let said: String = row.try_get(0).map_err(StoreError::sql(CHECKING))?;
    if said == "ok" {
        return Ok(());
    }
    Err(StoreError::Damaged { path: path.to_owned(), detail: one_line(&said, 200) })
}

/// `name-wal` beside `name`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
