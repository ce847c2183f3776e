//! Where the record lies, and whether that is a place for a database. A folder that a program keeps in step with another
//! machine is copied while it is written, and two machines write into one; file systems over a network promise less about
//! locks and about what is on the disk than a database builds on.

use std::path::Path;

/// Of Linux's `statfs`, by linux/magic.h.
#[cfg(target_os = "linux")]
const REMOTE: [(u32, &str); 9] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x5346_414F, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00C3_6400, "Ceph"),
];

/// What programs leave in the folders that they keep in step.
const MARKS: [(&str, &str); 4] = [
    (".stfolder", "Syncthing"),
    (".dropbox.cache", "Dropbox"),
    (".owncloudsync.log", "ownCloud"),
    (".nextcloudsync.log", "Nextcloud"),
];

/// How such folders are called.
const NAMES: [(&str, &str); 7] = [
    ("Dropbox", "Dropbox"),
    ("OneDrive", "OneDrive"),
    ("Google Drive", "Google Drive"),
    ("GoogleDrive", "Google Drive"),
    ("Mobile Documents", "iCloud"),
    ("iCloud Drive", "iCloud"),
    ("Nextcloud", "Nextcloud"),
];

/// Why a database should not lie in this folder; `None`: nothing speaks against it.
#[must_use]
pub fn warning(folder: &Path) -> Option<String> {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let shown = real.display();
    if let Some((what, top)) = synced(&real) {
        return Some(format!(
            "{shown} is kept in step by {what} ({}): a database is damaged when it is copied while it is written, and two \
             machines would answer; give it a place of its own with [store] path or --state-dir",
            top.display()
        ));
    }
    let kind = remote(&real)?;
    Some(format!(
        "{shown} lies on {kind}: locks and writes may not hold what a database needs; give it a place on a local disk with \
         [store] path or --state-dir"
    ))
}

/// By whom, and the folder that shows it.
fn synced(folder: &Path) -> Option<(&'static str, &Path)> {
    folder.ancestors().find_map(|above| {
        let name = above.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_called = |known: &str| name == known || known == "OneDrive" && name.starts_with("OneDrive - ");
        let by_name = NAMES.iter().find(|(known, _)| is_called(known));
        let by_mark = || MARKS.iter().find(|(mark, _)| above.join(mark).exists());
        by_name.or_else(by_mark).map(|(_, what)| (*what, above))
    })
}

#[cfg(target_os = "linux")]
fn remote(folder: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(folder).ok()?.f_type;
    named(u32::try_from(kind & 0xFFFF_FFFF).ok()?)
}

#[cfg(target_os = "linux")]
fn named(kind: u32) -> Option<&'static str> {
    REMOTE.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
fn remote(_folder: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, mark: Option<&str>, expected: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(folder);
        std::fs::create_dir_all(&path).unwrap();
        if let Some(mark) = mark {
            std::fs::create_dir_all(root.path().join(mark)).unwrap();
        }
        let said = warning(&path);
        match expected {
            None => assert_eq!(said, None, "{folder}"),
            Some(what) => {
                assert!(said.as_ref().is_some_and(|said| said.contains(what)), "{folder}: {said:?}");
            }
        }
    }

    #[test]
    fn folders_kept_in_step_are_known() {
        check("home/me/.local/state/workagent", None, None);
        check("home/me/Dropbox/state", None, Some("by Dropbox ("));
        check("home/me/OneDrive - Acme/state", None, Some("by OneDrive ("));
        check("home/me/OneDriveless/state", None, None);
        check("Library/Mobile Documents/x", None, Some("by iCloud ("));
        check("sync/a/b", Some("sync/.stfolder"), Some("by Syncthing ("));
        check("sync/a/b", Some("sync/a/b/c/.stfolder"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_over_a_network_are_known() {
        assert_eq!(named(0x6969), Some("NFS"));
        assert_eq!(named(0xFF53_4D42), Some("CIFS"));
        // ext4, btrfs, tmpfs, overlayfs
        for local in [0xEF53, 0x9123_683E, 0x0102_1994, 0x794C_7630] {
            assert_eq!(named(local), None);
        }
    }
}
