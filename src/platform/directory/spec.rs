//! The keys of `[directory]`.

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::platform::{Guarantee, PlatformSpec};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "directory",
    summary: "A drop-box folder: each complete file is an item, replies appear beside it or in another folder",
    keys: &[
        KeySpec::new(
            "path",
            ValueType::Path,
            "The folder. Hidden, temporary (`*.tmp`, `*.part`, `*~`, `*.swp`) and `*.reply.md` files in it, symbolic \
             links, pipes and folders are left alone",
        )
        .required(),
        KeySpec::new("out", ValueType::Path, "Where replies are written; absent: into the same folder"),
        KeySpec::new(
            "done",
            ValueType::Path,
            "Where files are moved once they are recorded, with their digest before the name; on the same filesystem. \
             Absent: they stay",
        ),
        KeySpec::new(
            "settle",
            ValueType::Duration { min_s: 0, max_s: 3600 },
            "A file is complete once its size and times have not changed for this long. `0s` if whoever drops files \
             renames them into place",
        )
        .default("\"2s\""),
        KeySpec::new("pattern", ValueType::List, "Globs on the file name, `*.md`; any of them. Absent: all files"),
    ],
    every_min_s: 1,
    every_default_s: 5 * 60,
    guarantee: Guarantee::FarSide("file name"),
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    if let Err(message) = patterns(settings) {
        problems.push(KeyProblem { key: "pattern", message });
    }
    if settings.path("done").is_some() && settings.path("done") == settings.path("path") {
        problems.push(KeyProblem { key: "done", message: "must be another folder than `path`".to_owned() });
    }
    problems
}

/// The globs of `pattern`, `None` for all files.
pub fn patterns(settings: &Settings) -> Result<Option<GlobSet>, String> {
    let texts = settings.list("pattern");
    if texts.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(|error| format!("`{text}` is not a glob: {}", error.kind()))?);
    }
    set.build().map(Some).map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::value::Value;

    #[test]
    fn bad_globs_and_a_done_folder_that_is_the_drop_box_are_findings() {
        let mut settings = Settings::default();
        settings.0.insert("path".into(), Value::Path("/in".into()));
        settings.0.insert("done".into(), Value::Path("/in".into()));
        settings.0.insert("pattern".into(), Value::List(vec!["*.md".into(), "[".into()]));
        let keys: Vec<&str> = check(&settings).iter().map(|problem| problem.key).collect();
        assert_eq!(keys, ["pattern", "done"]);
    }
}
