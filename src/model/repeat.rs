//! The same error is counted, not repeated: what keeps a failing loop from filling the disk with one sentence.

use std::time::Duration;

use super::time::{Timestamp, short_span};

/// The first reminder comes after this long, later ones each twice as late.
const REMIND_FIRST: Duration = Duration::from_secs(10 * 60);

/// At least one reminder in this time: a unit that fails every minute writes about 30 lines a day.
const REMIND_MAX: Duration = Duration::from_secs(60 * 60);

/// Different errors remembered, so that two that take turns are still counted.
const KEYS_LEN_MAX: usize = 8;

/// New errors said in one [`REMIND_MAX`]: texts that differ each time (a port, an id) must not open the gate.
const NEW_LINES_MAX: u32 = 60;

/// Tells whether an error of one unit is worth a line. Pure: the clock is passed in.
///
/// Bound: at most 60 new errors and 8 × 4 reminders in an hour, so well under 1 MB with lines of
/// [`LOG_EVENT_BYTES_MAX`](super::limits::LOG_EVENT_BYTES_MAX).
#[derive(Clone, Debug, Default)]
pub struct RepeatGuard {
    /// Longest unseen first.
    seen: Vec<Seen>,
    hour_began: Timestamp,
    new_in_hour: u32,
}

#[derive(Clone, Debug)]
struct Seen {
    key: String,
    first_at: Timestamp,
    count: u64,
    wait: Duration,
    remind_at: Timestamp,
}

/// What to do with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
    /// Not seen before: say all of it.
    New,
    /// Still the same: say so in one line, `"same error 57 times in 12m"`.
    Again(Repeats),
    /// Counted; say nothing.
    Quiet,
}

/// How often one error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Times, the first one included.
    pub count: u64,
    /// When it came first.
    pub since: Timestamp,
}

impl Repeats {
    /// "same error 57 times in 12m"; lines carry their own time, so a span says more than a second clock.
    #[must_use]
    pub fn sentence(self, now: Timestamp) -> String {
        format!("same error {} times in {}", self.count, short_span(now.since(self.since)))
    }
}

impl RepeatGuard {
    /// Counts an error. `key` is what makes it "the same": class and message, without times and counters.
    pub fn see(&mut self, key: &str, now: Timestamp) -> Say {
        if let Some(at) = self.seen.iter().position(|seen| seen.key == key) {
            let mut seen = self.seen.remove(at);
            let say = seen.again(now);
            self.seen.push(seen);
            return say;
        }
        if self.seen.len() == KEYS_LEN_MAX {
            self.seen.remove(0);
        }
        self.seen.push(Seen {
            key: key.to_owned(),
            first_at: now,
            count: 1,
            wait: REMIND_FIRST,
            remind_at: now.plus(REMIND_FIRST),
        });
        if now.since(self.hour_began) >= REMIND_MAX {
            (self.hour_began, self.new_in_hour) = (now, 0);
        }
        self.new_in_hour = self.new_in_hour.saturating_add(1);
        if self.new_in_hour > NEW_LINES_MAX { Say::Quiet } else { Say::New }
    }

    /// It went well again. What had been going wrong, if anything: worth one line "works again".
    pub fn clear(&mut self) -> Option<Repeats> {
        let seen = std::mem::take(&mut self.seen);
        let since = seen.iter().map(|seen| seen.first_at).min()?;
        Some(Repeats { count: seen.iter().map(|seen| seen.count).sum(), since })
    }
}

impl Seen {
    fn again(&mut self, now: Timestamp) -> Say {
        self.count = self.count.saturating_add(1);
        if now < self.remind_at {
            return Say::Quiet;
        }
        self.wait = (self.wait * 2).min(REMIND_MAX);
        self.remind_at = now.plus(self.wait);
        Say::Again(Repeats { count: self.count, since: self.first_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines written by a loop that fails with `errors` in turn, once every `every_s`, for `hours`.
    fn lines(errors: &[&str], every_s: u64, hours: u64) -> usize {
        let mut guard = RepeatGuard::default();
        let mut now = Timestamp(0);
        let mut lines = 0;
        for round in 0..hours * 3600 / every_s {
            let error = errors[usize::try_from(round).unwrap() % errors.len()];
            lines += usize::from(guard.see(error, now) != Say::Quiet);
            now = now.plus(Duration::from_secs(every_s));
        }
        lines
    }

    #[test]
    fn the_same_error_is_said_about_once_an_hour() {
        assert_eq!(lines(&["refused"], 1, 1), 3);
        assert_eq!(lines(&["refused"], 1, 24), 26);
    }

    #[test]
    fn errors_that_take_turns_are_counted_apart() {
        assert_eq!(lines(&["refused", "timed out"], 1, 24), 52);
    }

    #[test]
    fn texts_that_always_differ_are_bounded() {
        let mut guard = RepeatGuard::default();
        let said = (0..3599)
            .filter(|second| guard.see(&format!("port {second}"), Timestamp(second * 1000)) == Say::New)
            .count();
        assert_eq!(said, 60);
    }

    #[test]
    fn a_new_error_is_said_at_once_and_the_count_starts_anew() {
        let mut guard = RepeatGuard::default();
        assert_eq!(guard.see("a", Timestamp(0)), Say::New);
        assert_eq!(guard.see("a", Timestamp(1)), Say::Quiet);
        assert_eq!(guard.see("b", Timestamp(2)), Say::New);
        let later = Timestamp(2).plus(REMIND_FIRST);
        assert_eq!(guard.see("b", later), Say::Again(Repeats { count: 2, since: Timestamp(2) }));
    }

    #[test]
    fn recovery_tells_what_had_been() {
        let mut guard = RepeatGuard::default();
        guard.see("a", Timestamp(0));
        guard.see("a", Timestamp(720_000));
        let repeats = guard.clear().unwrap();
        assert_eq!(repeats.sentence(Timestamp(720_000)), "same error 2 times in 12m");
        assert_eq!(guard.clear(), None);
    }
}
