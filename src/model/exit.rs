//! Exit codes: one table for all commands.

/// Fine.
pub const OK: u8 = 0;
/// It failed; the text says why.
pub const FAILURE: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// `status`: something enabled is not well. `validate --strict`: warnings.
pub const NOT_WELL: u8 = 3;
/// The database is gone, damaged, altered, of another program or made by a newer one; nothing was touched or made.
pub const DATABASE: u8 = 65;
/// The daemon is not running.
pub const NOT_RUNNING: u8 = 69;
/// A fault of ours.
pub const BUG: u8 = 70;
/// Another instance holds the state directory or the database.
pub const HELD: u8 = 75;
/// The two ends of the control socket are of different versions.
pub const WIRE: u8 = 76;
/// Not allowed: the socket, a file or a directory belongs to somebody else.
pub const NOT_ALLOWED: u8 = 77;
/// A configuration the daemon cannot start with. The packaged units do not restart on it.
pub const CONFIG: u8 = 78;
