//! One child from start to end: feed, read, watch the limits, end it, sweep. A run and a dialogue are two ways to sit
//! beside it.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use std::time::Duration;

use super::leader::Leader;
use super::lines::{LineSplitter, Tail};
use super::notes::Note;
use super::spawn::{Started, spawn};
use super::tree::{TRACK_EVERY, Tree};
use super::watch::{Duty, Manner, Phase, Watch};
use super::{ChildEnd, ChildReport, ChildSpec, EnvValue, ProcessRoom, lookup};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::secret::scrub::Scrubber;

/// One read: as much as a pipe holds, so a flood costs few system calls. Not more: what is larger, an allocator maps and
/// unmaps anew for each child.
const READ_BYTES: usize = 64 * 1024;

/// Takes lines of stdout, without their newline.
pub(super) type OnLine<'a> = dyn FnMut(&[u8]) + Send + 'a;

/// What one step came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// It goes on.
    On,
    /// A limit was passed, or the run was cancelled; told once.
    Told(ChildEnd),
    /// The leader ended and its pipes are read, or it was given up.
    Over,
}

/// Ends the tree if the run is dropped on the way (its task was aborted).
struct KillOnDrop(Option<Tree>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let Some(tree) = self.0.take() else { return };
        // Without waiting between the rounds: a drop must not block, and the mark stays for the next look.
        for _ in 0..3 {
            if tree.kill_once().is_empty() {
                break;
            }
        }
    }
}

/// A child that somebody sits beside. Fields are dropped in this order: the tree first, its note last, when nothing
/// is left to be found by it.
pub(super) struct Attended {
    guard: KillOnDrop,
    leader: Leader,
    stdin: Option<pipe::Sender>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    /// What is still to be written to its input; `written` bytes of it are.
    outgoing: Vec<u8>,
    written: usize,
    /// Its input is closed when all is written.
    closing: bool,
    out_buffer: Vec<u8>,
    err_buffer: Vec<u8>,
    watch: Watch,
    track_at: Instant,
    lines: LineSplitter,
    tail: Tail,
    stdout_bytes: u64,
    stdout_bytes_max: u64,
    killed: usize,
    given_up: bool,
    secrets: Scrubber,
    mark: String,
    _note: Note,
}

impl Attended {
    pub(super) async fn start(
        room: &ProcessRoom,
        spec: ChildSpec,
        manner: Manner,
        no_progress: Option<Duration>,
    ) -> Result<Self, PortError> {
        let program = lookup::find(&spec.program, &spec.env)?;
        lookup::check(&program, &spec.env)?;
        let mark = crate::secret::random::random_hex(16);
        let mut note = Note::open(&room.notes_dir, &mark).map_err(|error| {
            let doing = format!("note a child in {}", room.notes_dir.display());
            PortError::caused(ErrorClass::Config, doing, error)
        })?;
        let Started { leader, stdin, stdout, stderr } = spawn(&program, &spec, &mark).await?;
        let tree = Tree::marked(&mark).led_by(leader.pid()).born_now();
        note.leader(&tree);
        let guard = KillOnDrop(Some(tree));
        let now = Instant::now();
        Ok(Self {
            guard,
            leader,
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            outgoing: spec.stdin,
            written: 0,
            closing: false,
            out_buffer: vec![0; READ_BYTES],
            err_buffer: vec![0; READ_BYTES / 4],
            watch: Watch::new(spec.limits, manner, no_progress, now),
            track_at: now + TRACK_EVERY,
            lines: LineSplitter::new(spec.limits.line_bytes_max),
            tail: Tail::new(limits::CHILD_STDERR_BYTES_MAX),
            stdout_bytes: 0,
            stdout_bytes_max: spec.limits.stdout_bytes_max as u64,
            killed: 0,
            given_up: false,
            secrets: secrets(&spec.env.0),
            mark,
            _note: note,
        })
    }

