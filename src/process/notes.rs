//! Notes on disk about running children, so that the next daemon ends what a killed one left behind.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tree::{Process, Tree};

/// Notes looked at in one start; more than that were never ours.
const NOTES_LEN_MAX: usize = 10_000;

/// What is noted about one child. Written before the start, and again when the number is known: a daemon killed
/// between the two leaves a mark to look for.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    /// Start times count from this boot.
    boot: String,
    mark: String,
    owner: Option<Noted>,
    leader: Option<Noted>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Noted {
    pid: i32,
    started: u64,
}

impl From<Process> for Noted {
    fn from(process: Process) -> Self {
        Self { pid: process.pid, started: process.started }
    }
}

impl Noted {
    fn process(self) -> Process {
        Process { pid: self.pid, started: self.started }
    }
}

/// The note of one running child; removed when the child's tree is gone.
#[derive(Debug)]
pub(super) struct Note {
    file: PathBuf,
    content: Content,
}

impl Note {
    pub(super) fn open(dir: &Path, mark: &str) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let owner = i32::try_from(std::process::id()).ok().and_then(Process::of);
        let content =
            Content { boot: boot_id(), mark: mark.to_owned(), owner: owner.map(Noted::from), leader: None };
        let note = Self { file: dir.join(format!("{mark}.json")), content };
        note.write()?;
        Ok(note)
    }

    /// Notes the leader. A failure leaves the mark, which is enough.
    pub(super) fn leader(&mut self, pid: i32) {
        self.content.leader = Process::of(pid).map(Noted::from);
        if let Err(error) = self.write() {
            tracing::debug!(%error, file = %self.file.display(), "a child's number was not noted");
        }
    }

    fn write(&self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.content)?;
        let draft = self.file.with_extension("new");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        io::Write::write_all(&mut file, &text)?;
        fs::rename(&draft, &self.file)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Ends what the notes in `dir` tell of, if the daemon that wrote them is gone; removes those notes.
pub(super) async fn reap(dir: &Path) -> u32 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let boot = boot_id();
    let mut ended = 0;
    for entry in entries.filter_map(Result::ok).take(NOTES_LEN_MAX) {
        let file = entry.path();
        let content = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Content>(&text).ok());
        // Half a note (`.new`) has a whole one beside it or no child.
        let Some(content) = content else {
            let _ = fs::remove_file(&file);
            continue;
        };
        if content.boot == boot && content.owner.is_some_and(|owner| owner.process().is_there()) {
            continue;
        }
        // After a reboot nothing of it is alive, and its numbers mean others.
        if content.boot == boot {
            let mut tree = Tree::marked(&content.mark);
            if let Some(leader) = content.leader.filter(|leader| leader.process().is_there()) {
                tree = tree.led_by(leader.pid);
            }
            let gone = tree.kill().await;
            ended += u32::try_from(gone.len()).unwrap_or(u32::MAX);
        }
        let _ = fs::remove_file(&file);
    }
    ended
}

/// Names this boot; empty where the system does not say (then notes hold no start times either).
fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
