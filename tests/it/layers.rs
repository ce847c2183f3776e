//! Layers hold: every module imports only from rows below its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each room may import from besides itself. Whoever needs a new line here changes the architecture: say why.
const MAY_IMPORT: [(&str, &[&str]); 20] = [
    ("model", &[]),
    ("diag", &["model"]),
    ("unit", &["diag", "model"]),
    ("secret", &["unit", "diag", "model"]),
    ("store", &["unit", "diag", "model"]),
    ("http", &["secret", "unit", "diag", "model"]),
    ("process", &["secret", "unit", "diag", "model"]),
    ("platform", &["http", "process", "secret", "unit", "diag", "model"]),
    ("engine", &["http", "process", "secret", "unit", "diag", "model"]),
    ("channel", &["http", "process", "secret", "unit", "diag", "model"]),
    ("catalog", &["platform", "engine", "channel", "unit", "model"]),
    ("supervise", &["model"]),
    (
        "runtime",
        &[
            "supervise",
            "catalog",
            "platform",
            "engine",
            "channel",
            "store",
            "secret",
            "http",
            "process",
            "unit",
            "diag",
            "model",
        ],
    ),
    (
        "bundle",
        &[
            "runtime",
            "supervise",
            "catalog",
            "platform",
            "engine",
            "channel",
            "store",
            "secret",
            "http",
            "process",
            "unit",
            "diag",
            "model",
        ],
    ),
    ("control", &["bundle", "runtime", "supervise", "store", "secret", "unit", "diag", "model"]),
    (
        "daemon",
        &[
            "control",
            "bundle",
            "runtime",
            "supervise",
            "catalog",
            "store",
            "secret",
            "http",
            "process",
            "unit",
            "diag",
            "model",
        ],
    ),
    (
        "cli",
        &[
            "daemon",
            "control",
            "bundle",
            "runtime",
            "supervise",
            "catalog",
            // `workagent mcp --run` is the other end of an engine's private directory.
            "engine",
            "store",
            "secret",
            "process",
            "unit",
            "diag",
            "model",
        ],
    ),
    ("testkit", &["model"]),
    ("main", &["cli", "model", "store"]),
    ("lib", &[]),
];

#[test]
fn modules_import_only_from_rows_below() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_IMPORT.into_iter().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in rust_files(&root) {
        let relative = path.strip_prefix(&root).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let room = first.trim_end_matches(".rs").to_owned();
        let may = allowed.get(room.as_str()).unwrap_or_else(|| panic!("{room} is not in the layer table"));
        let text = fs::read_to_string(&path).unwrap();
        // Tests may look sideways; what ships may not.
        let shipped = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in shipped.lines().enumerate() {
            for used in rooms_used(line) {
                seen += 1;
                if used != room && !may.contains(&used.as_str()) {
                    wrong.push(format!("{}:{}: {room} → {used}", relative.display(), number + 1));
                }
            }
        }
    }
    assert!(seen > 100, "the test sees no imports any more");
    assert!(wrong.is_empty(), "imports against the layers:\n{}", wrong.join("\n"));
}

#[test]
fn sql_lives_in_the_store_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in rust_files(&root) {
        let relative = path.strip_prefix(&root).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let uses = ["sqlx::", "SELECT ", "INSERT INTO", "UPDATE "].iter().any(|word| text.contains(word));
        assert!(!uses || relative.starts_with("store"), "{} speaks SQL", relative.display());
    }
}

/// Rooms named by `crate::room` in a line of code.
fn rooms_used(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap();
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    code.split("crate::").skip(1).map(word).filter(|room| !room.is_empty()).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
