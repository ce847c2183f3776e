//! One child from start to end: feed, read, watch the limits, end it, sweep.

use std::pin::pin;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::exit::ExitWatch;
use super::lines::{LineSplitter, Tail};
use super::notes::Note;
use super::tree::{TRACK_EVERY, Tree};
use super::{ChildEnd, ChildLimits, ChildReport, ChildSpec, EnvValue, ProcessRoom, lookup, spawn};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::secret::scrub::Scrubber;

/// One read: larger than a pipe, so a flood costs few system calls.
const READ_BYTES: usize = 128 * 1024;

/// Where the child is on its way.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Runs within its limits.
    Running,
    /// Was asked to end; is killed at this moment.
    Ending(Instant),
    /// Was killed; given up at this moment (a process in the kernel's hands cannot be killed).
    Killed(Instant),
    /// The leader ended; its pipes are read until this moment.
    Draining(Instant),
}

/// The clocks of one child. All monotonic: a changed wall clock ends no run.
struct Watch {
    limits: ChildLimits,
    started: Instant,
    /// Of the last byte on either pipe.
    heard: Option<Instant>,
    phase: Phase,
    end: Option<ChildEnd>,
}

impl Watch {
    /// The next moment at which something is due, other than a look at the tree.
    fn due(&self) -> Instant {
        match self.phase {
            Phase::Running => self.limit().0,
            Phase::Ending(at) | Phase::Killed(at) | Phase::Draining(at) => at,
        }
    }

    /// The nearest limit, and what passing it means.
    fn limit(&self) -> (Instant, ChildEnd) {
        let total = (self.started + self.limits.total, ChildEnd::TimedOutTotal);
        let quiet = match self.heard {
            None => (self.started + self.limits.first_output, ChildEnd::TimedOutFirst),
            Some(at) => (at + self.limits.idle, ChildEnd::TimedOutIdle),
        };
        if total.0 <= quiet.0 { total } else { quiet }
    }
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

impl KillOnDrop {
    fn tree(&mut self) -> Option<&mut Tree> {
        self.0.as_mut()
    }
}

pub(super) async fn run(
    room: &ProcessRoom,
    mut spec: ChildSpec,
    cancel: &CancellationToken,
    on_line: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<ChildReport, PortError> {
    if cancel.is_cancelled() {
        return Ok(Talk::new(&spec.limits, on_line).into_report(ChildEnd::Cancelled));
    }
    let program = lookup::find(&spec.program, &spec.env)?;
    lookup::check(&program, &spec.env)?;
    let mark = crate::secret::random::random_hex(16);
    // Until the end of this function: dropped last, when nothing of the tree is left to be found by it.
    let mut note = Note::open(&room.notes_dir, &mark).map_err(|error| {
        let doing = format!("note a child in {}", room.notes_dir.display());
        PortError::caused(ErrorClass::Config, doing, error)
    })?;
    let mut child = spawn::spawn(&program, &spec, &mark).await?;
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
    let mut guard = KillOnDrop(Some(Tree::marked(&mark).led_by(pid).born_now()));
    note.leader(pid);

    let stdin_text = std::mem::take(&mut spec.stdin);
    let mut talk = Talk::new(&spec.limits, on_line);
    let (given_up, end) = talk.watch(&mut child, stdin_text, &mut guard, cancel, &spec.limits).await;

    let tree = guard.0.clone().unwrap_or_else(|| Tree::marked(&mark));
    let swept = tree.kill().await.iter().filter(|process| process.pid != pid).count() + talk.killed;
    // Waited for only now: until here its number could not be given to another process.
    let status = if given_up { None } else { child.wait().await.ok() };
    guard.0 = None;
    let mut report = talk.into_report(end.unwrap_or_else(|| natural_end(status)));
    report.swept = u32::try_from(swept).unwrap_or(u32::MAX);
    report.stderr_tail = mask(report.stderr_tail, &spec);
    Ok(report)
}

fn natural_end(status: Option<std::process::ExitStatus>) -> ChildEnd {
    use std::os::unix::process::ExitStatusExt as _;
    match status.and_then(|status| status.code()) {
        Some(code) => ChildEnd::Exited(code),
        None => ChildEnd::Signalled(status.and_then(|status| status.signal()).unwrap_or(0)),
    }
}

/// A child that prints its own key in an error must not bring it into our records.
fn mask(text: String, spec: &ChildSpec) -> String {
    if text.is_empty() {
        return text;
    }
    let scrubber = Scrubber::new();
    for value in spec.env.0.values() {
        if let EnvValue::Secret(secret) = value {
            scrubber.register(secret);
        }
    }
    scrubber.scrub_owned(text)
}

/// What is heard from a child.
struct Talk<'a> {
    lines: LineSplitter,
    tail: Tail,
    stdout_bytes: u64,
    stdout_bytes_max: u64,
    killed: usize,
    on_line: &'a mut (dyn FnMut(&[u8]) + Send),
}

impl<'a> Talk<'a> {
    fn new(limits: &ChildLimits, on_line: &'a mut (dyn FnMut(&[u8]) + Send)) -> Self {
        Self {
            lines: LineSplitter::new(limits.line_bytes_max),
            tail: Tail::new(limits::CHILD_STDERR_BYTES_MAX),
            stdout_bytes: 0,
            stdout_bytes_max: limits.stdout_bytes_max as u64,
            killed: 0,
            on_line,
        }
    }

