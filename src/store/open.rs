//! Opening: look before touching, check, back up, migrate, start the writer.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, SqlSafeStr};
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::Checkpointer;
use super::copies::back_up;
use super::life::{Expected, Settled, settle};
use super::look::{Found, beside, damaged_or, look, missed};
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
    (5, "life", include_str!("migrations/0005_life.sql")),
    (6, "rotations", include_str!("migrations/0006_rotations.sql")),
    (8, "waits", include_str!("migrations/0008_waits.sql")),
    (9, "prompt hashes", include_str!("migrations/0009_prompt_hashes.sql")),
    (10, "channels", include_str!("migrations/0010_channels.sql")),
    (11, "decisions", include_str!("migrations/0011_decisions.sql")),
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
        Self::open_expected(options, &Expected::Anything).await
    }

    /// The same, where it is known from outside which database is to be there.
    ///
    /// # Errors
    /// Also [`StoreError::Missing`]: there was one, and a new one is not made in its place.
    pub async fn open_expected(options: StoreOptions, expected: &Expected) -> Result<Self> {
        Self::open_with(options, expected, &migrations(MIGRATIONS)).await
    }

    pub(super) async fn open_with(
        options: StoreOptions,
        expected: &Expected,
        migrator: &Migrator,
    ) -> Result<Self> {
        let path = options.path.as_path();
        let found = look(path, migrator).await?;
        if found == Found::Nothing
            && let Some(missed) = missed(path, expected)
        {
            return Err(missed);
        }
        if found == Found::Nothing {
            create(path).map_err(|error| StoreError::Sql { doing: OPENING, source: error.into() })?;
        }
        let mut conn = connect(&writing(&options, "store-writer"), path).await?;
        let newest = migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
        if let Found::Ours(number) = found
            && number < newest
        {
            back_up(&mut conn, path, number).await?;
        }
        migrator.run_direct(None, &mut conn, false).await.map_err(|error| match error {
            sqlx::migrate::MigrateError::VersionMismatch(number) => {
                StoreError::Altered { path: path.to_owned(), number }
            }
            other => StoreError::Sql { doing: MIGRATING, source: other.into() },
        })?;
        let now = options.clock.now();
        let settled = settle(&mut conn, path.to_owned(), (expected, newest, now)).await?;

        let readers = SqlitePoolOptions::new()
            .max_connections(2)
            // A pool that looks after its connections' age would wake an idle process.
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(base(path, "store-reader").read_only(true).pragma("cache_size", "-4096"));
        let copier = connect(&writing(&options, "store-copier"), path).await?;
        Ok(start(options, settled, (conn, copier), readers))
    }
}

fn start(
    options: StoreOptions,
    Settled { life, restored }: Settled,
    (conn, copier): (SqliteConnection, SqliteConnection),
    readers: sqlx::SqlitePool,
) -> Store {
    let (queue, waiting) = mpsc::channel(limits::WRITER_QUEUE_LEN_MAX);
    let wakeups = Arc::new(Wakeups::default());
    let activity = Arc::new(Activity::default());
    let checkpointer =
        Checkpointer { conn: copier, wal: beside(&options.path, "-wal"), activity: Arc::clone(&activity) };
    let writer = Writer {
        tx: Tx { conn, now: options.clock.now(), wake: Wake::default(), restored },
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
    Store { wakeups, queue, readers, clock: options.clock, life: Arc::new(life) }
}

pub(super) fn base(path: &Path, thread: &'static str) -> SqliteConnectOptions {
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

pub(super) async fn connect(options: &SqliteConnectOptions, path: &Path) -> Result<SqliteConnection> {
    options.connect().await.map_err(|error| damaged_or(error, path, OPENING))
}

pub(super) fn create(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    // SQLite gives its side files the mode of the database.
    let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))
}
