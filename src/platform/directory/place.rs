//! Looking into the folder, and tidying it: what is handed out, as what, and what becomes of it afterwards.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use globset::GlobSet;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::memory::{Memory, mark};
use super::read::{self, Looked};
use super::scan::{self, Found, Stamp};
use super::write;
use crate::model::item::{Backlog, Disposition, Item, Page};
use crate::model::limits;
use crate::model::text::{digest, hex};
use crate::model::time::Timestamp;

/// The folder, and what this process knows of it.
pub struct Place {
    pub path: PathBuf,
    pub out: PathBuf,
    pub done: Option<PathBuf>,
    pub settle: Duration,
    pub patterns: Option<GlobSet>,
    pub seen: Mutex<Seen>,
}

/// What this process knows of the files; all of it can be found out again.
#[derive(Default)]
pub struct Seen {
    /// Handed out, and if so as what: by key.
    items: HashMap<String, Handed>,
    /// Recorded files that need no look until they change.
    recorded: HashMap<OsString, Stamp>,
    /// The name under which a content was recorded, to say when it is dropped again.
    names: HashMap<String, OsString>,
}

#[derive(Default)]
struct Handed {
    files: Vec<Found>,
    baseline: bool,
}

impl Place {
    /// One page.
    pub fn poll(
        &self,
        memory: &Memory,
        backlog: Backlog,
        now: Timestamp,
        items_max: usize,
    ) -> std::io::Result<Page> {
        let (files, too_many) = scan::list(&self.path, self.patterns.as_ref())?;
        let folder = scan::open_folder(&self.path)?;
        let mut after = Memory { listing: scan::mark(&files), after: None, ..memory.clone() };
        if memory.after.is_none() {
            // A new look; in the middle of one, those of its first part stay.
            after.restless.clear();
        }
        let (mut items, mut notes, mut more) = (Vec::new(), Vec::new(), false);
        let place = self.reply_place();
        for file in files {
            let name = hex(file.name.as_bytes());
            if memory.after.as_ref().is_some_and(|last| name <= *last) || self.is_recorded(&file) {
                continue;
            }
            let (sign, since) = first_seen(&file, memory, now);
            // By its own times, or, where these lie ahead of the clock, by what was seen of it.
            if !file.stamp.rested(now, self.settle) && since.plus(self.settle) > now {
                after.restless.push((sign, since));
                continue;
            }
            if items.len() == items_max.max(1) {
                more = true;
                break;
            }
            match read::item(&folder, &self.path, &file, &place) {
                Ok(Looked::Item(mut item)) => {
                    notes.extend(self.decide(&mut item, &file, &mut after, backlog));
                    after.after = Some(name);
                    if !items.iter().any(|other: &Item| other.key == item.key) {
                        items.push(*item);
                    }
                }
                Ok(Looked::Restless) => after.restless.push((sign, now)),
                Err(error) => notes.push(format!("cannot read {}: {error}", file.name.to_string_lossy())),
            }
        }
        if !more {
            after.after = None;
            // Files that were too young to be read at the first look are old all the same: the first look goes on.
            if after.restless.is_empty() {
                after.began = None;
            }
        }
        after.restless.truncate(limits::DIRECTORY_RESTLESS_MAX);
        if memory.began.is_some() && memory.after.is_none() && !items.is_empty() {
            let work = items.iter().filter(|item| item.disposition == Disposition::Work).count();
            let at_least = if more { "at least " } else { "" };
            notes.push(format!(
                "first look: {at_least}{} files found, {work} of them to be worked on",
                items.len()
            ));
        }
        if too_many {
            let most = limits::DIRECTORY_FILES_MAX;
            notes.push(format!("the folder holds more than {most} files; the rest is not looked at"));
        }
        let cursor = (after != *memory).then(|| after.cursor());
        Ok(Page { items, cursor, more, notes, ..Page::default() })
    }

