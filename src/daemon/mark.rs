//! The mark that a state directory leaves beside its database: which one it is, and how far it had come. A database that
//! is gone is missed by it, and one that was replaced by an older copy is known for that.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::secret::random::random_hex;
use crate::store::{Expected, Life};

/// Its name in the state directory.
pub const NAME: &str = "record.json";

/// Where the mark of this state lies.
#[must_use]
pub fn path(state: &Path) -> PathBuf {
    state.join(NAME)
}

/// What this state expects of its database. A mark that cannot be read still says that there was one.
#[must_use]
pub fn expected(state: &Path) -> Expected {
    match fs::read(path(state)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Expected::First,
        Err(_) => Expected::Known(Life::default()),
        Ok(bytes) => Expected::Known(serde_json::from_slice(&bytes).unwrap_or_default()),
    }
}

/// Leaves the mark of a database that is about to be made, and names it.
///
/// # Errors
/// The disk.
pub fn begin(state: &Path, database: &Path) -> io::Result<Life> {
    let life = Life { id: random_hex(32), stamp: 0, path: database.to_owned() };
    leave(state, &life)?;
    Ok(life)
}

/// Leaves the mark: whole or not at all.
///
/// # Errors
/// The disk.
pub fn leave(state: &Path, life: &Life) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(state)?;
    file.write_all(&serde_json::to_vec(life)?)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
    file.as_file().sync_all()?;
    file.persist(path(state)).map_err(|error| error.error)?;
    Ok(())
}
