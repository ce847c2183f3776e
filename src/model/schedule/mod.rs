//! When a unit runs: a pace, calendars, windows of the week, a stable jitter, and what becomes of missed times. Pure but
//! for the time zone database; every function gives the same for the same arguments.

mod calendar;
mod field;
mod weekdays;
mod window;
pub mod words;
mod zone;

use std::time::Duration;

pub use calendar::{Calendar, NotACalendar};
pub use window::Window;
pub use zone::Zone;

use super::time::Timestamp;

/// Overdue work after a sleep is spread over this, each unit at its own place.
pub const SPREAD: Duration = Duration::from_secs(30);

/// A due time that is noticed later than this was missed: the machine slept, the process stood still, or the clock was
/// set. Longer than any hiccup of a busy machine.
pub const MISSED_AFTER: Duration = Duration::from_secs(30);

/// Missed times that `on_resume = "each"` makes up for, the newest.
pub const MADE_UP_LEN_MAX: usize = 32;

/// No window of the week is shut longer.
const SHUT_MAX: Duration = Duration::from_secs(9 * 86_400);

/// Edges of windows that are looked at: what 64 windows have in nine days, twice over.
const EDGES_LEN_MAX: usize = 2 * 64 * 9 * 2;

/// When a unit runs. Times come from `every` and from each of `calendar`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Between two runs; the phase is kept.
    pub every: Option<Duration>,
    /// Moments by the calendar.
    pub calendar: Vec<Calendar>,
    /// Also when the daemon starts.
    pub at_start: bool,
    /// Each unit runs later by its own part of this, always the same.
    pub jitter: Duration,
    /// Runs only inside one of these; empty: always.
    pub active: Vec<Window>,
    /// Does not run inside any of these.
    pub quiet: Vec<Window>,
    /// What becomes of times that were missed.
    pub on_resume: OnResume,
    /// Times that were missed while the daemon was off count too.
    pub persistent: bool,
    /// No two runs are nearer to each other by the calendar: the platform's own limit. `every` is kept above it.
    pub gap_min: Duration,
}

/// What becomes of times that were missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnResume {
    /// One run soon, however many were missed.
    #[default]
    Once,
    /// None: it goes on with the next regular time.
    Skip,
    /// One run for each, the newest [`MADE_UP_LEN_MAX`].
    Each,
}

impl OnResume {
    /// As in unit files.
    pub const WORDS: [&'static str; 3] = ["once", "skip", "each"];

    /// From its word; [`OnResume::Once`] for any other.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "skip" => Self::Skip,
            "each" => Self::Each,
            _ => Self::Once,
        }
    }

    /// The stable word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Skip => "skip",
            Self::Each => "each",
        }
    }
}

/// Where a schedule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// From where `every` counts.
    pub anchor: Timestamp,
    /// The last due time that is done with.
    pub last: Timestamp,
}

impl Phase {
    /// Begins here.
    #[must_use]
    pub fn begin(now: Timestamp) -> Self {
        Self { anchor: now, last: now }
    }

    /// The same phase, done with everything up to here.
    #[must_use]
    pub fn done(self, last: Timestamp) -> Self {
        Self { last, ..self }
    }
}

/// What a unit's own share of jitter and spread comes from: its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// Of a unit, by its full name.
    #[must_use]
    pub fn of(unit: &str) -> Self {
        // FNV-1a, then mixed so that names that differ in their last letter lie far apart.
        let sum = unit.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(mixed(sum))
    }

    /// A share of a span, below it; other turns give other shares.
    fn share(self, of: Duration, turn: u64) -> Duration {
        let span = u64::try_from(of.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(mixed(self.0 ^ turn).checked_rem(span).unwrap_or(0))
    }
}

