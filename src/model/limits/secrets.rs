//! Bounds of secrets and their stores.

use std::time::Duration;

/// One secret value: keys and certificate chains fit, files do not belong in the store.
pub const SECRET_BYTES_MAX: usize = 16 * 1024;

/// A call into a keyring, where nobody can be asked: one that has not answered by then waits for a person.
pub const KEYRING_CALL: Duration = Duration::from_secs(10);

/// The same where a person sits in front of it and may have to type a password.
pub const KEYRING_ASKING: Duration = Duration::from_secs(120);

/// After a store could not be used, it is left alone for so long: many units ask for the same.
pub const SECRET_STORE_REST: Duration = Duration::from_secs(5);

/// A program that prints a secret; some ask a server.
pub const SECRET_PROGRAM: Duration = Duration::from_secs(20);

/// Tries to replace one secret that stay in the record.
pub const ROTATIONS_KEPT_LEN_MAX: usize = 50;

/// A secret that could not be replaced is tried again after this.
pub const ROTATION_RETRY: Duration = Duration::from_secs(3600);

/// While a store of secrets cannot be used, it is looked at so often.
pub const SECRET_STORE_LOOK: Duration = Duration::from_secs(30);

/// Values of programs remembered at once.
pub const SECRETS_KEPT_LEN_MAX: usize = 256;

/// Shorter values are not masked: four characters of chance would blacken the log.
pub const SECRET_MASKED_BYTES_MIN: usize = 4;

/// Consecutive bytes shared with a secret value that are masked wherever they are shown.
pub const SECRET_PIECE_BYTES: usize = 8;

/// Values that are masked at once, old ones after a rotation included; then the oldest goes.
pub const SECRETS_MASKED_LEN_MAX: usize = 1024;

/// The secret file, encrypted; bounds what is decrypted into memory.
pub const SECRETS_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
