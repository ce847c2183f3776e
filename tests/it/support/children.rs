//! Looking for children from the outside.

use std::fs;

/// Living processes that show this token in their environment or command line.
pub fn alive(token: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let of = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        let shows = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains(token);
        if entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit())
            && (shows(of("environ")) || shows(of("cmdline")))
        {
            found.push(String::from_utf8_lossy(&of("stat")).into_owned());
        }
    }
    found
}
