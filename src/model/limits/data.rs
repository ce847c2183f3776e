//! Bounds of the life of the data: backups, copies.

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