fn mixed(mut sum: u64) -> u64 {
    sum = (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    sum = (sum ^ (sum >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    sum ^ (sum >> 33)
}

/// What is to be done of the due times that have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Come {
    /// To run for, oldest first.
    pub run: Vec<Timestamp>,
    /// Passed over, as far as they were counted.
    pub passed_over: usize,
}

impl Schedule {
    /// Only a pace.
    #[must_use]
    pub fn every(span: Duration) -> Self {
        Self { every: Some(span), at_start: true, ..Self::default() }
    }

    /// The first due time of a unit that begins now.
    #[must_use]
    pub fn first(&self, now: Timestamp, seed: Seed) -> Option<Timestamp> {
        if self.at_start {
            return self.fitted(now.plus(self.late(seed)), Phase::begin(now), seed);
        }
        self.next(Phase::begin(now), seed)
    }

    /// The first due time after the last one; `None` if there is none any more.
    ///
    /// Outside the windows it moves to the next opening, plus the unit's share of the jitter.
    #[must_use]
    pub fn next(&self, phase: Phase, seed: Seed) -> Option<Timestamp> {
        self.fitted(self.nominal(phase.anchor, phase.last, seed)?, phase, seed)
    }

    /// Whether it may run at this moment.
    #[must_use]
    pub fn allows(&self, at: Timestamp) -> bool {
        let inside = |windows: &[Window]| windows.iter().any(|window| window.contains(at));
        (self.active.is_empty() || inside(&self.active)) && !inside(&self.quiet)
    }

    /// The first moment from `at` on at which it may run; `None` if the windows never open.
    #[must_use]
    pub fn opening(&self, at: Timestamp) -> Option<Timestamp> {
        let mut moment = at;
        for _ in 0..EDGES_LEN_MAX {
            if self.allows(moment) {
                return Some(moment);
            }
            let edges = self.active.iter().chain(&self.quiet).filter_map(|window| window.edge(moment));
            moment = edges.min()?;
            if moment.since(at) > SHUT_MAX {
                return None;
            }
        }
        None
    }

    /// The unit's own place in the time after a sleep.
    #[must_use]
    pub fn spread(seed: Seed) -> Duration {
        seed.share(SPREAD, 2)
    }

    /// Due times after the last one and up to now, the newest `len_max`, oldest first.
    #[must_use]
    pub fn come(&self, phase: Phase, now: Timestamp, seed: Seed, len_max: usize) -> Vec<Timestamp> {
        let mut found = Vec::new();
        // Looked for from the near past outwards, so that years of minutes cost no more than a day of them.
        for minutes in [1, 60, 1440, 11_520, 57_600, 600_000, u64::MAX / 60_000] {
            let from = phase.last.max(now.minus(Duration::from_secs(minutes.saturating_mul(60))));
            found.clear();
            let mut at = phase.done(from);
            while let Some(due) = self.next(at, seed).filter(|due| *due <= now) {
                found.push(due);
                at = at.done(due);
            }
            if found.len() >= len_max || from == phase.last {
                break;
            }
        }
        found.split_off(found.len().saturating_sub(len_max))
    }

    /// What to do now with the due times that have come, by `on_resume`.
    #[must_use]
    pub fn answer(&self, phase: Phase, now: Timestamp, seed: Seed) -> Come {
        let mut come = self.come(phase, now, seed, MADE_UP_LEN_MAX);
        let before = come.len();
        let run = match self.on_resume {
            OnResume::Each => come,
            OnResume::Once => come.split_off(before.saturating_sub(1)),
            OnResume::Skip => {
                come.retain(|due| now.since(*due) <= MISSED_AFTER);
                come.split_off(come.len().saturating_sub(1))
            }
        };
        Come { passed_over: before - run.len(), run }
    }

    /// There is a moment at which it runs, from `now` on.
    #[must_use]
    pub fn ever_runs(&self, now: Timestamp) -> bool {
        self.first(now, Seed(0)).is_some()
    }

    /// All of it in one line of normal forms: two schedules that say the same are the same.
    #[must_use]
    pub fn normal(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.every.map(|every| format!("every {}ms", every.as_millis())));
        parts.extend(self.calendar.iter().map(|calendar| format!("calendar {calendar}")));
        parts.extend(self.active.iter().map(|window| format!("active {window}")));
        parts.extend(self.quiet.iter().map(|window| format!("quiet {window}")));
        parts.push(format!("jitter {}ms", self.jitter.as_millis()));
        parts.join("; ")
    }

    fn late(&self, seed: Seed) -> Duration {
        seed.share(self.jitter, 1)
    }

    /// The first due time after `after`, without a look at the windows.
    fn nominal(&self, anchor: Timestamp, after: Timestamp, seed: Seed) -> Option<Timestamp> {
        let late = self.late(seed);
        let before = after.minus(late);
        let paced = self.every.filter(|every| !every.is_zero()).map(|every| {
            let step = i64::try_from(every.as_millis()).unwrap_or(i64::MAX).max(1);
            let done = before.0.saturating_sub(anchor.0).div_euclid(step);
            // The anchor itself is no due time, and with jitter it would seem to lie ahead. Far behind it, the clock was
            // set back: the pace goes on in the same phase.
            let done = if after >= anchor { done.max(0) } else { done };
            Timestamp(anchor.0.saturating_add(step.saturating_mul(done.saturating_add(1))))
        });
        let apart = before.plus(self.gap_min.saturating_sub(Duration::from_millis(1)));
        let dated = self.calendar.iter().filter_map(|calendar| calendar.next(apart));
        paced.into_iter().chain(dated).min().map(|due| due.plus(late))
    }

    /// A due time moved into the windows.
    fn fitted(&self, due: Timestamp, phase: Phase, seed: Seed) -> Option<Timestamp> {
        let opening = self.opening(due)?;
        if opening == due {
            return Some(due);
        }
        let moved = opening.plus(self.late(seed));
        let moved = if self.allows(moved) { moved } else { opening };
        // One of its own times may lie between the opening and the moment to which the shut ones move.
        let own = self.nominal(phase.anchor, opening.minus(Duration::from_millis(1)), seed);
        Some(own.filter(|own| *own < moved && self.allows(*own)).unwrap_or(moved))
    }
}

#[cfg(test)]
mod tests;
