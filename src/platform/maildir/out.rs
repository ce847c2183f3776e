//! Puts a mail into a Maildir, once, and finds out later whether that was done.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::listing;

/// A mail to be put into a Maildir.
pub struct Parcel<'a> {
    /// The Maildir.
    pub maildir: &'a Path,
    /// The same for every try, so that a repeat meets the first one.
    pub name: &'a str,
    /// Where the note of a try is kept.
    pub notes: &'a Path,
}

/// What is known about a parcel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It lies there.
    There(PathBuf),
    /// It was put there, and somebody took it away since.
    Taken,
    /// It never got there.
    Absent,
}

impl Parcel<'_> {
    /// Writes into `tmp`, then moves into `new`; both are on disk when this returns. Answers where it is.
    ///
    /// # Errors
    /// Of the file system: the mail is not in `new`.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Found> {
        match self.find()? {
            Found::Absent => {}
            found => return Ok(found),
        }
        for folder in ["tmp", "new", "cur"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(self.maildir.join(folder))?;
        }
        let (tmp, new) = (self.tmp(), self.maildir.join("new").join(self.name));
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&tmp)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // Who reads the Maildir may take the mail away at once. From here on, "no longer in tmp" means it was put there.
        self.note()?;
        fs::rename(&tmp, &new)?;
        File::open(self.maildir.join("new"))?.sync_all()?;
        Ok(Found::There(new))
    }

    /// Is it there? Exact after a crash at any point of [`put`](Self::put).
    ///
    /// # Errors
    /// Of the file system: it cannot be told now.
    pub fn find(&self) -> io::Result<Found> {
        for folder in ["new", "cur"] {
            let folder = self.maildir.join(folder);
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let name = entry?.file_name();
                if listing::key_of(&name) == self.name {
                    return Ok(Found::There(folder.join(name)));
                }
            }
        }
        let noted = self.note_file().try_exists()?;
        Ok(if noted && !self.tmp().try_exists()? { Found::Taken } else { Found::Absent })
    }

    fn tmp(&self) -> PathBuf {
        self.maildir.join("tmp").join(self.name)
    }

    fn note_file(&self) -> PathBuf {
        self.notes.join(self.name)
    }

    /// On disk when this returns.
    fn note(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.notes)?;
        File::create(self.note_file())?.sync_all()?;
        File::open(self.notes)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _dir: tempfile::TempDir,
        maildir: PathBuf,
        notes: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            Self { maildir: dir.path().join("out"), notes: dir.path().join("notes"), _dir: dir }
        }

        fn parcel(&self) -> Parcel<'_> {
            Parcel { maildir: &self.maildir, name: "1.wa-7-0123456789abcdef.workagent", notes: &self.notes }
        }

        fn new_file(&self) -> PathBuf {
            self.maildir.join("new").join(self.parcel().name)
        }
    }

    #[test]
    fn a_repeat_finds_the_first() {
        let place = Place::new();
        assert_eq!(place.parcel().find().unwrap(), Found::Absent);
        assert_eq!(place.parcel().put(b"mail").unwrap(), Found::There(place.new_file()));
        assert_eq!(place.parcel().put(b"other").unwrap(), Found::There(place.new_file()));
        assert_eq!(fs::read(place.new_file()).unwrap(), b"mail");
        assert_eq!(fs::read_dir(place.maildir.join("tmp")).unwrap().count(), 0);
    }

    #[test]
    fn one_that_was_read_is_found() {
        let place = Place::new();
        place.parcel().put(b"mail").unwrap();
        let read = place.maildir.join("cur").join(format!("{}:2,S", place.parcel().name));
        fs::rename(place.new_file(), &read).unwrap();
        assert_eq!(place.parcel().put(b"mail").unwrap(), Found::There(read));
    }

    #[test]
    fn one_that_was_taken_is_not_put_there_again() {
        let place = Place::new();
        place.parcel().put(b"mail").unwrap();
        fs::remove_file(place.new_file()).unwrap();
        assert_eq!(place.parcel().put(b"mail").unwrap(), Found::Taken);
    }

    #[test]
    fn a_crash_before_the_move_leaves_it_absent() {
        let place = Place::new();
        fs::create_dir_all(place.maildir.join("tmp")).unwrap();
        fs::write(place.parcel().tmp(), "ma").unwrap();
        assert_eq!(place.parcel().find().unwrap(), Found::Absent);
        place.parcel().note().unwrap();
        assert_eq!(place.parcel().find().unwrap(), Found::Absent);
        place.parcel().put(b"mail").unwrap();
        assert_eq!(fs::read(place.new_file()).unwrap(), b"mail");
    }
}
