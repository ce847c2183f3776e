//! Panics are masked like everything else: their text is a value somebody looked at.

use std::backtrace::Backtrace;
use std::io::Write;
use std::panic::PanicHookInfo;

use super::scrubbing::text_lines;
use crate::secret::Scrubber;

/// From now on a panic is written to standard error masked, in one write, with a backtrace where `RUST_BACKTRACE` asks
/// for one. It does not go through the log: the panic may have come from inside it. Under systemd standard error leads
/// to the journal.
pub fn install_panic_hook(scrubber: Scrubber) {
    std::panic::set_hook(Box::new(move |info| {
        let text = text_lines(&describe(info, &Backtrace::capture()), &scrubber);
        let _ = std::io::stderr().write_all(text.as_bytes());
    }));
}

fn describe(info: &PanicHookInfo<'_>, backtrace: &Backtrace) -> String {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("?");
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let what = info.payload_as_str().unwrap_or("(no text)");
    let mut text = format!("a fault of workagent itself{place}, thread {name}: {what}");
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        text.push_str(&format!("\n{backtrace}"));
    }
    text
}
