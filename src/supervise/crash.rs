//! Named crash points: places where tests kill the process, to show that the next start goes on from the rows.
//! Debug builds only; in release builds a point is nothing.

/// Ends the process as `kill -9` would if `WORKAGENT_CRASH_AT` names this point (`after-claim`, or `after-claim:3`
/// for the third time it is passed).
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

    static TARGET: OnceLock<Option<(String, AtomicU32)>> = OnceLock::new();

    pub(super) fn pass(name: &str) {
        let target = TARGET.get_or_init(|| {
            #[expect(clippy::disallowed_methods, reason = "read once; exists in debug builds only")]
            let text = std::env::var("WORKAGENT_CRASH_AT").ok()?;
            let (point, count) = text.split_once(':').unwrap_or((&text, "1"));
            Some((point.to_owned(), AtomicU32::new(count.parse().unwrap_or(1))))
        });
        let Some((point, left)) = target else { return };
        if point == name && left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            // The signal is delivered before this thread runs on, but the compiler cannot know.
            std::process::abort();
        }
    }
}
