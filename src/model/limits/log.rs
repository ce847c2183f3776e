//! Bounds of the log.

/// One event in the log, after masking; an error chain is read by its head.
pub const LOG_EVENT_BYTES_MAX: usize = 16 * 1024;

/// What one unit may write to the log in an hour at the default level: thousands of lines, and a fraction of what a disk
/// or a reader would notice. What is asked for by hand (debug, trace) is not counted.
pub const LOG_UNIT_BYTES_PER_HOUR_MAX: u64 = 256 * 1024;

/// Different warnings remembered so that they are not repeated, and units whose lines are counted.
pub const LOG_REPEATS_LEN_MAX: usize = 1024;

/// A log file of our own is rotated at this size.
pub const LOG_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Rotated log files kept: 20 MB in all with the one being written.
pub const LOG_FILES_OLD_MAX: usize = 4;

/// What is held for an OpenTelemetry collector that does not take it, as JSON text: some thousand lines of the log. The
/// oldest go first.
pub const OTLP_HELD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Records in one request to a collector; its own default bound for a body is 4 MiB and more.
pub const OTLP_BATCH_LEN_MAX: usize = 512;
