//! The files that a tap reads: its configuration with the secrets in it, its state, its catalog. They live in a
//! directory of the run's own, closed to everybody else, and only while it runs: arguments are for all to see.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use zeroize::Zeroizing;

use super::tap::Protocol;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::secret::random::random_hex;

/// Begins the names of the directories of runs.
const PREFIX: &str = "run-";

/// What a tap is given.
pub struct Given {
    /// Its configuration, secrets filled in.
    pub config: Value,
    /// Where to go on; none at first.
    pub state: Option<Value>,
    /// What to read.
    pub catalog: Option<Value>,
}

/// The files of a run; gone when this is.
pub struct RunFiles {
    dir: PathBuf,
    args: Vec<OsString>,
}

impl Drop for RunFiles {
    fn drop(&mut self) {
        // What stays behind is swept by the next run.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl RunFiles {
    /// Writes them below the connector's own directory, off the async threads.
    ///
    /// # Errors
    /// `Network` (try again): the directory cannot be made or written.
    pub async fn write(state_dir: PathBuf, protocol: Protocol, given: Given) -> Result<Self, PortError> {
        let doing = format!("write the files of a run into {}", state_dir.display());
        let work = tokio::task::spawn_blocking(move || Self::write_now(&state_dir, protocol, &given));
        match work.await {
            Ok(Ok(files)) => Ok(files),
            Ok(Err(error)) => Err(PortError::caused(ErrorClass::NETWORK, doing, error)),
            Err(error) => Err(PortError::caused(ErrorClass::Bug, doing, error)),
        }
    }

    /// Behind the arguments of the unit.
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    fn write_now(state_dir: &Path, protocol: Protocol, given: &Given) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(state_dir)?;
        sweep(state_dir)?;
        let dir = state_dir.join(format!("{PREFIX}{}", random_hex(16)));
        fs::DirBuilder::new().mode(0o700).create(&dir)?;
        // From here on it is removed whatever happens.
        let mut files = Self { dir, args: Vec::new() };
        if protocol == Protocol::Airbyte {
            files.args.push("read".into());
        }
        files.add("config", &given.config)?;
        if let Some(state) = &given.state {
            files.add("state", state)?;
        }
        if let Some(catalog) = &given.catalog {
            files.add("catalog", catalog)?;
        }
        Ok(files)
    }

    fn add(&mut self, name: &str, value: &Value) -> io::Result<()> {
        let path = self.dir.join(format!("{name}.json"));
        let mut text = Zeroizing::new(Vec::with_capacity(64 * 1024));
        serde_json::to_writer(&mut *text, value)?;
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(&text)?;
        self.args.push(format!("--{name}").into());
        self.args.push(path.into_os_string());
        Ok(())
    }
}

/// What a killed daemon left behind: it holds secrets.
fn sweep(state_dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(state_dir)?.take(limits::ITEM_LIST_LEN_MAX) {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// A JSON file that the user made.
///
/// # Errors
/// `Config`: it is not there, too large, or not JSON. Its text is not repeated.
pub async fn read_json(path: PathBuf) -> Result<Value, PortError> {
    let doing = format!("read {}", path.display());
    let config = |why: String| PortError::caused(ErrorClass::Config, doing.clone(), why);
    let work = tokio::task::spawn_blocking(move || {
        let size = fs::metadata(&path)?.len();
        if size > limits::TAP_CATALOG_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too large"));
        }
        fs::read(&path)
    });
    let bytes =
        work.await.map_err(|error| config(error.to_string()))?.map_err(|error| config(error.to_string()))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| config(format!("it is not JSON (line {}, column {})", error.line(), error.column())))
}
