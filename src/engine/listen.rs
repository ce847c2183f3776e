//! Runs a program whose event lines are known, and ends it early where waiting is no use: after its last word, when it
//! says that it waits for what does not come, when it only repeats itself.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::dialect::{Heard, Stop, Transcript};
use super::port_failure;
use crate::model::limits;
use crate::model::run::{EngineError, RunLimits};
use crate::process::sandbox::Sandbox;
use crate::process::{ChildEnd, ChildEnv, ChildLimits, ChildSpec, ProcessRoom};

/// A program that stays after its final event is ended: known of some, and the answer is there.
const LINGER: Duration = Duration::from_secs(10);

/// Retries and keep-alives are signs of life, but not for longer than this.
const NO_PROGRESS: Duration = Duration::from_secs(5 * 60);

/// What is to be run, besides its limits.
pub(super) struct Start {
    pub program: std::ffi::OsString,
    pub args: Vec<std::ffi::OsString>,
    pub env: ChildEnv,
    pub cwd: std::path::PathBuf,
    pub stdin: Vec<u8>,
    pub rights: Sandbox,
}

/// A run with an answer, and how many processes it left behind that were ended.
pub(super) struct Listened {
    pub heard: Heard,
    pub swept: u32,
}

/// What the listener tells the one who waits.
#[derive(Default)]
struct Signs {
    progress: AtomicU64,
    ended: AtomicBool,
    hopeless: AtomicBool,
    changed: Notify,
}

/// Runs the program to its end and judges what it said.
pub(super) async fn listen(
    room: &ProcessRoom,
    start: Start,
    run_limits: RunLimits,
    cancel: &CancellationToken,
    mut transcript: Transcript,
) -> Result<Listened, EngineError> {
    let Start { program, args, env, cwd, stdin, rights } = start;
    let limits = ChildLimits {
        first_output: run_limits.first_event,
        idle: run_limits.idle,
        total: run_limits.total,
        line_bytes_max: limits::CHILD_LINE_BYTES_MAX,
        stdout_bytes_max: limits::CHILD_STDOUT_BYTES_MAX,
    };
    let spec = ChildSpec { program, args, env, cwd, stdin, limits };
    let (spec, unconfined) = room.confined(spec, &rights).await.map_err(|error| port_failure(&error))?;
    let signs = Arc::new(Signs::default());
    let enough = cancel.child_token();
    let telling = Arc::clone(&signs);
    let mut on_line = |line: &[u8]| {
        transcript.take(line);
        let told = transcript.told();
        telling.progress.store(told.progress, Ordering::Relaxed);
        telling.ended.store(told.end.is_some(), Ordering::Relaxed);
        telling.hopeless.store(told.hopeless.is_some(), Ordering::Relaxed);
        telling.changed.notify_one();
    };
    let mut stop = None;
    let report = {
        let mut run = pin!(room.run(spec, &enough, &mut on_line));
        let mut wait = pin!(wait_for_stop(&signs));
        loop {
            tokio::select! {
                report = &mut run => break report,
                why = &mut wait, if stop.is_none() => {
                    stop = Some(why);
                    enough.cancel();
                }
            }
        }
    };
    let report = report.map_err(|error| port_failure(&error))?;
    // It went by itself, or somebody else wanted it gone, before our stop took hold.
    let stop = stop.filter(|_| report.end == ChildEnd::Cancelled && !cancel.is_cancelled());
    let swept = report.swept;
    transcript.verdict(&report, stop, run_limits).map(|mut heard| {
        heard.remarks.extend(unconfined.map(str::to_owned));
        Listened { heard, swept }
    })
}

/// Returns when the program should be ended.
async fn wait_for_stop(signs: &Signs) -> Stop {
    let mut progress = 0;
    let mut progressed = Instant::now();
    let mut ended_at: Option<Instant> = None;
    loop {
        if signs.hopeless.load(Ordering::Relaxed) {
            return Stop::Hopeless;
        }
        let seen = signs.progress.load(Ordering::Relaxed);
        let now = Instant::now();
        if seen != progress {
            (progress, progressed) = (seen, now);
            // Whoever goes on after a final event has not said the last word.
            ended_at = None;
        }
        if signs.ended.load(Ordering::Relaxed) {
            ended_at = ended_at.or(Some(now));
        } else {
            ended_at = None;
        }
        let (due, why) = match ended_at {
            Some(at) => (at + LINGER, Stop::Lingered),
            None => (progressed + NO_PROGRESS, Stop::NoProgress),
        };
        if now >= due {
            return why;
        }
        tokio::select! {
            () = signs.changed.notified() => {}
            () = sleep_until(due) => {}
        }
    }
}

/// For the reviewer: a program that leaves processes behind may have been doing more than answering.
pub(super) fn left_behind(swept: u32) -> Option<String> {
    (swept > 0).then(|| format!("the program left {swept} processes behind; they were ended"))
}
