//! What a whole run came to: the transcript and how the process ended, in the order of distrust. Pure.

use super::{Answer, Transcript};
use crate::engine::ended::{by_us, naturally, with_hint};
use crate::engine::notices;
use crate::model::limits;
use crate::model::run::{EngineError, RunFacts, RunFailure, RunLimits, Usage};
use crate::model::text::short_size;
use crate::process::{ChildEnd, ChildReport};

/// Of stderr, the end is looked at: programs say there what they died of.
const STDERR_BYTES_READ: usize = 2 * 1024;

/// Why we had the process ended before its limits were up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its final event was there, and it did not go.
    Lingered,
    /// It said that it waits for something that no retry brings.
    Hopeless,
    /// It only repeated itself.
    NoProgress,
}

/// A run that has an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The answer.
    pub answer: Answer,
    /// Tokens and money, as told.
    pub usage: Usage,
    /// Session, model, version, as told.
    pub facts: RunFacts,
    /// For the reviewer: refused tools, an odd end.
    pub remarks: Vec<String>,
}

impl Transcript {
    /// The verdict. `stop` is set if the end `Cancelled` was our own doing for that reason.
    ///
    /// # Errors
    /// The run has no answer, with what it cost all the same.
    pub fn verdict(
        mut self,
        report: &ChildReport,
        stop: Option<Stop>,
        run_limits: RunLimits,
    ) -> Result<Heard, EngineError> {
        self.reader.end(&mut self.told);
        let moment = self.moment();
        let Self { reader, told, .. } = self;
        let failed = |failure, what: &str| {
            let what = match &told.trouble {
                Some(trouble) if !what.contains(trouble.as_str()) => {
                    format!("{what}; before that: {trouble}")
                }
                _ => what.to_owned(),
            };
            Err(EngineError { failure, detail: with_hint(&what, report), usage: told.usage.clone() })
        };
        let said_its_last = matches!(told.end, Some(Ok(_)));
        match stop {
            Some(Stop::Hopeless) => {
                let (failure, what) = told.hopeless.clone().unwrap_or((RunFailure::Network, String::new()));
                return failed(failure, &what);
            }
            Some(Stop::NoProgress) => return failed(RunFailure::TimeoutIdle, "it only repeated itself"),
            Some(Stop::Lingered) => {}
            None => {
                let ours = by_us(report.end, run_limits);
                // Time that ran out after the last word takes nothing from it; whoever cancelled wants none of it.
                let late = matches!(
                    report.end,
                    ChildEnd::TimedOutFirst
                        | ChildEnd::TimedOutIdle
                        | ChildEnd::TimedOutProgress
                        | ChildEnd::TimedOutTotal
                );
                if let Some((failure, what)) = ours.filter(|_| !(late && said_its_last)) {
                    return failed(failure, &what);
                }
            }
        }
        let answer = match &told.end {
            // Its own words are enough; what stands on stderr beside them is noise.
            Some(Err((failure, what))) => {
                let (failure, detail) = (failure.clone(), what.clone());
                return Err(EngineError { failure, detail, usage: told.usage });
            }
            // What was skipped may have been the answer, or a part of it.
            _ if report.lines_skipped > 0 => {
                let most = short_size(limits::CHILD_LINE_BYTES_MAX as u64);
                return failed(
                    RunFailure::Protocol,
                    &format!("line too long: it wrote a line of more than {most}"),
                );
            }
            Some(Ok(answer)) => answer.clone(),
            None => {
                let tail = report.stderr_tail.trim();
                let start = tail.ceil_char_boundary(tail.len().saturating_sub(STDERR_BYTES_READ));
                let tail = tail.get(start..).unwrap_or_default();
                let by_words = || {
                    let trouble = || notices::failure(told.trouble.as_deref()?, None, &moment);
                    notices::failure(tail, None, &moment).or_else(trouble)
                };
                return match report.end {
                    ChildEnd::Exited(0) if told.lines == 0 => {
                        failed(by_words().unwrap_or(RunFailure::Empty), "it printed nothing")
                    }
                    ChildEnd::Exited(0) => {
                        failed(RunFailure::Protocol, "its output ended before its final event")
                    }
                    end => {
                        let code = match end {
                            ChildEnd::Exited(code) => reader.of_exit(code, &moment),
                            _ => None,
                        };
                        let (by_end, what) = naturally(end);
                        // A signal says nothing about the words before it.
                        let words = matches!(end, ChildEnd::Exited(_)).then(by_words).flatten();
                        failed(code.or(words).unwrap_or(by_end), &what)
                    }
                };
            }
        };
        let mut remarks = told.remarks;
        if !told.denied.is_empty() {
            remarks.push(format!("it was refused {}", told.denied.join(", ")));
        }
        match report.end {
            ChildEnd::Exited(0) => {}
            ChildEnd::Exited(_) | ChildEnd::Signalled(_) => {
                remarks
                    .push(format!("after its answer the program ended badly: {}", naturally(report.end).1));
            }
            _ => remarks.push("after its answer the program did not end by itself; it was ended".to_owned()),
        }
        Ok(Heard { answer, usage: told.usage, facts: told.facts, remarks })
    }
}