    fn into_report(mut self, end: ChildEnd) -> ChildReport {
        if end != ChildEnd::OverCap {
            self.lines.finish(self.on_line);
        }
        ChildReport {
            end,
            stderr_tail: self.tail.into_text(),
            lines_skipped: self.lines.skipped,
            stdout_bytes: self.stdout_bytes,
            swept: 0,
        }
    }

    /// Talks with the child until its leader ended and its pipes are closed or their time is up. Returns whether
    /// the leader was given up, and the end if it was of our making.
    async fn watch(
        &mut self,
        child: &mut Child,
        stdin_text: Vec<u8>,
        guard: &mut KillOnDrop,
        cancel: &CancellationToken,
        limits: &ChildLimits,
    ) -> (bool, Option<ChildEnd>) {
        let mut stdin = child.stdin.take();
        let mut feed = pin!(async move {
            if let Some(stdin) = &mut stdin {
                // A child that does not want its input (EPIPE) is judged by what it says, not by this.
                let _ = stdin.write_all(&stdin_text).await;
                let _ = stdin.shutdown().await;
            }
            drop(stdin);
        });
        let mut fed = false;
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let (mut out_buffer, mut err_buffer) = (vec![0_u8; READ_BYTES], vec![0_u8; READ_BYTES / 8]);
        let exit = ExitWatch::new(child);
        let started = Instant::now();
        let mut watch = Watch { limits: *limits, started, heard: None, phase: Phase::Running, end: None };
        let mut track_at = started + TRACK_EVERY;

        loop {
            let leader_ended = matches!(watch.phase, Phase::Draining(_));
            if leader_ended && stdout.is_none() && stderr.is_none() {
                return (false, watch.end);
            }
            tokio::select! {
                () = &mut feed, if !fed => fed = true,
                read = read_some(stdout.as_mut(), &mut out_buffer), if stdout.is_some() => match read {
                    0 => stdout = None,
                    bytes => {
                        watch.heard = Some(Instant::now());
                        if self.take_stdout(out_buffer.get(..bytes).unwrap_or_default(), watch.end) {
                            end_child(&mut watch, guard, ChildEnd::OverCap);
                        }
                    }
                },
                read = read_some(stderr.as_mut(), &mut err_buffer), if stderr.is_some() => match read {
                    0 => stderr = None,
                    bytes => {
                        watch.heard = Some(Instant::now());
                        self.tail.push(err_buffer.get(..bytes).unwrap_or_default());
                    }
                },
                () = exit.ended(), if !leader_ended => {
                    fed = true;
                    watch.phase = Phase::Draining(Instant::now() + limits::CHILD_DRAIN);
                },
                () = cancel.cancelled(), if watch.end.is_none() && !leader_ended => {
                    end_child(&mut watch, guard, ChildEnd::Cancelled);
                },
                () = sleep_until(track_at), if !leader_ended => {
                    if let Some(tree) = guard.tree() {
                        tree.track();
                    }
                    track_at = Instant::now() + TRACK_EVERY;
                },
                () = sleep_until(watch.due()) => match watch.phase {
                    Phase::Running => {
                        let (_, end) = watch.limit();
                        end_child(&mut watch, guard, end);
                    }
                    Phase::Ending(_) => {
                        if let Some(tree) = guard.tree() {
                            self.killed += tree.clone().kill().await.len().saturating_sub(1);
                        }
                        watch.phase = Phase::Killed(Instant::now() + limits::CHILD_TERM_GRACE);
                    }
                    Phase::Killed(_) => return (true, watch.end),
                    Phase::Draining(_) => return (false, watch.end),
                },
            }
        }
    }

    /// Takes bytes of stdout; `true` when they are too many. Once the child is being ended for that, no more lines
    /// are made of what still comes.
    fn take_stdout(&mut self, bytes: &[u8], end: Option<ChildEnd>) -> bool {
        self.stdout_bytes += bytes.len() as u64;
        if end == Some(ChildEnd::OverCap) {
            return false;
        }
        if self.stdout_bytes > self.stdout_bytes_max {
            return end.is_none();
        }
        self.lines.push(bytes, self.on_line);
        false
    }
}

/// Asks the child to end; the grace runs from now.
fn end_child(watch: &mut Watch, guard: &mut KillOnDrop, end: ChildEnd) {
    if watch.end.is_some() || !matches!(watch.phase, Phase::Running) {
        return;
    }
    watch.end = Some(end);
    watch.phase = Phase::Ending(Instant::now() + limits::CHILD_TERM_GRACE);
    if let Some(tree) = guard.tree() {
        tree.terminate_group();
    }
}

/// Bytes read; 0 at the end, and after an error, which for a pipe means the same.
async fn read_some<R: AsyncRead + Unpin>(pipe: Option<&mut R>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => 0,
    }
}
