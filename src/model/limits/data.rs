//! Bounds of the database and of the life of the data: backups, copies, what is let go of.

use std::time::Duration;

/// The list of what a backup holds.
pub const BACKUP_MANIFEST_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Files of a backup beside the database: unit files, plans, secrets.
pub const BACKUP_FILES_MAX: usize = 10_000;

/// One of them: the longest is a kept plan.
pub const BACKUP_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Folders in folders of unit files: drop-ins lie one deep, a repository of one's own somewhat more.
pub const BACKUP_DEPTH_MAX: usize = 8;

/// Copies kept from before migrations: the way back over the last releases.
pub const MIGRATION_COPIES_MAX: usize = 3;

/// How long a round of the writer waits for another process that holds the database.
pub const STORE_BUSY: Duration = Duration::from_secs(10);

/// The write-ahead log is copied into the database at this size even under load, and cut to it afterwards.
pub const WAL_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The log is copied after so long a pause of the writer.
pub const WAL_QUIET: Duration = Duration::from_millis(500);

/// Databases up to this size are checked whole at start; beyond, that would be the whole start-up time.
pub const QUICK_CHECK_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The first time that house is kept after a start.
pub const HOUSEKEEPING_FIRST: Duration = Duration::from_secs(600);

/// Between two times: nothing of it is urgent.
pub const HOUSEKEEPING_EVERY: Duration = Duration::from_secs(3600);

/// Steps of one kind in one time; what is left is there for the next.
pub const HOUSEKEEPING_STEPS_MAX: usize = 200;

/// Cases of one step: with all that belongs to them a few hundred rows, some ten milliseconds.
pub const KEEP_CASES_STEP: usize = 100;

/// A megabyte of free pages is room to write into, not waste.
pub const FREE_PAGES_MIN: i64 = 256;
