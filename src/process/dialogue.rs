//! A two-way talk with a child: lines come as they are written, lines may be said at any time, and the end is first
//! asked for in the words of the protocol that both speak.

use std::collections::VecDeque;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::attended::{Attended, Step};
use super::watch::Manner;
use super::{ChildEnd, ChildReport, ChildSpec, ProcessRoom};
use crate::model::class::PortError;
use crate::model::limits;

const MANNER: Manner = Manner {
    asked: Some(limits::DIALOGUE_ASKED_GRACE),
    closing: limits::DIALOGUE_CLOSING_GRACE,
    term: limits::DIALOGUE_TERM_GRACE,
};

/// What is heard next.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line of its output, without the newline.
    Line(Vec<u8>),
    /// A line over the cap was skipped: what it said is lost. Lines of the same read come before this.
    Skipped,
    /// A limit was passed, or the talk was cancelled; heard once. Say goodbye in the protocol and go on listening, or
    /// call [`Dialogue::close`]: [`limits::DIALOGUE_ASKED_GRACE`] from now its input is closed in any case.
    Due(ChildEnd),
    /// It ended, or was ended. Nothing comes any more.
    Over,
}

/// A running child that is talked with. Somebody has to listen all the time: reading, writing and the limits move only
/// inside [`Self::next`]. When this is dropped, its tree is killed.
pub struct Dialogue {
    child: Attended,
    cancel: CancellationToken,
    /// Lines of one read, so bounded by its size and the cap of a line.
    queue: VecDeque<Heard>,
    over: bool,
}

impl std::fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialogue").field("over", &self.over).finish_non_exhaustive()
    }
}

impl Dialogue {
    pub(super) async fn open(
        room: &ProcessRoom,
        spec: ChildSpec,
        no_progress: Duration,
        cancel: &CancellationToken,
    ) -> Result<Self, PortError> {
        let child = Attended::start(room, spec, MANNER, Some(no_progress)).await?;
        Ok(Self { child, cancel: cancel.clone(), queue: VecDeque::new(), over: false })
    }

    /// The next thing. May be dropped while it waits; nothing is lost. After [`Heard::Over`] it is that again.
    pub async fn next(&mut self) -> Heard {
        loop {
            if let Some(heard) = self.queue.pop_front() {
                return heard;
            }
            if self.over {
                return Heard::Over;
            }
            let skipped = self.child.skipped();
            let queue = &mut self.queue;
            let mut on_line = |line: &[u8]| queue.push_back(Heard::Line(line.to_vec()));
            match self.child.step(&self.cancel, &mut on_line).await {
                Step::On => {}
                Step::Told(end) => self.queue.push_back(Heard::Due(end)),
                Step::Over => self.over = true,
            }
            if self.child.skipped() > skipped {
                self.queue.push_back(Heard::Skipped);
            }
        }
    }

    /// Writes a line and its newline, from the next [`Self::next`] on. Returns `false`, and says nothing, when its
    /// input is closed, or when more than [`limits::DIALOGUE_OUT_BYTES_MAX`] would wait for a child that does not read.
    #[must_use]
    pub fn say(&mut self, line: &[u8]) -> bool {
        let fits = self.child.waiting() + line.len() < limits::DIALOGUE_OUT_BYTES_MAX;
        if !fits || !self.child.is_open() {
            return false;
        }
        self.child.say(line);
        self.child.say(b"\n");
        true
    }

    /// What was heard last was progress, and not only a sign of life.
    pub fn progress(&mut self) {
        self.child.progress();
    }

    /// Closes its input after what was said, and leaves it [`limits::DIALOGUE_PATIENCE`] to end by itself (less if a
    /// limit was passed); then TERM, KILL, and a sweep of its tree. What it still says is dropped.
    pub async fn close(mut self) -> ChildReport {
        self.child.close(limits::DIALOGUE_PATIENCE);
        let cancel = self.cancel.clone();
        while !self.over && self.child.step(&cancel, &mut |_| {}).await != Step::Over {}
        self.child.finish(&mut |_| {}).await
    }
}
