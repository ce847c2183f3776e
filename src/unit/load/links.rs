//! The way over links: which directories must be watched to see that one of them was changed.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Links on one way; the kernel's own bound.
const LINKS_MAX: usize = 40;

/// Goes from `path` (absolute) over all links in it to what they lead to, and adds the directory that holds each link.
/// `None` if something on the way is missing or the links lead in a circle; then the directory in which the next name is
/// not there is added: it would have to appear in that one.
pub(super) fn follow(path: &Path, dirs: &mut BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut here = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = parts(path).into();
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        let Ok(meta) = fs::symlink_metadata(&next) else {
            dirs.insert(here);
            return None;
        };
        if !meta.is_symlink() {
            here = next;
            continue;
        }
        dirs.insert(here.clone());
        links += 1;
        let target = fs::read_link(&next).ok().filter(|_| links <= LINKS_MAX)?;
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for part in parts(&target).into_iter().rev() {
            rest.push_front(part);
        }
    }
    Some(here)
}

/// The names on a path, `..` too.
fn parts(path: &Path) -> Vec<OsString> {
    let named = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    named.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// `links`: (place, target) below a directory; shows where `a` ends and what is to be watched.
    fn check(links: &[(&str, &str)], expected: &str) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("store/1")).unwrap();
        fs::write(root.join("store/1/file"), "").unwrap();
        for (place, target) in links {
            symlink(target.replace('^', root.to_str().unwrap()), root.join(place)).unwrap();
        }
        let mut dirs = BTreeSet::new();
        let end = follow(&root.join("a"), &mut dirs);
        let name = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
        let watched: Vec<String> = dirs.iter().map(|dir| format!("[{}]", name(dir))).collect();
        let end = end.map_or_else(|| "nowhere".to_owned(), |end| name(&end));
        assert_eq!(format!("{end} {}", watched.join(" ")), expected);
    }

    #[test]
    fn each_directory_with_a_link_in_it_is_named() {
        check(&[("a", "store/1/file")], "store/1/file []");
        check(&[("a", "^/store/1/file")], "store/1/file []");
        check(&[("store/now", "1"), ("a", "store/now/file")], "store/1/file [] [store]");
        check(&[("store/b", "1/../1/file"), ("a", "store/b")], "store/1/file [] [store]");
    }

    #[test]
    fn a_circle_and_a_missing_end_have_no_end() {
        check(&[("a", "b"), ("b", "a")], "nowhere []");
        check(&[("a", "store/2/file")], "nowhere [] [store]");
    }
}
