//! What the end of a child means for its run, apart from what it said. Pure.

use crate::model::limits;
use crate::model::run::{RunFailure, RunLimits};
use crate::model::text::{cut, short_size};
use crate::model::time::short_span;
use crate::process::{ChildEnd, ChildReport};

/// Of stderr, what goes into an error text.
const HINT_BYTES_MAX: usize = 600;

/// We ended it: this is said before anything that the program says.
pub(super) fn by_us(end: ChildEnd, run_limits: RunLimits) -> Option<(RunFailure, String)> {
    Some(match end {
        ChildEnd::Cancelled => (RunFailure::Cancelled, "it was cancelled".to_owned()),
        ChildEnd::TimedOutFirst => {
            (RunFailure::TimeoutIdle, format!("it said nothing for {}", short_span(run_limits.first_event)))
        }
        ChildEnd::TimedOutIdle | ChildEnd::TimedOutProgress => {
            (RunFailure::TimeoutIdle, format!("it fell silent for {}", short_span(run_limits.idle)))
        }
        ChildEnd::TimedOutTotal => {
            (RunFailure::TimeoutTotal, format!("it took longer than {}", short_span(run_limits.total)))
        }
        ChildEnd::OverCap => {
            let most = short_size(limits::CHILD_STDOUT_BYTES_MAX as u64);
            (RunFailure::Protocol, format!("it wrote more than {most}"))
        }
        ChildEnd::Exited(_) | ChildEnd::Signalled(_) => return None,
    })
}

/// It ended by itself without a word about a failure.
pub(super) fn naturally(end: ChildEnd) -> (RunFailure, String) {
    match end {
        // Of shells and `env`: what they were to start is not there, or may not be started.
        ChildEnd::Exited(126) => {
            (RunFailure::Config, "exit status 126: a program is not executable".to_owned())
        }
        ChildEnd::Exited(127) => (RunFailure::Config, "exit status 127: a program was not found".to_owned()),
        ChildEnd::Exited(code) => (RunFailure::Exit, format!("exit status {code}")),
        ChildEnd::Signalled(9) => {
            (RunFailure::Exit, "ended by signal 9, by hand or because memory ran out".to_owned())
        }
        ChildEnd::Signalled(signal) => (RunFailure::Exit, format!("ended by signal {signal}")),
        _ => (RunFailure::Protocol, "it was ended".to_owned()),
    }
}

/// With the last lines of stderr, which is where programs say what they miss.
pub(super) fn with_hint(what: &str, report: &ChildReport) -> String {
    let tail = report.stderr_tail.trim();
    let start = tail.ceil_char_boundary(tail.len().saturating_sub(HINT_BYTES_MAX));
    match cut(tail.get(start..).unwrap_or_default(), HINT_BYTES_MAX).trim() {
        "" => what.to_owned(),
        hint => format!("{what}: {hint}"),
    }
}
