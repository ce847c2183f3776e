//! Panics are masked like everything else: their text is a value somebody looked at.

use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::Mutex;

use super::file::LogFile;
use super::lines::text_lines;
use crate::secret::Scrubber;

/// Places at which panics are counted; there are not more in the program that panic one after the other.
const PLACES_LEN_MAX: usize = 256;

/// From now on a panic is written to standard error masked, in one write, with a backtrace where `RUST_BACKTRACE` asks
/// for one; to `file` instead, where the log goes to one. It does not go through the log: the panic may have come from
/// inside it. Under systemd standard error leads to the journal. One place that panics again and again is told of at each
/// doubling.
pub fn install_panic_hook(scrubber: Scrubber, file: Option<LogFile>) {
    let places: Mutex<BTreeMap<String, u64>> = Mutex::default();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        // A panic inside this very hook must not wait for itself.
        let times = places.try_lock().ok().map_or(1, |mut places| {
            if places.len() >= PLACES_LEN_MAX && !places.contains_key(&place) {
                places.clear();
            }
            let times = places.entry(place).or_insert(0);
            *times += 1;
            *times
        });
        if !times.is_power_of_two() {
            return;
        }
        let text = text_lines(&describe(info, times, &Backtrace::capture()), &scrubber);
        match &file {
            Some(file) => file.write_if_free(text.as_bytes()),
            None => {
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
        }
    }));
}

fn describe(info: &PanicHookInfo<'_>, times: u64, backtrace: &Backtrace) -> String {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("?");
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let what = info.payload_as_str().unwrap_or("(no text)");
    let count = if times > 1 { format!(" ({times} times so far)") } else { String::new() };
    let mut text = format!("a fault of workagent itself{place}, thread {name}{count}: {what}");
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        text.push_str(&format!("\n{backtrace}"));
    }
    text
}
