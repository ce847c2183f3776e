//! Unit files of any text and any kinds, compiled.

#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        check::check(text);
    }
});
