//! Files that may be half written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use crate::diag::Severity;
use crate::model::limits::WATCH_YOUNG;
use crate::model::time::Timestamp;
use crate::unit::BUILT_IN;
use crate::unit::compile::Compiled;

/// The code of the finding that a half-written file has.
const SYNTAX_ERROR: &str = "syntax-error";

/// How long to wait before a compile's errors are believed, if they are not: a file with a syntax error, or an empty one,
/// that was written within the last second may not be whole yet. Whoever asks looks once more after that time, and
/// believes what it sees then.
#[must_use]
pub fn too_young(compiled: &Compiled, now: Timestamp) -> Option<Duration> {
    let broken = compiled
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error && finding.check.code == SYNTAX_ERROR)
        .map(|finding| compiled.sources.path(finding.span.source));
    let empty = compiled.sources.all().filter(|source| source.text.trim().is_empty());
    let suspects = broken.chain(empty.map(|source| source.path.as_path()));
    suspects.filter(|path| !path.starts_with(BUILT_IN)).filter_map(|path| rest(path, now)).max()
}

/// What is left of a file's first second.
fn rest(path: &Path, now: Timestamp) -> Option<Duration> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let written = Timestamp(meta.mtime().saturating_mul(1000).saturating_add(meta.mtime_nsec() / 1_000_000));
    // A time that lies ahead says nothing.
    if written > now {
        return None;
    }
    WATCH_YOUNG.checked_sub(now.since(written)).filter(|rest| !rest.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;
    use crate::unit::compile::{CompileEnv, compile};
    use crate::unit::load::load;
    use crate::unit::search::SearchPath;

    /// What is to be waited for a file that was written so many milliseconds ago.
    fn check(text: &str, age_ms: i64, expected_ms: Option<u64>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.env.toml");
        fs::write(&path, text).unwrap();
        let written = std::time::UNIX_EPOCH + Duration::from_secs(1_796_025_600);
        fs::File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
        let search = SearchPath { builtin: true, dirs: vec![dir.path().to_owned()], files: Vec::new() };
        let registry = CATALOG.registry();
        let env = CompileEnv { home: None, state_dir: "/state".into(), ..CompileEnv::default() };
        let compiled = compile(&load(&search, registry.shipped), &registry, &env);
        let now = Timestamp(1_796_025_600_000 + age_ms);
        assert_eq!(too_young(&compiled, now), expected_ms.map(Duration::from_millis), "{text:?} {age_ms}");
    }

    #[test]
    fn a_young_file_that_is_broken_or_empty_gets_another_look() {
        check("[set\n", 100, Some(900));
        check("", 400, Some(600));
        check("\n", 0, Some(1000));
    }

    #[test]
    fn others_are_believed() {
        check("[set\n", 1000, None);
        check("", 5000, None);
        check("[set\n", -5000, None);
        check("[set]\nA = \"b\"\n", 0, None);
        check("[wrong]\nA = \"b\"\n", 0, None);
    }
}