    /// Baseline or work; and remembers what is handed out. Gives a remark on a content that was there under another
    /// name.
    fn decide(&self, item: &mut Item, file: &Found, memory: &mut Memory, backlog: Backlog) -> Option<String> {
        let before_us = match (memory.began, backlog) {
            (None, _) | (_, Backlog::All) => false,
            (Some(began), Backlog::New) => file.stamp.arrived() <= began,
            (Some(began), Backlog::Since(span)) => file.stamp.modified() < began.minus(span),
        };
        if before_us {
            memory.add_baseline(&item.key);
        }
        let baseline = before_us || memory.is_baseline(&item.key);
        if baseline {
            item.disposition = Disposition::Baseline;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let handed = seen.items.entry(item.key.clone()).or_default();
        handed.baseline |= baseline;
        handed.files.retain(|known| known.name != file.name);
        handed.files.push(file.clone());
        let first = seen.names.entry(item.key.clone()).or_insert_with(|| file.name.clone());
        (*first != file.name).then(|| {
            let (name, first) = (file.name.to_string_lossy(), first.to_string_lossy());
            format!("{name} has the same content as {first}: one case")
        })
    }

    fn is_recorded(&self, file: &Found) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.recorded.get(&file.name) == Some(&file.stamp)
    }

    fn reply_place(&self) -> String {
        if self.out == self.path {
            "file beside it".to_owned()
        } else {
            format!("file in {}", self.out.display())
        }
    }

    /// Recorded files need no further look; those that were work are moved away.
    pub fn committed(&self, keys: &[String]) -> std::io::Result<()> {
        let mut handed = Vec::new();
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            for key in keys {
                let Some(one) = seen.items.remove(key) else { continue };
                // A file that is to be moved is met again until it is.
                for file in one.files.iter().filter(|_| one.baseline || self.done.is_none()) {
                    seen.recorded.insert(file.name.clone(), file.stamp);
                }
                handed.push((key, one));
            }
            // Forgetting costs no more than reading files again.
            if seen.recorded.len().max(seen.names.len()) > 2 * limits::DIRECTORY_FILES_MAX {
                seen.recorded.clear();
                seen.names.clear();
            }
        }
        let Some(done) = &self.done else { return Ok(()) };
        let work: Vec<_> = handed.iter().filter(|(_, one)| !one.baseline).collect();
        if work.is_empty() {
            return Ok(());
        }
        std::fs::create_dir_all(done)?;
        let (from, to) = (scan::open_folder(&self.path)?, scan::open_folder(done)?);
        for (key, file) in work.iter().flat_map(|(key, one)| one.files.iter().map(move |file| (key, file))) {
            move_away(&from, &to, key, file)?;
        }
        Ok(())
    }
}

/// The digest goes before the name, so that what was dropped again finds its place too.
fn move_away(from: &OwnedFd, to: &OwnedFd, key: &str, file: &Found) -> std::io::Result<()> {
    // Changed since: it is another file now, and the next poll's business.
    let stat = rustix::fs::statat(from, &file.name, AtFlags::SYMLINK_NOFOLLOW);
    if !stat.is_ok_and(|stat| Stamp::of(&stat) == file.stamp) {
        return Ok(());
    }
    for again in 0..100 {
        let mut name = OsString::from(mark(key));
        name.push(if again == 0 { "-".to_owned() } else { format!("-{again}-") });
        name.push(read::short_name(&file.name, 200));
        match write::rename_over_nothing(from, &file.name, to, &name) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(std::io::Error::other("the same file was dropped a hundred times"))
}

/// The file as it is now, and since when it was seen like this.
fn first_seen(file: &Found, memory: &Memory, now: Timestamp) -> (String, Timestamp) {
    let digest = digest(&[file.name.as_bytes(), file.stamp.word().as_bytes()]);
    let sign = digest.get(..16).unwrap_or_default().to_owned();
    let since = memory.restless.iter().find(|(known, _)| *known == sign).map_or(now, |(_, since)| *since);
    (sign, since)
}
