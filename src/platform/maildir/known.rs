//! Which mails are known: a file of keys in the connector's state directory, valid as far as the cursor says.
//!
//! Names and times of files cannot say what is new: mail is moved in from elsewhere, synced with old times, renamed as
//! it is read. So all keys are kept. Each line carries the number of the page it came with, and a line counts only up to
//! the page number in the cursor, which is committed together with the items: a page that was not committed is
//! read again, and a store restored from a backup finds its own older state. If the file is lost, everything is read
//! again and known in the ledger.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// One key is a file name; an escaped one is three times as long.
const LINE_BYTES_MAX: usize = 1024;

/// Fewer keys of mails that are gone are not worth writing the file anew.
const GONE_MIN: usize = 1000;

/// The known keys, as a cursor sees them.
#[derive(Debug)]
pub struct Known {
    file: PathBuf,
    /// The history this belongs to; a cursor of another one has nothing to do with it.
    history: String,
    /// The page up to which keys count.
    page: u64,
    keys: HashSet<String>,
    /// Lines in the file of keys that are gone or were never committed.
    dead: usize,
}

impl Known {
    /// The keys that count for a cursor; `None` if the file is not there or belongs to another history.
    ///
    /// # Errors
    /// Of the file system.
    pub fn load(file: &Path, history: &str, page: u64) -> io::Result<Option<Self>> {
        let reader = match File::open(file) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut known =
            Self { file: file.to_owned(), history: history.to_owned(), page, keys: HashSet::new(), dead: 0 };
        let mut lines = reader.split(b'\n');
        if lines.next().transpose()?.as_deref() != Some(history.as_bytes()) {
            return Ok(None);
        }
        for line in lines {
            let line = line?;
            match parse(&line) {
                Some((at, key)) if at <= page => {
                    known.keys.insert(key.to_owned());
                }
                // Of a page that was not committed, or torn by a crash: written again with its page.
                _ => known.dead += 1,
            }
        }
        Ok(Some(known))
    }

    /// A new history with these keys, on disk when this returns.
    ///
    /// # Errors
    /// Of the file system.
    pub fn begin(file: &Path, history: String, keys: HashSet<String>) -> io::Result<Self> {
        let mut known = Self { file: file.to_owned(), history, page: 0, keys, dead: 0 };
        known.rewrite()?;
        Ok(known)
    }

    /// Is this what that cursor sees?
    pub fn is_of(&self, history: &str, page: u64) -> bool {
        self.history == history && self.page == page
    }

    /// The history this belongs to.
    pub fn history(&self) -> &str {
        &self.history
    }

    /// Is the mail known?
    pub fn contains(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Adds the keys of the next page, on disk when this returns. Forgets keys for which `is_there` is false, once
    /// they are many.
    ///
    /// # Errors
    /// Of the file system.
    pub fn add_page(&mut self, keys: Vec<String>, is_there: impl Fn(&str) -> bool) -> io::Result<()> {
        // Lines of a page that was never committed must not come to count with this one.
        let gone = self.keys.iter().filter(|key| !is_there(key)).count();
        if self.dead > 0 || gone > GONE_MIN.max(self.keys.len() / 2) {
            self.keys.retain(|key| is_there(key));
            self.rewrite()?;
        }
        self.page += 1;
        let mut out = BufWriter::new(OpenOptions::new().append(true).open(&self.file)?);
        for key in &keys {
            writeln!(out, "{} {key}", self.page)?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        self.keys.extend(keys);
        Ok(())
    }

    /// Writes the whole file anew, beside the old one and then over it.
    fn rewrite(&mut self) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut out = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        writeln!(out, "{}", self.history)?;
        for key in &self.keys {
            writeln!(out, "{} {key}", self.page)?;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.file).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()?;
        self.dead = 0;
        Ok(())
    }
}

fn parse(line: &[u8]) -> Option<(u64, &str)> {
    let line = std::str::from_utf8(line.get(..LINE_BYTES_MAX).unwrap_or(line)).ok()?;
    let (page, key) = line.split_once(' ')?;
    Some((page.parse().ok()?, key))
}
