//! Watches where unit files come from, and says when it is time to look again.
//!
//! Directories are watched, never files: a file that is replaced takes its watch with it. What an event says is not
//! believed beyond "look again"; what changed is found by reading. Watches are set before each look, so that nothing
//! can happen between the two unseen. And because no notification is certain, there is a look now and then anyway.

#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod inotify;
mod places;
mod stamp;
mod young;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

pub use young::too_young;

use crate::model::limits::{WATCH_CAP, WATCH_POLL, WATCH_QUIET, WATCH_RESCAN, WATCHES_MAX};
use crate::unit::search::SearchPath;
#[cfg(not(target_os = "linux"))]
use elsewhere::Eyes;
#[cfg(target_os = "linux")]
use inotify::Eyes;
use places::{Found, Interest, Places};
use stamp::Stamp;

/// While watches are set, links may be turned; after so many turns it is left to the next look.
const TURNS_MAX: u32 = 4;

/// How one directory of the search path is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatchMode {
    /// The system tells at once.
    Watched,
    /// Looked at every two seconds: the system cannot tell, or has no watches left.
    Polled,
    /// Not there; where it would appear is watched.
    Missing,
    /// Not allowed to look.
    Unreadable,
}

impl WatchMode {
    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Watched => "watched",
            Self::Polled => "polled",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

/// How each directory of the search path is watched at present, for whoever is asked. Clones see the same.
#[derive(Clone, Debug, Default)]
pub struct WatchModes(Arc<Mutex<Vec<(PathBuf, WatchMode)>>>);

impl WatchModes {
    /// The directories, low to high.
    #[must_use]
    pub fn list(&self) -> Vec<(PathBuf, WatchMode)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, modes: Vec<(PathBuf, WatchMode)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = modes;
    }
}

/// The bounds of a watcher.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Nothing happened for so long: the change is done.
    pub quiet: Duration,
    /// It goes on and on: look anyway.
    pub cap: Duration,
    /// Look anyway, whatever was told.
    pub rescan: Duration,
    /// Between two looks at what cannot be watched.
    pub poll: Duration,
    /// Watches asked of the system; what is beyond is polled.
    pub watches_max: usize,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            quiet: WATCH_QUIET,
            cap: WATCH_CAP,
            rescan: WATCH_RESCAN,
            poll: WATCH_POLL,
            watches_max: WATCHES_MAX,
        }
    }
}

/// Watches a search path.
#[derive(Debug)]
pub struct Watcher {
    search: SearchPath,
    options: WatchOptions,
    /// `None` where the system has none to give: everything is polled.
    eyes: Option<Eyes>,
    polled: BTreeMap<PathBuf, (Interest, Stamp)>,
    modes: WatchModes,
    /// First and last event since the last look.
    dirty: Option<(Instant, Instant)>,
    rescan_at: Instant,
    poll_at: Instant,
    trouble_told: bool,
}

impl Watcher {
    /// Sets the watches. Needs a tokio runtime. The first [`changed`](Self::changed) comes at once: what was read before
    /// this may have changed meanwhile.
    #[must_use]
    pub fn new(search: SearchPath, options: WatchOptions) -> Self {
        let now = Instant::now();
        let mut watcher = Self {
            search,
            options,
            eyes: None,
            polled: BTreeMap::new(),
            modes: WatchModes::default(),
            dirty: Some((now, now)),
            rescan_at: now + options.rescan,
            poll_at: now + options.poll,
            trouble_told: false,
        };
        watcher.open();
        watcher.watch();
        watcher
    }

    /// How each directory is watched.
    #[must_use]
    pub fn modes(&self) -> WatchModes {
        self.modes.clone()
    }

    /// Resolves when it is time to look at the unit files again; the watches stand then. May be dropped and called again
    /// at any time: what it has seen is not lost. Asleep it costs nothing between two rescans, unless something is polled.
    pub async fn changed(&mut self) {
        loop {
            let now = Instant::now();
            let Some((first, last)) = self.dirty else {
                if now >= self.rescan_at {
                    break;
                }
                self.wait(self.rescan_at).await;
                continue;
            };
            let until = (last + self.options.quiet).min(first + self.options.cap);
            if now >= until {
                break;
            }
            self.wait(until).await;
        }
        self.watch();
        self.dirty = None;
        self.rescan_at = Instant::now() + self.options.rescan;
    }

