//! Linux: one inotify descriptor, read by the runtime itself. Only changes are asked for: a watch that also tells of
//! files being opened would wake the daemon at each start of a program, by `/etc`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use super::WatchesSet;
use super::places::Interest;

/// File systems whose changes are made on another machine, which inotify does not see: NFS, SMB, CIFS, SMB2, 9p.
const REMOTE: [i64; 5] = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997];

/// The kernel's eyes.
#[derive(Debug)]
pub(super) struct Eyes {
    descriptor: AsyncFd<OwnedFd>,
    /// By watch: the kernel gives one for each directory, under whatever names it is asked for.
    watches: HashMap<i32, Interest>,
}

impl Eyes {
    /// Sees nothing yet.
    pub fn open() -> io::Result<Self> {
        let descriptor = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe for types that swap their descriptor; this one cannot"
        )]
        let descriptor = AsyncFd::new(descriptor)?;
        Ok(Self { descriptor, watches: HashMap::new() })
    }

    /// Watches these and no others.
    pub fn watch(&mut self, dirs: &BTreeMap<PathBuf, Interest>, watches_max: usize) -> WatchesSet {
        let what = WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        let mut set = WatchesSet::default();
        let mut watches: HashMap<i32, Interest> = HashMap::new();
        for (dir, interest) in dirs {
            if is_remote(dir) {
                set.refused.push((dir.clone(), None));
                continue;
            }
            if watches.len() >= watches_max {
                set.refused.push((dir.clone(), Some(Errno::NOSPC.into())));
                continue;
            }
            // For a directory that is watched already the kernel gives the same watch again.
            match add_watch(self.descriptor.get_ref(), dir, what) {
                Ok(watch) => {
                    set.news |= !self.watches.contains_key(&watch);
                    watches.entry(watch).or_default().join(interest);
                }
                // Gone since it was found: the way to it leads elsewhere now.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => set.news = true,
                // Names in it can still be looked at one by one.
                Err(Errno::ACCESS) => set.refused.push((dir.clone(), None)),
                Err(error) => set.refused.push((dir.clone(), Some(error.into()))),
            }
        }
        for watch in self.watches.keys().filter(|watch| !watches.contains_key(watch)) {
            // Fails for a directory that is gone, and its watch with it.
            let _ = remove_watch(self.descriptor.get_ref(), *watch);
        }
        self.watches = watches;
        set
    }

    /// Resolves when something happened that matters.
    pub async fn event(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.descriptor.readable().await?;
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(self.descriptor.get_ref(), &mut buffer);
            let mut matters = false;
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                        let lost = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                        matters |= lost
                            || self.watches.get(&event.wd()).is_some_and(|interest| interest.wants(name));
                    }
                    Err(Errno::WOULDBLOCK) => break,
                    Err(error) => return Err(error.into()),
                }
            }
            ready.clear_ready();
            if matters {
                return Ok(());
            }
        }
    }
}

fn is_remote(dir: &Path) -> bool {
    #[expect(clippy::useless_conversion, reason = "its width differs between machines")]
    rustix::fs::statfs(dir).is_ok_and(|found| REMOTE.contains(&i64::from(found.f_type)))
}
