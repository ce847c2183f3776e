//! Named crash points: places where tests kill the process, to show that the next start goes on from the rows.
//! Debug builds only; in release builds a point is nothing.

/// Ends the process as `kill -9` would if `WORKAGENT_CRASH_AT` names this point (`after-claim`, or `after-claim:3`
/// for the third time it is passed). With `WORKAGENT_STALL_AT` it does not end: the thread hangs there for ever; with
/// `WORKAGENT_PANIC_AT` it panics, as a fault of ours would.
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    type Target = OnceLock<Option<(String, AtomicU32)>>;

    static TO_CRASH: Target = OnceLock::new();
    static TO_STALL: Target = OnceLock::new();
    static TO_PANIC: Target = OnceLock::new();

    fn is_met(target: &Target, variable: &str, name: &str) -> bool {
        let target = target.get_or_init(|| {
            #[expect(clippy::disallowed_methods, reason = "read once; exists in debug builds only")]
            let text = std::env::var(variable).ok()?;
            let (point, count) = text.split_once(':').unwrap_or((&text, "1"));
            Some((point.to_owned(), AtomicU32::new(count.parse().unwrap_or(1))))
        });
        let Some((point, left)) = target else { return false };
        point == name && left.fetch_sub(1, Ordering::SeqCst) == 1
    }

    pub(super) fn pass(name: &str) {
        if is_met(&TO_STALL, "WORKAGENT_STALL_AT", name) {
            loop {
                std::thread::park();
            }
        }
        if is_met(&TO_PANIC, "WORKAGENT_PANIC_AT", name) {
            #[expect(clippy::panic, reason = "what a test asks for; exists in debug builds only")]
            {
                panic!("asked to panic at {name}");
            }
        }
        if is_met(&TO_CRASH, "WORKAGENT_CRASH_AT", name) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            // The signal is delivered before this thread runs on, but the compiler cannot know.
            std::process::abort();
        }
    }
}
