//! Notes on disk about running children, so that the next daemon ends what a killed one left behind.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::tree::{Process, Tree};

/// Notes looked at in one start; more than that were never ours.
const NOTES_LEN_MAX: usize = 10_000;

/// The first line of a note, written before the start: a daemon killed before it knew the number leaves a mark to
/// look for. The second line is the leader, [`Noted`].
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    /// Start times count from this boot.
    boot: String,
    mark: String,
    owner: Option<Noted>,
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
    path: PathBuf,
    file: fs::File,
}

impl Note {
    pub(super) fn open(dir: &Path, mark: &str) -> io::Result<Self> {
        let path = dir.join(format!("{mark}.note"));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
                options.open(&path)?
            }
            opened => opened?,
        };
        let mut note = Self { path, file };
        note.line(&Content { boot: boot_id().to_owned(), mark: mark.to_owned(), owner: owner() })?;
        Ok(note)
    }

    /// Notes the leader. A failure leaves the mark, which is nearly always enough.
    pub(super) fn leader(&mut self, tree: &Tree) {
        let Some(leader) = tree.leader().map(Noted::from) else { return };
        if let Err(error) = self.line(&leader) {
            tracing::debug!(%error, file = %self.path.display(), "a child's number was not noted");
        }
    }

    /// One write each, which a kill cannot cut in two.
    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        self.file.write_all(&text)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Ends what the notes in `dir` tell of, if the daemon that wrote them is gone; removes those notes.
pub(super) async fn reap(dir: &Path) -> u32 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let boot = boot_id();
    let mut ended = 0;
    for entry in entries.filter_map(Result::ok).take(NOTES_LEN_MAX) {
        let file = entry.path();
        if let Some((content, leader)) = read(&file) {
            if content.boot == boot && content.owner.is_some_and(|owner| owner.process().is_there()) {
                continue;
            }
            // After a reboot nothing of it is alive, and its numbers mean others.
            if content.boot == boot {
                let mut tree = Tree::marked(&content.mark);
                if let Some(leader) = leader.filter(|leader| leader.process().is_there()) {
                    tree = tree.led_by(leader.pid);
                }
                let gone = tree.kill().await;
                ended += u32::try_from(gone.len()).unwrap_or(u32::MAX);
            }
        }
        let _ = fs::remove_file(&file);
    }
    ended
}

fn read(file: &Path) -> Option<(Content, Option<Noted>)> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines();
    let content = serde_json::from_str(lines.next()?).ok()?;
    Some((content, lines.next().and_then(|line| serde_json::from_str(line).ok())))
}

/// This process.
fn owner() -> Option<Noted> {
    static OWNER: OnceLock<Option<Noted>> = OnceLock::new();
    *OWNER.get_or_init(|| i32::try_from(std::process::id()).ok().and_then(Process::of).map(Noted::from))
}

/// Names this boot; empty where the system does not say (then notes hold no start times either).
fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
    })
}
