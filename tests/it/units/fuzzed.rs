//! What the fuzzer checks, on the units that are there and on what it found something with.

#[path = "../../fuzz/check.rs"]
mod check;

use std::fs;

use super::*;

/// The unit files of a folder as one input.
fn input(folder: &Path) -> String {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let part = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        format!("%% {name}\n{}\n", fs::read_to_string(path).unwrap())
    };
    files.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")).map(part).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_units_in_the_binary_and_the_fixtures_hold() {
    check::check(&input(&root().join("units")));
    for folder in fs::read_dir(fixtures("")).unwrap() {
        check::check(&input(&folder.unwrap().path()));
    }
}

/// Hard ones by hand, and those that once broke something; the name says what.
#[test]
fn the_inputs_that_were_kept_hold() {
    for entry in fs::read_dir(root().join("tests/fuzz/inputs")).unwrap() {
        check::check(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
}
