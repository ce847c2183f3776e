//! What is generated for packages is what the program would generate now.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use workagent::cli::manual;

#[test]
fn man_pages_and_completions_are_not_stale() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging");
    let mut held = BTreeMap::new();
    for folder in ["man", "completions"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            held.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
    let made = manual::files().unwrap();
    let mut stale: Vec<&String> =
        made.iter().filter(|(name, text)| held.get(*name) != Some(text)).map(|(name, _)| name).collect();
    stale.extend(held.keys().filter(|name| !made.contains_key(*name)));
    assert!(
        stale.is_empty(),
        "run `cargo run -- manual --write packaging` (and remove pages of commands that are gone): {stale:?}"
    );
}
