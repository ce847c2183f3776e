//! One file: a tar with the list of its contents in front. Nothing in it is believed before its checksum is right, and
//! no name of it becomes a path that was not made of plain parts.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tar::{Archive, Builder, EntryType, Header};

use super::BackupError;
use crate::model::limits;
use crate::model::text::{hex, one_line};
use crate::model::time::Timestamp;

/// The form that this program writes. It reads lower ones.
pub const FORMAT: u32 = 1;

/// The list, first in the file.
const MANIFEST: &str = "manifest.json";

/// The database.
pub(super) const DATABASE: &str = "database.db";

/// The secrets, closed with a passphrase.
pub(super) const SECRETS: &str = "secrets.age";

/// Unit files, below it as they lie in their directory.
pub(super) const UNITS: &str = "units";

/// Kept plans.
pub(super) const PLANS: &str = "plans";

/// What a backup is and holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] when it was written.
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The newest migration of the database.
    pub schema: i64,
    /// When the database was copied.
    pub made_at: Timestamp,
    /// The machine.
    pub host: String,
    /// The home directory there.
    #[serde(default)]
    pub home: Option<PathBuf>,
    /// Whether values of secrets are in it.
    pub secrets: SecretsKept,
    /// Everything else in the file, in its order.
    pub files: Vec<Entry>,
}

/// Whether values of secrets are in a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretsKept {
    /// Only their names, in unit files.
    None,
    /// Closed with a passphrase.
    Encrypted,
}

/// One file in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `units/inbox.connector.toml`.
    pub name: String,
    /// Bytes.
    pub size_bytes: u64,
    /// Of its bytes, as `sha256sum` prints it.
    pub sha256: String,
    /// It is a link to null: a mask.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub null: bool,
}

/// Something to be written: from memory, or a file that is too large for it.
pub(super) enum Content {
    Bytes(Vec<u8>),
    File(PathBuf),
    Null,
}

/// Of a file, in pieces.
pub(super) fn entry_of(name: String, content: &Content) -> Result<Entry, BackupError> {
    let (size_bytes, sha256) = match content {
        Content::Null => (0, hex(&Sha256::digest(b""))),
        Content::Bytes(bytes) => (bytes.len() as u64, hex(&Sha256::digest(bytes))),
        Content::File(path) => {
            let mut file = File::open(path).map_err(BackupError::io("read", path))?;
            copy_hashing(&mut file, &mut io::sink()).map_err(BackupError::io("read", path))?
        }
    };
    Ok(Entry { name, size_bytes, sha256, null: matches!(content, Content::Null) })
}

/// Writes the whole archive.
pub(super) fn write(out: File, manifest: &Manifest, contents: &[Content]) -> io::Result<File> {
    let mut tar = Builder::new(out);
    let text = serde_json::to_vec_pretty(manifest)?;
    let seconds = u64::try_from(manifest.made_at.0 / 1000).unwrap_or(0);
    let mut append = |name: &str, size: u64, data: &mut dyn Read| {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(seconds);
        header.set_size(size);
        tar.append_data(&mut header, name, data)
    };
    append(MANIFEST, text.len() as u64, &mut text.as_slice())?;
    for (entry, content) in manifest.files.iter().zip(contents) {
        match content {
            Content::Null => {}
            Content::Bytes(bytes) => append(&entry.name, entry.size_bytes, &mut bytes.as_slice())?,
            Content::File(path) => append(&entry.name, entry.size_bytes, &mut File::open(path)?)?,
        }
    }
    tar.into_inner()
}

/// A backup's files, checked: the database in a place of its own, the small ones in memory.
pub(super) struct Unpacked {
    pub manifest: Manifest,
    /// Without the database; `None` for a link to null.
    pub files: Vec<(String, Option<Vec<u8>>)>,
}

/// Reads the list alone: what it says is not checked against the rest.
pub(super) fn read_manifest(path: &Path) -> Result<Manifest, BackupError> {
    let file = File::open(path).map_err(BackupError::io("open", path))?;
    let mut archive = Archive::new(BufReader::new(file));
    let first = archive.entries().ok().and_then(|mut entries| entries.next());
    let Some(Ok(first)) = first else { return Err(BackupError::unfit(path, "it is no tar file")) };
    manifest(path, first)
}

