//! The life of the data: copies that are kept, made and put back.

mod archive;
mod kept;
mod make;
mod restore;

use std::io;
use std::path::{Path, PathBuf};

pub use archive::{FORMAT, Manifest, SecretsKept};
pub use kept::{Kept, kept};
pub use make::{Made, Sources, make, units_of, usual_path};
pub use restore::{Plan, Restore, Restored, Target, restore};

use crate::store::StoreError;

/// Why a backup could not be made or put back. Whatever it is, what was there before is as it was.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database that is copied, or the copy.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file is not a whole backup of ours.
    #[error("{} is not a backup that can be put back: {why}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// "it ends too early".
        why: String,
    },
    /// Made by a later program, in a form that this one does not know.
    #[error("{} was made by workagent {program} in format {format}, and this one knows {FORMAT}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The version that made it.
        program: String,
    },
    /// A file or directory.
    #[error("{doing} {}", path.display())]
    Io {
        /// "write".
        doing: &'static str,
        /// Which.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl BackupError {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source }
    }

    fn unfit(path: &Path, why: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_path_buf(), why: why.into() }
    }
}