    /// Until something happens, at the longest until then.
    async fn wait(&mut self, until: Instant) {
        let Self { eyes, polled, poll_at, .. } = self;
        let event = async {
            match eyes {
                Some(eyes) => eyes.event().await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            event = event => Some(event),
            () = sleep_until(until) => None,
            () = sleep_until(*poll_at), if !polled.is_empty() => {
                *poll_at = Instant::now() + self.options.poll;
                let changed = polled.iter().any(|(dir, (interest, stamp))| Stamp::of(dir, interest) != *stamp);
                changed.then_some(Ok(()))
            }
        };
        match event {
            Some(Ok(())) => self.seen(),
            Some(Err(error)) => {
                self.trouble("the watch of the unit directories broke and is set anew", &error);
                self.open();
                self.seen();
            }
            None => {}
        }
    }

    fn seen(&mut self) {
        let now = Instant::now();
        let first = self.dirty.map_or(now, |(first, _)| first);
        self.dirty = Some((first, now));
    }

    fn open(&mut self) {
        self.eyes = match Eyes::open() {
            Ok(eyes) => Some(eyes),
            Err(error) => {
                self.trouble("unit directories cannot be watched and are polled", &error);
                None
            }
        };
    }

    /// Sets the watches on what is there now.
    fn watch(&mut self) {
        let mut places = Places::of(&self.search);
        let mut refused = Vec::new();
        if let Some(eyes) = &mut self.eyes {
            for _ in 0..TURNS_MAX {
                let set = eyes.watch(&places.dirs, self.options.watches_max);
                refused = set.refused;
                if !set.news {
                    break;
                }
                // A link that was turned just before its directory was watched has led to the wrong place.
                let again = Places::of(&self.search);
                if again == places {
                    break;
                }
                places = again;
            }
        } else {
            refused.extend(places.dirs.keys().cloned().map(|dir| (dir, None)));
        }
        if let Some((dir, Some(error))) = refused.iter().find(|(_, error)| error.is_some()) {
            let told =
                format!("{} directories of unit files are polled, {} first", refused.len(), dir.display());
            let error = io::Error::new(error.kind(), error.to_string());
            self.trouble(&told, &error);
        }
        self.polled = refused
            .into_iter()
            .filter_map(|(dir, _)| {
                let interest = places.dirs.get(&dir)?.clone();
                let stamp = Stamp::of(&dir, &interest);
                Some((dir, (interest, stamp)))
            })
            .collect();
        let mode = |found: &Found| match found {
            Found::At(real) if self.polled.contains_key(real) => WatchMode::Polled,
            Found::At(_) => WatchMode::Watched,
            Found::Missing => WatchMode::Missing,
            Found::Unreadable => WatchMode::Unreadable,
        };
        let modes = places.searched.iter().map(|(dir, found)| (dir.clone(), mode(found))).collect();
        self.modes.set(modes);
    }

    /// Told once: it would come again with each look.
    fn trouble(&mut self, what: &str, error: &io::Error) {
        if !std::mem::replace(&mut self.trouble_told, true) {
            tracing::warn!("{what}: {error}{}", hint(error));
        }
    }
}

/// What a person can do about it.
fn hint(error: &io::Error) -> &'static str {
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::NOSPC) => "; `sysctl fs.inotify.max_user_watches` sets how many there are",
        Some(rustix::io::Errno::MFILE) => "; `sysctl fs.inotify.max_user_instances` sets how many there are",
        _ => "",
    }
}

/// What came of setting watches.
#[derive(Debug, Default)]
struct WatchesSet {
    /// Something is watched that was not before.
    news: bool,
    /// Directories that cannot be watched; `None` as the reason is no trouble worth telling.
    refused: Vec<(PathBuf, Option<io::Error>)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_any_watch_everything_is_polled() {
        let dir = tempfile::tempdir().unwrap();
        let search = SearchPath { builtin: false, dirs: vec![dir.path().join("units")], files: Vec::new() };
        let options = WatchOptions { poll: Duration::from_millis(10), ..WatchOptions::default() };
        let mut watcher = Watcher::new(search, options);
        watcher.eyes = None;
        let modes = watcher.modes();
        let shown = || modes.list().iter().map(|(_, mode)| mode.word()).collect::<Vec<_>>();
        watcher.changed().await;
        assert_eq!(shown(), ["missing"]);
        std::fs::create_dir(dir.path().join("units")).unwrap();
        watcher.changed().await;
        assert_eq!(shown(), ["polled"]);
        std::fs::write(dir.path().join("units/a.env.toml"), "").unwrap();
        watcher.changed().await;
    }
}
