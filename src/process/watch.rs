//! The clocks of one child, and where it is on its way from running to gone. Pure: the caller tells the moments.

use std::time::Duration;

use tokio::time::Instant;

use super::{ChildEnd, ChildLimits};
use crate::model::limits;

/// Where the child is on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    /// Runs within its limits.
    Running,
    /// Whoever talks with it was told to end it by their protocol; its input is closed at this moment.
    Asked(Instant),
    /// Its input is closed; it is asked to end by a signal at this moment.
    Closing(Instant),
    /// Was asked to end by a signal; is killed at this moment.
    Ending(Instant),
    /// Was killed; given up at this moment (a process in the kernel's hands cannot be killed).
    Killed(Instant),
    /// The leader ended; its pipes are read until this moment.
    Draining(Instant),
}

/// How long each step of an end may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// From being told of a limit to the close of its input; `None`: nobody talks with it, so the signal comes at once.
    pub(super) asked: Option<Duration>,
    /// From a close of its input that follows a limit to TERM.
    pub(super) closing: Duration,
    /// From TERM to KILL.
    pub(super) term: Duration,
}

/// The clocks of one child. All monotonic: a changed wall clock ends no run.
#[derive(Debug)]
pub(super) struct Watch {
    limits: ChildLimits,
    manner: Manner,
    /// Between two moments that its listener calls progress.
    no_progress: Option<Duration>,
    started: Instant,
    /// Of the last byte on either pipe.
    heard: Option<Instant>,
    progress: Instant,
    pub(super) phase: Phase,
    /// The end, once it is of our making.
    pub(super) end: Option<ChildEnd>,
}

/// What has to be done when a moment has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Duty {
    /// Tell the listener.
    Tell(ChildEnd),
    /// Close its input.
    Close,
    /// TERM to its group.
    Terminate,
    /// KILL to the tree.
    Kill,
    /// Nothing more to wait for; `true` if the leader is given up.
    Over(bool),
}

impl Watch {
    pub(super) fn new(
        limits: ChildLimits,
        manner: Manner,
        no_progress: Option<Duration>,
        now: Instant,
    ) -> Self {
        Self {
            limits,
            manner,
            no_progress,
            started: now,
            heard: None,
            progress: now,
            phase: Phase::Running,
            end: None,
        }
    }

    /// The next moment at which something is due, other than a look at the tree.
    pub(super) fn due(&self) -> Instant {
        match self.phase {
            Phase::Running => self.limit().0,
            Phase::Asked(at)
            | Phase::Closing(at)
            | Phase::Ending(at)
            | Phase::Killed(at)
            | Phase::Draining(at) => at,
        }
    }

    /// The nearest limit, and what passing it means.
    fn limit(&self) -> (Instant, ChildEnd) {
        let mut nearest = (self.started + self.limits.total, ChildEnd::TimedOutTotal);
        let quiet = match self.heard {
            None => (self.started + self.limits.first_output, ChildEnd::TimedOutFirst),
            Some(at) => (at + self.limits.idle, ChildEnd::TimedOutIdle),
        };
        let stuck = self.no_progress.map(|span| (self.progress + span, ChildEnd::TimedOutProgress));
        for other in [Some(quiet), stuck].into_iter().flatten() {
            if other.0 < nearest.0 {
                nearest = other;
            }
        }
        nearest
    }

    /// A byte came.
    pub(super) fn heard(&mut self, now: Instant) {
        self.heard = Some(now);
    }

    /// The listener calls it progress.
    pub(super) fn progress(&mut self, now: Instant) {
        self.progress = now;
    }

    /// The leader ended.
    pub(super) fn leader_ended(&mut self, now: Instant) {
        self.phase = Phase::Draining(now + limits::CHILD_DRAIN);
    }

    /// The first reason to end it wins. Returns what to do now, if anything.
    pub(super) fn end(&mut self, end: ChildEnd, now: Instant) -> Option<Duty> {
        if self.end.is_some() || !matches!(self.phase, Phase::Running) {
            return None;
        }
        self.end = Some(end);
        match self.manner.asked {
            // Whoever floods us is not listened to for an answer.
            Some(span) if end != ChildEnd::OverCap => {
                self.phase = Phase::Asked(now + span);
                Some(Duty::Tell(end))
            }
            _ => {
                self.phase = Phase::Ending(now + self.manner.term);
                Some(Duty::Terminate)
            }
        }
    }

