//! Other systems: what the `notify` library makes of theirs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use super::WatchesSet;
use super::places::Interest;

/// The library's eyes; they see on a thread of their own.
#[derive(Debug)]
pub(super) struct Eyes {
    watcher: RecommendedWatcher,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    dirs: Mutex<BTreeMap<PathBuf, Interest>>,
    trouble: Mutex<Option<io::Error>>,
    happened: Notify,
}

impl Eyes {
    /// Sees nothing yet.
    pub fn open() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let seen = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| seen.take(event)).map_err(io_error)?;
        Ok(Self { watcher, shared })
    }

    /// Watches these and no others.
    pub fn watch(&mut self, dirs: &BTreeMap<PathBuf, Interest>, watches_max: usize) -> WatchesSet {
        let mut set = WatchesSet::default();
        let before = std::mem::take(&mut *lock(&self.shared.dirs));
        for dir in before.keys().filter(|dir| !dirs.contains_key(*dir)) {
            // Fails for a directory that is gone.
            let _ = self.watcher.unwatch(dir);
        }
        let mut watched = BTreeMap::new();
        for (dir, interest) in dirs {
            if watched.len() >= watches_max {
                set.refused.push((dir.clone(), Some(io::ErrorKind::StorageFull.into())));
                continue;
            }
            // Again, if it is watched already: another directory may have taken its place.
            match self.watcher.watch(dir, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    set.news |= !before.contains_key(dir);
                    watched.insert(dir.clone(), interest.clone());
                }
                Err(_) if !dir.is_dir() => set.news = true,
                Err(error) => set.refused.push((dir.clone(), Some(io_error(error)))),
            }
        }
        *lock(&self.shared.dirs) = watched;
        set
    }

    /// Resolves when something happened that matters.
    pub async fn event(&mut self) -> io::Result<()> {
        self.shared.happened.notified().await;
        lock(&self.shared.trouble).take().map_or(Ok(()), Err)
    }
}

impl Shared {
    fn take(&self, event: notify::Result<Event>) {
        match event {
            Ok(event) if !self.matters(&event) => return,
            Ok(_) => {}
            Err(error) => *lock(&self.trouble) = Some(io_error(error)),
        }
        self.happened.notify_one();
    }

    fn matters(&self, event: &Event) -> bool {
        // Reading, our own too, changes nothing.
        let read =
            matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        if read {
            return false;
        }
        let dirs = lock(&self.dirs);
        let wanted = |path: &PathBuf| {
            let inside = path.parent().and_then(|dir: &Path| dirs.get(dir));
            dirs.contains_key(path) || inside.is_some_and(|interest| interest.wants(path.file_name()))
        };
        event.need_rescan() || event.paths.is_empty() || event.paths.iter().any(wanted)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        _ => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sees(eyes: &mut Eyes, happens: impl FnOnce()) {
        happens();
        let event = tokio::time::timeout(std::time::Duration::from_secs(60), eyes.event());
        event.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn the_library_sees_two_saves_by_rename() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let dirs = BTreeMap::from([(root.clone(), Interest { units: true, ..Interest::default() })]);
        let mut eyes = Eyes::open().unwrap();
        assert!(eyes.watch(&dirs, 1).news);
        for text in ["a", "b"] {
            sees(&mut eyes, || {
                std::fs::write(root.join("x.tmp"), text).unwrap();
                std::fs::rename(root.join("x.tmp"), root.join("x.env.toml")).unwrap();
            })
            .await;
        }
        let more = dirs.into_iter().chain([(root.join("none"), Interest::default())]).collect();
        let set = eyes.watch(&more, 1);
        assert_eq!(set.refused.len(), 1);
    }
}
