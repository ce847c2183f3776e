//! One daemon per state and per database.
//!
//! The lock is on the directories themselves, not on a file in them: there is nothing to delete, a link leads to the
//! same directory, a stale note proves nothing, and the kernel lets go when the process ends, however it ends. Deleting
//! the directory itself leaves the anchor.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::anchor::Anchor;
use super::paths::{Paths, PathsError, make_private};
use crate::model::time::Timestamp;

/// The note's name in the state directory.
const NOTE: &str = "instance.json";

/// A directory may be moved away between opening and locking; then the next one of that name is taken.
const TRIES_MAX: u32 = 5;

/// A daemon that is killed while it starts a child leaves its lock to that child, which lets go as soon as it becomes
/// another program. On a busy machine that takes its time.
const BEQUEATHED_MAX: Duration = Duration::from_secs(2);

/// Between two looks at a lock that was left behind.
const BEQUEATHED_LOOK: Duration = Duration::from_millis(10);

/// Held for as long as this process is the daemon of its state and its database.
#[derive(Debug)]
pub struct InstanceLock {
    /// Goes first: whoever finds the directories free finds the path free too.
    _anchor: Anchor,
    /// Never closed before the end: closing lets go.
    _directories: Vec<File>,
    note: PathBuf,
}

/// Who runs here, for clients and for the next one that tries. Says nothing about whether it still runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceNote {
    /// The daemon's process.
    pub pid: u32,
    /// The program's version.
    pub version: String,
    /// When it started.
    pub started_at: Timestamp,
    /// Its control socket: whatever `XDG_RUNTIME_DIR` a client sees, this is where the daemon listens.
    pub socket: PathBuf,
}

/// Why this process is not the daemon.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another one runs. Exit code [`HELD`](super::exit::HELD).
    #[error("another workagent{} holds {}", pid.map(|pid| format!(" (process {pid})")).unwrap_or_default(), directory.display())]
    Held {
        /// The state directory, or the one of the database.
        directory: PathBuf,
        /// As the kernel tells, else as the other one noted.
        pid: Option<u32>,
    },
    /// The directory could not be made.
    #[error(transparent)]
    Paths(#[from] PathsError),
    /// The file system does not lock.
    #[error("lock {}", directory.display())]
    Io {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl InstanceLock {
    /// Makes the directories and locks them: the state's, and the database's where that lies elsewhere (two states must
    /// not share one database). Leaves a note with pid and socket.
    ///
    /// # Errors
    /// [`LockError::Held`] at once if the holder is alive.
    pub fn acquire(paths: &Paths, database: &Path, now: Timestamp) -> Result<Self, LockError> {
        paths.make()?;
        let mut directories = vec![lock(&paths.state, &paths.state)?];
        let home = database_home(database, &paths.state)?;
        if !same(&home, &directories) {
            directories.push(lock(&home, &home)?);
        }
        let anchor = anchor(&paths.state)?;
        let note = paths.state.join(NOTE);
        let text = InstanceNote {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now,
            socket: paths.socket.clone(),
        };
        write_note(&note, &text)
            .map_err(|source| LockError::Io { directory: paths.state.clone(), source })?;
        Ok(Self { _anchor: anchor, _directories: directories, note })
    }

    /// What the daemon of this state noted when it started; `None` when none ever did or it ended in order.
    #[must_use]
    pub fn note(state: &Path) -> Option<InstanceNote> {
        serde_json::from_slice(&fs::read(state.join(NOTE)).ok()?).ok()
    }

    /// Where to look for the daemon of these paths: where it noted that it listens, else where one would listen that
    /// was started with our environment.
    #[must_use]
    pub fn socket(paths: &Paths) -> PathBuf {
        Self::note(&paths.state).map_or_else(|| paths.socket.clone(), |note| note.socket)
    }
}

impl Drop for InstanceLock {
    fn drop(&mut self) {
        // Still locked here: the fields go after this.
        let _ = fs::remove_file(&self.note);
    }
}

fn lock(directory: &Path, note_home: &Path) -> Result<File, LockError> {
    let failed = |source| LockError::Io { directory: directory.to_path_buf(), source };
    for _ in 0..TRIES_MAX {
        let file = File::open(directory).map_err(failed)?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let pid = holder(&file).or_else(|| InstanceLock::note(note_home).map(|note| note.pid));
                    if waited >= BEQUEATHED_MAX || !pid.is_some_and(is_dead) {
                        return Err(LockError::Held { directory: directory.to_path_buf(), pid });
                    }
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            std::thread::sleep(BEQUEATHED_LOOK);
            waited += BEQUEATHED_LOOK;
        }
        if same(directory, std::slice::from_ref(&file)) {
            return Ok(file);
        }
    }
    Err(failed(io::Error::other("it is being replaced again and again")))
}

/// Holds the directory's path too. A daemon may run on a directory that lay here and was deleted.
fn anchor(state: &Path) -> Result<Anchor, LockError> {
    let mut waited = Duration::ZERO;
    loop {
        let pid = match Anchor::hold(state) {
            Ok(anchor) => return Ok(anchor),
            Err(pid) => pid,
        };
        // As with the directory: its child lets go as soon as it becomes another program.
        if waited >= BEQUEATHED_MAX || pid.is_some_and(|pid| !is_dead(pid)) {
            return Err(LockError::Held { directory: state.to_path_buf(), pid });
        }
        std::thread::sleep(BEQUEATHED_LOOK);
        waited += BEQUEATHED_LOOK;
    }
}

/// The directory the database really lies in: through a link to the file, too.
fn database_home(database: &Path, state: &Path) -> Result<PathBuf, LockError> {
    let real = fs::canonicalize(database).unwrap_or_else(|_| database.to_path_buf());
    let home = real.parent().filter(|parent| !parent.as_os_str().is_empty());
    let home = home.map_or_else(|| state.to_path_buf(), Path::to_path_buf);
    if !home.exists() {
        make_private(&home)?;
    }
    Ok(home)
}

fn same(path: &Path, files: &[File]) -> bool {
    let identity = |found: io::Result<fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    let named = identity(fs::metadata(path));
    named.is_some() && files.iter().any(|file| identity(file.metadata()) == named)
}

/// There is no such process, so it is not the one that holds the lock it took.
fn is_dead(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// Whom the kernel knows as holder. A note may name a process that ended long ago, or one that only has its number.
fn holder(file: &File) -> Option<u32> {
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let found = rustix::fs::fstat(file).ok()?;
    let (major, minor) = (rustix::fs::major(found.st_dev), rustix::fs::minor(found.st_dev));
    holder_in(&locks, &format!("{major:02x}:{minor:02x}:{}", found.st_ino))
}

/// `1: FLOCK  ADVISORY  WRITE 4711 fd:00:131 0 EOF`.
fn holder_in(locks: &str, place: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_flock = words.next() == Some("FLOCK");
        let pid = words.nth(2)?.parse().ok().filter(|&pid| pid > 0)?;
        (is_flock && words.next() == Some(place)).then_some(pid)
    })
}