    /// The listener is done with it: its input is closed now, and it has `patience` to end by itself.
    pub(super) fn closed(&mut self, patience: Duration, now: Instant) -> bool {
        let may = matches!(self.phase, Phase::Running | Phase::Asked(_));
        if may {
            let patience = if self.end.is_some() { patience.min(self.manner.closing) } else { patience };
            self.phase = Phase::Closing(now + patience);
        }
        may
    }

    /// The moment [`Self::due`] has come.
    pub(super) fn pass(&mut self, now: Instant) -> Option<Duty> {
        match self.phase {
            Phase::Running => {
                let (_, end) = self.limit();
                self.end(end, now)
            }
            Phase::Asked(_) => {
                self.phase = Phase::Closing(now + self.manner.closing);
                Some(Duty::Close)
            }
            Phase::Closing(_) => {
                self.phase = Phase::Ending(now + self.manner.term);
                Some(Duty::Terminate)
            }
            Phase::Ending(_) => {
                self.phase = Phase::Killed(now + limits::CHILD_TERM_GRACE);
                Some(Duty::Kill)
            }
            Phase::Killed(_) => Some(Duty::Over(true)),
            Phase::Draining(_) => Some(Duty::Over(false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn watch(asked: Option<Duration>) -> (Watch, Instant) {
        let limits = ChildLimits {
            first_output: 10 * SECOND,
            idle: 5 * SECOND,
            total: 60 * SECOND,
            line_bytes_max: 1,
            stdout_bytes_max: 1,
        };
        let now = Instant::now();
        let manner = Manner { asked, closing: SECOND, term: SECOND };
        (Watch::new(limits, manner, Some(20 * SECOND), now), now)
    }

    /// Lets each due moment come, and writes down when it was and what had to be done.
    fn story(watch: &mut Watch, start: Instant) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let at = watch.due();
            let duty = watch.pass(at);
            told.push(format!("{}s {:?}", (at - start).as_secs(), duty.unwrap()));
            if matches!(duty, Some(Duty::Over(_))) {
                return told;
            }
        }
    }

    #[test]
    fn the_nearest_limit_counts_and_bytes_are_no_progress() {
        let (mut watch, now) = watch(None);
        assert_eq!(watch.limit(), (now + 10 * SECOND, ChildEnd::TimedOutFirst));
        watch.heard(now + 3 * SECOND);
        assert_eq!(watch.limit(), (now + 8 * SECOND, ChildEnd::TimedOutIdle));
        watch.heard(now + 18 * SECOND);
        assert_eq!(watch.limit(), (now + 20 * SECOND, ChildEnd::TimedOutProgress));
        watch.progress(now + 57 * SECOND);
        watch.heard(now + 57 * SECOND);
        assert_eq!(watch.limit(), (now + 60 * SECOND, ChildEnd::TimedOutTotal));
    }

    #[test]
    fn a_run_is_ended_by_signals() {
        let (mut watch, now) = watch(None);
        assert_eq!(story(&mut watch, now), ["10s Terminate", "11s Kill", "16s Over(true)"]);
    }

    #[test]
    fn a_dialogue_is_ended_by_words_first() {
        let (mut watch, now) = watch(Some(2 * SECOND));
        assert_eq!(
            story(&mut watch, now),
            ["10s Tell(TimedOutFirst)", "12s Close", "13s Terminate", "14s Kill", "19s Over(true)"]
        );
    }

    #[test]
    fn patience_is_shorter_after_a_limit() {
        let (mut ended, now) = watch(Some(2 * SECOND));
        assert_eq!(ended.end(ChildEnd::Cancelled, now), Some(Duty::Tell(ChildEnd::Cancelled)));
        assert_eq!(ended.end(ChildEnd::TimedOutTotal, now), None);
        assert!(ended.closed(30 * SECOND, now));
        assert_eq!((ended.due(), ended.end), (now + SECOND, Some(ChildEnd::Cancelled)));

        let (mut done, now) = watch(Some(2 * SECOND));
        assert!(done.closed(30 * SECOND, now));
        assert_eq!((done.due(), done.end), (now + 30 * SECOND, None));
        assert!(!done.closed(SECOND, now));
    }

    #[test]
    fn a_flood_is_not_asked() {
        let (mut watch, now) = watch(Some(2 * SECOND));
        assert_eq!(watch.end(ChildEnd::OverCap, now), Some(Duty::Terminate));
    }
}