/// Reads everything, checks every byte, and puts the database to `database`.
pub(super) fn unpack(path: &Path, database: &Path) -> Result<Unpacked, BackupError> {
    let unfit = |why: String| BackupError::unfit(path, why);
    let file = File::open(path).map_err(BackupError::io("open", path))?;
    let mut archive = Archive::new(BufReader::new(file));
    let mut entries = archive.entries().map_err(|_| unfit("it is no tar file".to_owned()))?;
    let Some(Ok(first)) = entries.next() else { return Err(unfit("it is no tar file".to_owned())) };
    let manifest = manifest(path, first)?;
    let mut files = Vec::new();
    let mut has_database = false;
    for listed in &manifest.files {
        let name = listed.name.as_str();
        if listed.null {
            files.push((name.to_owned(), None));
            continue;
        }
        let mut entry = match entries.next() {
            Some(Ok(entry)) => entry,
            Some(Err(error)) => return Err(unfit(format!("it is damaged: {error}"))),
            None => return Err(unfit(format!("it ends too early: {} is not in it", one_line(name, 80)))),
        };
        let found = entry.path().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        if found != *name
            || entry.header().entry_type() != EntryType::Regular
            || entry.size() != listed.size_bytes
        {
            return Err(unfit(format!(
                "{} stands where {} is listed",
                one_line(&found, 80),
                one_line(name, 80)
            )));
        }
        let damaged = |error: io::Error| unfit(format!("{} is damaged: {error}", one_line(name, 80)));
        let (size, sha256) = if name == DATABASE {
            has_database = true;
            let mut out = File::create(database).map_err(BackupError::io("write", database))?;
            let copied = copy_hashing(&mut entry, &mut out).map_err(BackupError::io("unpack", database))?;
            out.sync_all().map_err(BackupError::io("write", database))?;
            copied
        } else {
            if listed.size_bytes > limits::BACKUP_FILE_BYTES_MAX {
                return Err(unfit(format!("{} is too large", one_line(name, 80))));
            }
            let mut bytes = Vec::new();
            let copied = copy_hashing(&mut entry, &mut bytes).map_err(damaged)?;
            files.push((name.to_owned(), Some(bytes)));
            copied
        };
        if (size, &sha256) != (listed.size_bytes, &listed.sha256) {
            return Err(unfit(format!("{} is damaged: its checksum is another", one_line(name, 80))));
        }
    }
    if entries.next().is_some() {
        return Err(unfit("there is more in it than it lists".to_owned()));
    }
    if !has_database {
        return Err(unfit("there is no database in it".to_owned()));
    }
    Ok(Unpacked { manifest, files })
}

fn manifest(path: &Path, first: tar::Entry<'_, impl Read>) -> Result<Manifest, BackupError> {
    /// What every format has.
    #[derive(Deserialize)]
    struct Head {
        format: u32,
        #[serde(default)]
        program: String,
    }
    let unfit = |why: &str| BackupError::unfit(path, why);
    if first.path().ok().as_deref() != Some(Path::new(MANIFEST)) {
        return Err(unfit("workagent did not make it"));
    }
    let mut text = Vec::new();
    let read = first.take(limits::BACKUP_MANIFEST_BYTES_MAX).read_to_end(&mut text);
    read.map_err(BackupError::io("read", path))?;
    let head: Head = serde_json::from_slice(&text).map_err(|_| unfit("its list is damaged"))?;
    if head.format > FORMAT {
        let (path, program) = (path.to_path_buf(), one_line(&head.program, 40));
        return Err(BackupError::Newer { path, format: head.format, program });
    }
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|_| unfit("its list is damaged"))?;
    if manifest.files.len() > limits::BACKUP_FILES_MAX {
        return Err(unfit("it lists too many files"));
    }
    match manifest.files.iter().find(|entry| !is_plain(&entry.name)) {
        Some(bad) => Err(unfit(&format!("it lists the name {}", one_line(&bad.name, 80)))),
        None => Ok(manifest),
    }
}

/// One of ours, and made of plain parts.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let first = match parts.next() {
        Some(Component::Normal(first)) => first,
        _ => return false,
    };
    let rest: Vec<Component<'_>> = parts.collect();
    let below = !rest.is_empty() && rest.iter().all(|part| matches!(part, Component::Normal(_)));
    let alone = rest.is_empty() && (first == DATABASE || first == SECRETS);
    alone || below && (first == UNITS || first == PLANS && rest.len() == 1)
}

/// Copies in pieces; gives size and checksum.
fn copy_hashing(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0;
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => return Ok((size, hex(&hash.finalize()))),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = buffer.get(..length).unwrap_or_default();
        hash.update(piece);
        to.write_all(piece)?;
        size += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        for good in [
            "database.db",
            "secrets.age",
            "units/a.connector.toml",
            "units/a.connector.d/b.toml",
            "plans/7.json",
        ] {
            assert!(is_plain(good), "{good}");
        }
        for bad in [
            "",
            "x",
            "units",
            "/etc/passwd",
            "../a",
            "units/../a",
            "units/./../a",
            "plans/a/b",
            "database.db/x",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