fn write_note(path: &Path, note: &InstanceNote) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(note)?)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(root: &Path) -> Paths {
        Paths::below(root).unwrap()
    }

    fn acquire(paths: &Paths) -> Result<InstanceLock, LockError> {
        InstanceLock::acquire(paths, &paths.database(), Timestamp(7))
    }

    #[test]
    fn a_second_one_is_told_who_holds_it() {
        let root = tempfile::tempdir().unwrap();
        let first = acquire(&paths(root.path())).unwrap();
        let error = acquire(&paths(root.path())).unwrap_err();
        let state = root.path().join("state");
        let expected =
            format!("another workagent (process {}) holds {}", std::process::id(), state.display());
        assert_eq!(error.to_string(), expected);
        drop(first);
        acquire(&paths(root.path())).unwrap();
    }

    #[test]
    fn the_note_tells_pid_and_socket_and_goes_in_the_end() {
        let root = tempfile::tempdir().unwrap();
        let paths = paths(root.path());
        let lock = acquire(&paths).unwrap();
        let note = InstanceLock::note(&paths.state).unwrap();
        assert_eq!(
            (note.pid, note.socket, note.started_at),
            (std::process::id(), paths.socket.clone(), Timestamp(7))
        );
        drop(lock);
        assert_eq!(InstanceLock::note(&paths.state), None);
    }

    #[test]
    fn two_states_do_not_share_a_database() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (paths(&root.path().join("a")), paths(&root.path().join("b")));
        let shared = root.path().join("data/shared.db");
        let _first = InstanceLock::acquire(&a, &shared, Timestamp(0)).unwrap();
        fs::write(&shared, "").unwrap();
        let link = root.path().join("link.db");
        std::os::unix::fs::symlink(&shared, &link).unwrap();
        for database in [&shared, &link] {
            let error = InstanceLock::acquire(&b, database, Timestamp(0)).unwrap_err();
            assert!(matches!(error, LockError::Held { pid: Some(_), .. }), "{error}");
        }
        InstanceLock::acquire(&b, &b.database(), Timestamp(0)).unwrap();
    }

    #[test]
    fn reads_the_kernels_table() {
        let table = "1: POSIX  ADVISORY  WRITE 11 08:01:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 22 08:01:42 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 33 08:01:42 0 EOF\n3: FLOCK  ADVISORY  WRITE 44 00:1f:42 0 EOF\n";
        assert_eq!(holder_in(table, "08:01:42"), Some(22));
        assert_eq!(holder_in(table, "00:1f:42"), Some(44));
        assert_eq!(holder_in(table, "08:01:43"), None);
        assert_eq!(holder_in("junk\n\n1:", "x"), None);
    }
}
