//! No test file was forgotten, no file is a room of its own that nobody enters, the top level is what it should be.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use workagent::catalog::CATALOG;
use workagent::model::outbound::Guarantee;

#[test]
fn every_test_file_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            // `snapshots` is where insta keeps outputs too long to stand in a test.
            ["main", "snapshots"].contains(&module) || main.contains(&format!("mod {module};")),
            "{name} is not listed in main.rs"
        );
    }
}

#[test]
fn the_top_level_holds_what_the_design_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let allowed: BTreeSet<&str> =
        ["src", "tests", "benches", "units", "examples", "packaging", "target", ".git", ".ci"].into();
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(
            entry.path().is_file() || allowed.contains(name.as_str()),
            "{name}/ is not a folder of the plan"
        );
    }
}

#[test]
fn the_readme_tells_each_connector_and_what_it_promises() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let text = text.split("| connector | reads |").nth(1).unwrap();
    for platform in CATALOG.platforms {
        let head = format!("| `{}` |", platform.name);
        let row =
            text.lines().find(|line| line.starts_with(&head)).unwrap_or_else(|| panic!("no row {head}"));
        let promised = match platform.guarantee {
            Guarantee::NoReplies => "–".to_owned(),
            guarantee => guarantee.line(),
        };
        assert!(row.ends_with(&format!("| {promised} |")), "{row}\n{promised}");
    }
}

#[test]
fn files_stay_readable() {
    let mut long = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut long);
    assert!(long.is_empty(), "over 500 lines, each hides a second concept: {long:?}");
}

fn walk(folder: &Path, long: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, long);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            if lines > 500 {
                long.push(format!("{} ({lines})", path.display()));
            }
        }
    }
}
