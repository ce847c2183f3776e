//! The private directory of one run through which `workagent mcp` is given the case and hands the draft back. The
//! child that serves it has no other way to anything: no secret, no socket, no store.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::mcp_supply::{McpServer, OWN_SERVER};
use super::structured;
use crate::model::limits;
use crate::secret::random::random_hex;

/// The case, as the prompt shows it.
const CASE_FILE: &str = "case.json";

/// The draft, once there is one.
const DRAFT_FILE: &str = "draft.json";

/// What the engine side writes.
#[derive(Debug, Serialize, Deserialize)]
struct CaseFile {
    /// Names this run; a draft that carries another is not of it.
    nonce: String,
    text: String,
}

/// What the server side writes.
#[derive(Debug, Serialize, Deserialize)]
struct DraftFile {
    nonce: String,
    answer: Value,
}

/// The engine's end.
#[derive(Debug)]
pub struct Handover {
    dir: PathBuf,
    nonce: String,
}

impl Handover {
    /// Makes the directory (mode 0700) and writes the case into it. `text` is what the tool `read_case` gives.
    ///
    /// # Errors
    /// It cannot be made there.
    pub fn make(dir: PathBuf, text: &str) -> io::Result<Self> {
        fs::DirBuilder::new().mode(0o700).create(&dir)?;
        let nonce = random_hex(16);
        let case = CaseFile { nonce: nonce.clone(), text: text.to_owned() };
        write(&dir, CASE_FILE, &serde_json::to_vec(&case)?)?;
        Ok(Self { dir, nonce })
    }

    /// How an engine starts our server for this run.
    #[must_use]
    pub fn server(&self, own_program: &Path) -> McpServer {
        McpServer::Program {
            name: OWN_SERVER.to_owned(),
            command: own_program.display().to_string(),
            args: vec!["mcp".to_owned(), "--run".to_owned(), self.dir.display().to_string()],
            env: Vec::new(),
        }
    }

    /// The answer that was handed in, to be read by [`structured::read`]; the last one, if there were several.
    #[must_use]
    pub fn take(&self) -> Option<Value> {
        let bytes = read(&self.dir, DRAFT_FILE, structured::BYTES_MAX * 2).ok()?;
        let draft: DraftFile = serde_json::from_slice(&bytes).ok()?;
        (draft.nonce == self.nonce).then_some(draft.answer)
    }
}

/// The server's end.
#[derive(Debug)]
pub struct RunDesk {
    dir: PathBuf,
    case: CaseFile,
}

impl RunDesk {
    /// Opens the directory that an engine was given.
    ///
    /// # Errors
    /// It is not the directory of a run.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let bytes = read(dir, CASE_FILE, limits::PROMPT_BYTES_MAX * 8)?;
        let case = serde_json::from_slice(&bytes)?;
        Ok(Self { dir: dir.to_owned(), case })
    }

    /// The case, for the engine to read.
    #[must_use]
    pub fn case(&self) -> &str {
        &self.case.text
    }

    /// Hands a draft in; an earlier one is replaced as a whole.
    ///
    /// # Errors
    /// It is too large, or the run is over and its directory gone.
    pub fn submit(&self, answer: Value) -> io::Result<()> {
        let bytes = serde_json::to_vec(&DraftFile { nonce: self.case.nonce.clone(), answer })?;
        if bytes.len() > structured::BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the draft is too long"));
        }
        write(&self.dir, DRAFT_FILE, &bytes)
    }
}

/// Whole or not at all, and readable by nobody else.
fn write(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let young = dir.join(format!(".{name}.{}", random_hex(8)));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&young)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&young, dir.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&young);
    }
    written
}

fn read(dir: &Path, name: &str, bytes_max: usize) -> io::Result<Vec<u8>> {
    // A link could lead anywhere; the directory is ours, so there is none that we made.
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags).unwrap_or_default())
        .open(dir.join(name))?;
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too long"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    fn made() -> (tempfile::TempDir, Handover, RunDesk) {
        let dir = tempfile::tempdir().unwrap();
        let handover = Handover::make(dir.path().join("mcp"), "the case").unwrap();
        let desk = RunDesk::open(&dir.path().join("mcp")).unwrap();
        (dir, handover, desk)
    }

    #[test]
    fn a_draft_goes_from_one_end_to_the_other() {
        let (dir, handover, desk) = made();
        assert_eq!((desk.case(), handover.take()), ("the case", None));
        desk.submit(json!({ "text": "one" })).unwrap();
        desk.submit(json!({ "text": "two" })).unwrap();
        assert_eq!(handover.take(), Some(json!({ "text": "two" })));
        for file in fs::read_dir(dir.path().join("mcp")).unwrap() {
            let file = file.unwrap();
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        }
        assert_eq!(fs::read_dir(dir.path().join("mcp")).unwrap().count(), 2, "nothing half written is left");
        let mode = fs::metadata(dir.path().join("mcp")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn the_draft_of_another_run_is_none() {
        let (_dir, handover, _desk) = made();
        let (other_dir, _other, desk) = made();
        desk.submit(json!({ "text": "one" })).unwrap();
        fs::copy(other_dir.path().join("mcp/draft.json"), handover.dir.join("draft.json")).unwrap();
        assert_eq!(handover.take(), None);
    }

    #[test]
    fn links_and_floods_are_no_drafts() {
        let (dir, handover, desk) = made();
        fs::write(dir.path().join("elsewhere"), "{}").unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), handover.dir.join("draft.json")).unwrap();
        assert_eq!(handover.take(), None);
        let long = "x".repeat(structured::BYTES_MAX);
        assert!(desk.submit(json!({ "text": long })).is_err());
        fs::remove_dir_all(&handover.dir).unwrap();
        assert!(desk.submit(json!({ "text": "late" })).is_err());
    }
}