    /// Bytes that wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.outgoing.len() - self.written
    }

    /// Its input is still open.
    pub(super) fn is_open(&self) -> bool {
        self.stdin.is_some() && !self.closing
    }

    /// Lines skipped so far.
    pub(super) fn skipped(&self) -> u64 {
        self.lines.skipped
    }

    /// More for its input. What comes after a close is dropped.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        if self.is_open() {
            self.outgoing.drain(..self.written);
            self.written = 0;
            self.outgoing.extend_from_slice(bytes);
        }
    }

    /// Its input ends with what was said so far.
    pub(super) fn close_input(&mut self) {
        self.closing = true;
        self.close_if_written();
    }

    fn close_if_written(&mut self) {
        if self.closing && self.waiting() == 0 {
            self.stdin = None;
            self.outgoing = Vec::new();
            self.written = 0;
        }
    }

    /// The listener is done with it: it has `patience` to end by itself.
    pub(super) fn close(&mut self, patience: Duration) {
        if self.watch.closed(patience, Instant::now()) {
            self.close_input();
        }
    }

    /// The listener calls what it heard progress.
    pub(super) fn progress(&mut self) {
        self.watch.progress(Instant::now());
    }

    /// Waits for the next thing and deals with it; `on_line` gets the lines in it. May be dropped while it waits.
    pub(super) async fn step(&mut self, cancel: &CancellationToken, on_line: &mut OnLine<'_>) -> Step {
        let leader_ended = matches!(self.watch.phase, Phase::Draining(_));
        if leader_ended && self.stdout.is_none() && self.stderr.is_none() {
            return Step::Over;
        }
        let cancellable = self.watch.end.is_none() && !leader_ended;
        let due = self.watch.due();
        let waiting = self.outgoing.get(self.written..).unwrap_or_default();
        tokio::select! {
            written = write_some(self.stdin.as_mut(), waiting), if self.stdin.is_some() && !waiting.is_empty() => {
                match written {
                    // A child that does not want its input (EPIPE) is judged by what it says, not by this.
                    0 => self.stdin = None,
                    bytes => self.written += bytes,
                }
                self.close_if_written();
            }
            read = read_some(self.stdout.as_mut(), &mut self.out_buffer), if self.stdout.is_some() => match read {
                0 => self.stdout = None,
                bytes => {
                    self.watch.heard(Instant::now());
                    if self.take_stdout(bytes, on_line) {
                        return self.end(ChildEnd::OverCap);
                    }
                }
            },
            read = read_some(self.stderr.as_mut(), &mut self.err_buffer), if self.stderr.is_some() => match read {
                0 => self.stderr = None,
                bytes => {
                    self.watch.heard(Instant::now());
                    self.tail.push(self.err_buffer.get(..bytes).unwrap_or_default());
                }
            },
            () = self.leader.ended(), if !leader_ended => {
                self.stdin = None;
                self.watch.leader_ended(Instant::now());
            },
            () = cancel.cancelled(), if cancellable => return self.end(ChildEnd::Cancelled),
            () = sleep_until(self.track_at), if !leader_ended => {
                if let Some(tree) = &mut self.guard.0 {
                    tree.track();
                }
                self.track_at = Instant::now() + TRACK_EVERY;
            },
            () = sleep_until(due) => {
                let duty = self.watch.pass(Instant::now());
                return self.fulfil(duty).await;
            },
        }
        Step::On
    }

    fn end(&mut self, end: ChildEnd) -> Step {
        match self.watch.end(end, Instant::now()) {
            Some(Duty::Tell(end)) => return Step::Told(end),
            Some(_) => self.terminate(),
            None => {}
        }
        Step::On
    }

    fn terminate(&mut self) {
        self.stdin = None;
        if let Some(tree) = &mut self.guard.0 {
            tree.terminate_group();
        }
    }

    async fn fulfil(&mut self, duty: Option<Duty>) -> Step {
        match duty {
            Some(Duty::Tell(end)) => return Step::Told(end),
            // Whatever was still to be said: nobody read it in time.
            Some(Duty::Close) => self.stdin = None,
            Some(Duty::Terminate) => self.terminate(),
            Some(Duty::Kill) => {
                if let Some(tree) = self.guard.0.clone() {
                    self.killed += tree.kill().await.len().saturating_sub(1);
                }
            }
            Some(Duty::Over(given_up)) => {
                self.given_up = given_up;
                return Step::Over;
            }
            None => {}
        }
        Step::On
    }

    /// Takes bytes of stdout; `true` when they are too many. Once the child is being ended for that, no more lines
    /// are made of what still comes.
    fn take_stdout(&mut self, bytes: usize, on_line: &mut OnLine<'_>) -> bool {
        self.stdout_bytes += bytes as u64;
        let end = self.watch.end;
        if end == Some(ChildEnd::OverCap) {
            return false;
        }
        if self.stdout_bytes > self.stdout_bytes_max {
            return end.is_none();
        }
        self.lines.push(self.out_buffer.get(..bytes).unwrap_or_default(), on_line);
        false
    }

    /// After [`Step::Over`]: sweeps, and says how it went. A last line without a newline is handed on here.
    pub(super) async fn finish(mut self, on_line: &mut OnLine<'_>) -> ChildReport {
        let tree = self.guard.0.clone().unwrap_or_else(|| Tree::marked(&self.mark));
        let swept =
            tree.kill().await.iter().filter(|process| process.pid != self.leader.pid()).count() + self.killed;
        // Waited for only now: until here its number could not be given to another process.
        let ended = if self.given_up { None } else { self.leader.reap() };
        self.guard.0 = None;
        let end = self.watch.end.or(ended).unwrap_or(ChildEnd::Signalled(0));
        if end != ChildEnd::OverCap {
            self.lines.finish(on_line);
        }
        let tail = std::mem::replace(&mut self.tail, Tail::new(0)).into_text();
        ChildReport {
            end,
            stderr_tail: self.secrets.scrub_owned(tail),
            lines_skipped: self.lines.skipped,
            stdout_bytes: self.stdout_bytes,
            swept: u32::try_from(swept).unwrap_or(u32::MAX),
        }
    }
}

impl ChildReport {
    /// Of a child that was never started.
    pub(super) fn not_started(end: ChildEnd) -> Self {
        Self { end, stderr_tail: String::new(), lines_skipped: 0, stdout_bytes: 0, swept: 0 }
    }
}

/// A child that prints its own key in an error must not bring it into our records.
fn secrets(env: &std::collections::BTreeMap<String, EnvValue>) -> Scrubber {
    let scrubber = Scrubber::new();
    for value in env.values() {
        if let EnvValue::Secret(secret) = value {
            scrubber.register(secret);
        }
    }
    scrubber
}

/// Bytes read; 0 at the end, and after an error, which for a pipe means the same.
async fn read_some<R: AsyncRead + Unpin>(pipe: Option<&mut R>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => 0,
    }
}

/// Bytes written; 0 when nobody reads any more.
async fn write_some(pipe: Option<&mut pipe::Sender>, bytes: &[u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.write(bytes).await.unwrap_or(0),
        None => 0,
    }
}
