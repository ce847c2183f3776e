//! Opening: look before touching, check, back up, migrate, start the writer.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Row, SqlSafeStr};
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::Checkpointer;
use super::writer::{Activity, DatabaseFile, Tx, Wake, Writer};
use super::{Result, Store, StoreError, StoreOptions, Wakeups};
use crate::model::limits;
use crate::model::repeat::RepeatGuard;

const OPENING: &str = "open the database";
const MIGRATING: &str = "migrate the database";

/// The migrations in order, each with its number and text.
pub(super) const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "first", include_str!("migrations/0001_first.sql")),
    (2, "destinations", include_str!("migrations/0002_destinations.sql")),
    (3, "money", include_str!("migrations/0003_money.sql")),
    (4, "engines", include_str!("migrations/0004_engines.sql")),
    (6, "rotations", include_str!("migrations/0006_rotations.sql")),
];

pub(super) fn migrations(list: &[(i64, &'static str, &'static str)]) -> Migrator {
    let of = |&(number, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(number, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(list.iter().map(of).collect())
}

impl Store {
    /// Opens, checks, migrates (with a backup copy before), starts the writer.
    pub async fn open(options: StoreOptions) -> Result<Self> {
        Self::open_with(options, &migrations(MIGRATIONS)).await
    }

    pub(super) async fn open_with(options: StoreOptions, migrator: &Migrator) -> Result<Self> {
        let path = options.path.as_path();
        let existing = fs::metadata(path).is_ok_and(|meta| meta.len() > 0);
        let pending_over = if existing { inspect(path, migrator).await? } else { None };
        if !existing {
            create(path).map_err(|error| StoreError::Sql { doing: OPENING, source: error.into() })?;
        }

        let mut conn = connect(&writing(&options, "store-writer"), path).await?;
        if existing {
            quick_check(&mut conn, path).await?;
        }
        if let Some(number) = pending_over {
            back_up(&mut conn, path, number).await?;
        }
        migrator.run_direct(None, &mut conn, false).await.map_err(|error| match error {
            sqlx::migrate::MigrateError::VersionMismatch(number) => {
                StoreError::Altered { path: path.to_owned(), number }
            }
            other => StoreError::Sql { doing: MIGRATING, source: other.into() },
        })?;

        let readers = SqlitePoolOptions::new()
            .max_connections(2)
            // A pool that looks after its connections' age would wake an idle process.
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(base(path, "store-reader").read_only(true).pragma("cache_size", "-4096"));
        let copier = connect(&writing(&options, "store-copier"), path).await?;
        Ok(start(options, conn, copier, readers))
    }
}

fn start(
    options: StoreOptions,
    conn: SqliteConnection,
    copier: SqliteConnection,
    readers: sqlx::SqlitePool,
) -> Store {
    let (queue, waiting) = mpsc::channel(limits::WRITER_QUEUE_LEN_MAX);
    let wakeups = Arc::new(Wakeups::default());
    let activity = Arc::new(Activity::default());
    let checkpointer =
        Checkpointer { conn: copier, wal: beside(&options.path, "-wal"), activity: Arc::clone(&activity) };
    let writer = Writer {
        tx: Tx { conn, now: options.clock.now(), wake: Wake::default() },
        queue: waiting,
        wakeups: Arc::clone(&wakeups),
        clock: options.clock.clone(),
        failures: RepeatGuard::default(),
        activity,
        file: DatabaseFile::of(&options.path),
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the writer and its helper belong to the store: they end with close or the last handle"
    )]
    {
        let (stop, stopped) = oneshot::channel();
        let copying = tokio::spawn(checkpointer.work(stopped));
        tokio::spawn(writer.work(copying, stop));
    }
    Store { wakeups, queue, readers, clock: options.clock }
}

fn base(path: &Path, thread: &'static str) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(limits::STORE_BUSY)
        .statement_cache_capacity(256)
        .row_buffer_size(512)
        .thread_name(move |_| thread.to_owned())
        .disable_statement_logging()
}

fn writing(options: &StoreOptions, thread: &'static str) -> SqliteConnectOptions {
    let synchronous = if options.normal { SqliteSynchronous::Normal } else { SqliteSynchronous::Full };
    base(&options.path, thread)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .foreign_keys(true)
        .pragma("wal_autocheckpoint", "0")
        .pragma("journal_size_limit", limits::WAL_BYTES_MAX.to_string())
        .pragma("temp_store", "MEMORY")
        .pragma("cache_size", "-16384")
}

async fn connect(options: &SqliteConnectOptions, path: &Path) -> Result<SqliteConnection> {
    options.connect().await.map_err(|error| damaged_or(error, path, OPENING))
}

fn damaged_or(error: sqlx::Error, path: &Path, doing: &'static str) -> StoreError {
    let code = error.as_database_error().and_then(|database| database.code());
    match code.as_deref() {
        // SQLITE_CORRUPT, SQLITE_NOTADB
        Some("11" | "26") => StoreError::Damaged { path: path.to_owned(), detail: error.to_string() },
        _ => StoreError::Sql { doing, source: error },
    }
}

/// `name-wal` beside `name`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn create(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    // SQLite gives its side files the mode of the database.
    let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

/// Looks at the schema without touching the file. Gives the newest applied number when migrations wait.
async fn inspect(path: &Path, migrator: &Migrator) -> Result<Option<i64>> {
    // Without a log there is nothing to recover, and `immutable` then leaves no side files behind.
    let log_left = fs::metadata(beside(path, "-wal")).is_ok_and(|meta| meta.len() > 0);
    let options = base(path, "store-look").read_only(true).immutable(!log_left);
    let mut conn = connect(&options, path).await?;
    let known: i64 = migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
    let tables = sqlx::query("SELECT 1 FROM sqlite_master WHERE name = '_sqlx_migrations'")
        .fetch_all(&mut conn)
        .await
        .map_err(|error| damaged_or(error, path, OPENING))?;
    if tables.is_empty() {
        return Ok(None);
    }
    let rows = sqlx::query("SELECT version, checksum FROM _sqlx_migrations ORDER BY version")
        .fetch_all(&mut conn)
        .await
        .map_err(|error| damaged_or(error, path, OPENING))?;
    let _ = conn.close().await;

    let mut applied = Vec::new();
    for row in &rows {
        let version: i64 = row.try_get(0).map_err(StoreError::sql(OPENING))?;
        let checksum: Vec<u8> = row.try_get(1).map_err(StoreError::sql(OPENING))?;
        applied.push((version, checksum));
    }
    let found = applied.iter().map(|(version, _)| *version).max().unwrap_or(0);
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    for (version, checksum) in &applied {
        let same =
            migrator.iter().any(|ours| ours.version == *version && *ours.checksum == *checksum.as_slice());
        if !same {
            return Err(StoreError::Altered { path: path.to_owned(), number: *version });
        }
    }
    Ok((found > 0 && found < known).then_some(found))
}

async fn quick_check(conn: &mut SqliteConnection, path: &Path) -> Result<()> {
    let small = fs::metadata(path).is_ok_and(|meta| meta.len() <= limits::QUICK_CHECK_BYTES_MAX);
    // A large database is checked where a fault would lose or repeat work; the whole would take seconds.
    let checks: &[&'static str] = if small {
        &["PRAGMA quick_check(1)"]
    } else {
        &["PRAGMA quick_check('connectors')", "PRAGMA quick_check('actions')", "PRAGMA quick_check('drafts')"]
    };
    for &check in checks {
        let rows = sqlx::query(check)
            .fetch_all(&mut *conn)
            .await
            .map_err(|error| damaged_or(error, path, "check the database"))?;
        let said: String = match rows.first() {
            Some(row) => row.try_get(0).map_err(StoreError::sql("check the database"))?,
            None => continue,
        };
        if said != "ok" {
            return Err(StoreError::Damaged { path: path.to_owned(), detail: said });
        }
    }
    Ok(())
}

/// A copy of the database as it was, `NAME.before-N`, where N is the first migration that will run on it.
async fn back_up(conn: &mut SqliteConnection, path: &Path, applied: i64) -> Result<()> {
    const DOING: &str = "copy the database before its migration";
    let copy = beside(path, &format!(".before-{}", applied.saturating_add(1)));
    let unfinished = beside(&copy, ".part");
    let io = |error: io::Error| StoreError::Sql { doing: DOING, source: error.into() };
    // A copy that a crash left half done.
    if unfinished.exists() {
        fs::remove_file(&unfinished).map_err(io)?;
    }
    // Made first with the narrow mode: the copy holds mail.
    create(&unfinished).map_err(io)?;
    let target = unfinished.to_string_lossy().into_owned();
    sqlx::query("VACUUM INTO ?1").bind(target).execute(conn).await.map_err(StoreError::sql(DOING))?;
    fs::rename(&unfinished, &copy).map_err(io)
}
