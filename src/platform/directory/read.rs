//! One file to one item.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::scan::{Found, Stamp};
use crate::model::draft::Envelope;
use crate::model::item::{Attachment, Cut, Disposition, Item, ReplyWay};
use crate::model::limits;
use crate::model::text::{cut, digest, hex, one_line, short_size};
use crate::platform::hygiene;

/// Of a file too large to be read whole, this much of its end counts for its identity.
const TAIL_BYTES: u64 = 1024 * 1024;

/// What came of looking into a file.
pub enum Looked {
    /// An item; disposition `Work`.
    Item(Box<Item>),
    /// It changed while it was read, or is no file any more.
    Restless,
}

/// Reads a file and makes an item of it. The key is the digest of its content: the same content dropped twice is the
/// same item, whatever its name.
pub fn item(folder: &OwnedFd, path: &Path, found: &Found, place: &str) -> std::io::Result<Looked> {
    // A symbolic link put in its place since the listing is refused; a FIFO does not hold us up.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, &found.name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => return Ok(Looked::Restless),
        Err(error) => return Err(error.into()),
    };
    if !is(&file, &found.stamp)? {
        return Ok(Looked::Restless);
    }
    let mut file = File::from(file);
    let mut bytes = Vec::new();
    (&mut file).take(limits::FILE_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    let size = found.stamp.size();
    let key = if size > limits::FILE_BYTES_MAX as u64 {
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL_BYTES)))?;
        (&mut file).take(TAIL_BYTES).read_to_end(&mut tail)?;
        let name = found.name.as_bytes();
        format!("sha256-ends:{}", digest(&[&bytes, &tail, &size.to_le_bytes(), name]))
    } else {
        // As `sha256sum` prints it.
        format!("sha256:{}", hex(&Sha256::digest(&bytes)))
    };
    if !is(&OwnedFd::from(file), &found.stamp)? {
        return Ok(Looked::Restless);
    }
    Ok(Looked::Item(Box::new(map(&found.name, &path.join(&found.name), &found.stamp, &bytes, key, place))))
}

fn is(file: &OwnedFd, stamp: &Stamp) -> std::io::Result<bool> {
    let stat = rustix::fs::fstat(file)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && Stamp::of(&stat) == *stamp)
}

fn map(name: &OsStr, path: &Path, stamp: &Stamp, bytes: &[u8], key: String, place: &str) -> Item {
    let shown = one_line(&name.to_string_lossy(), limits::TITLE_BYTES_MAX);
    let ending = Path::new(name).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let ending = ending.unwrap_or_default();
    let mut warnings = Vec::new();
    let (body, hidden, attachments, cut) = match text(bytes, stamp.size()) {
        Some((text, lossy)) => {
            if lossy {
                warnings.push("the file is not all UTF-8; other bytes are shown as \u{fffd}".to_owned());
            }
            let (text, hidden) = match ending.as_str() {
                "html" | "htm" | "xhtml" => hygiene::html::to_text(&text),
                _ => hygiene::hidden_in_text(&text),
            };
            let (body, mut cut) = Cut::to_fit(text);
            if stamp.size() > limits::FILE_BYTES_MAX as u64 {
                cut = Some(Cut { kept_bytes: body.len() as u64, total_bytes: stamp.size() });
            }
            (body, hidden, Vec::new(), cut)
        }
        None => {
            let file = Attachment {
                name: shown.clone(),
                media_type: "application/octet-stream".to_owned(),
                size_bytes: stamp.size(),
            };
            let body = format!("(a file of {} that is not text)", short_size(stamp.size()));
            (body, Vec::new(), vec![file], None)
        }
    };
    let mut thread = json!({ "name": shown });
    if name.to_str() != Some(shown.as_str()) {
        // What JSON cannot hold, or the shown name does not.
        thread = json!({ "name": shown, "bytes": hex(name.as_bytes()) });
    }
    Item {
        revision: key.clone(),
        threads: vec![key.clone()],
        key,
        identities: Vec::new(),
        kind: "note".to_owned(),
        title: shown,
        author: None,
        at: Some(stamp.modified()),
        url: url::Url::from_file_path(path).ok().map(|url| url.to_string()),
        body,
        hidden,
        attachments,
        cut,
        labels: Some(ending).filter(|ending| !ending.is_empty()).into_iter().collect(),
        reply: ReplyWay::To(Envelope { place: place.to_owned(), thread, ..Envelope::default() }),
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings,
    }
}

/// The text and whether bytes were replaced; `None` for what is no text.
fn text(bytes: &[u8], size: u64) -> Option<(String, bool)> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(bytes) {
        let (text, _, lossy) = encoding.decode(bytes);
        return Some((text.into_owned(), lossy));
    }
    let head = bytes.get(..bytes.len().min(8192)).unwrap_or_default();
    if head.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let replaced = text.matches('\u{fffd}').count();
    // A cut in the middle of a character is ours, not the file's.
    let ours = usize::from((bytes.len() as u64) < size);
    // Text in an old encoding has some foreign bytes; what has many is no text.
    (replaced.saturating_sub(ours) * 10 <= text.len()).then(|| (text.into_owned(), replaced > ours))
}

/// The file's name, to the byte, out of an item's reply handle.
#[must_use]
pub fn name_of(thread: &serde_json::Value) -> Option<OsString> {
    if let Some(digits) = thread.get("bytes").and_then(|bytes| bytes.as_str()) {
        let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        return Some(OsStr::from_bytes(&bytes?).to_owned()).filter(|name| is_name(name));
    }
    thread.get("name").and_then(|name| name.as_str()).map(OsString::from).filter(|name| is_name(name))
}

/// One component of a path, not a way out of the folder.
fn is_name(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    !bytes.is_empty() && !bytes.contains(&b'/') && !bytes.contains(&0) && bytes != b"." && bytes != b".."
}

/// The longest start of a name that fits, whole characters where it has them.
#[must_use]
pub fn short_name(name: &OsStr, bytes_max: usize) -> OsString {
    match name.to_str() {
        Some(text) => OsString::from(cut(text, bytes_max)),
        None => {
            let bytes = name.as_bytes();
            OsStr::from_bytes(bytes.get(..bytes_max.min(bytes.len())).unwrap_or_default()).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_other_files() {
        assert_eq!(text(b"hello", 5), Some(("hello".into(), false)));
        assert_eq!(text("\u{feff}ß".as_bytes(), 5), Some(("ß".into(), false)));
        assert_eq!(
            text(b"Gr\xfc\xdfe aus K\xf6ln, wie geht es denn so?", 38).map(|(_, lossy)| lossy),
            Some(true)
        );
        assert_eq!(text(b"\x89PNG\r\n\x1a\n\0\0", 10), None);
        assert_eq!(text(&[0xff; 100], 100), None);
        let cut_character = "ab\u{df}".as_bytes();
        assert_eq!(text(&cut_character[..3], 100).map(|(_, lossy)| lossy), Some(false));
    }

    #[test]
    fn names_survive_to_the_byte_and_stay_in_the_folder() {
        assert_eq!(name_of(&json!({ "name": "a b.md" })), Some("a b.md".into()));
        assert_eq!(
            name_of(&json!({ "name": "?", "bytes": "61ff" })),
            Some(OsStr::from_bytes(b"a\xff").to_owned())
        );
        for bad in [
            json!({ "name": "../x" }),
            json!({ "name": ".." }),
            json!({ "bytes": "2f" }),
            json!({ "bytes": "6" }),
            json!(1),
        ] {
            assert_eq!(name_of(&bad), None, "{bad}");
        }
    }
}
