//! What is asked of launchd, one call after another, as a machine without I/O: bring a job up from whatever state it is
//! in, or take it away.
//!
//! `bootout` returns before the job is gone, and a `bootstrap` in that time fails with error 5 and leaves nothing loaded:
//! so the old job is waited for, the load is tried again, and only a job that `print` shows running is a success.

use std::path::Path;
use std::time::Duration;

use super::calls::{Caller, PATIENT, QUICK};
use super::launchctl::Job;
use super::site::LABEL;
use super::{ServiceError, Site, exit_meaning};
use crate::process::call::Called;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// An old job may take the whole of its `ExitTimeOut`, 210 s.
const LEAVING_LOOKS_MAX: u32 = 480;

/// A start that opens a database takes seconds; `ThrottleInterval` may hold it back for 30.
const RUNNING_LOOKS_MAX: u32 = 120;

/// Loads that are refused before it is given up.
const BOOTSTRAPS_MAX: u32 = 6;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The job runs, from the file as it is now.
    Running,
    /// The job is not loaded.
    Gone,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Call `launchctl` with these, and tell what came of it.
    Call(Vec<String>),
    /// Wait.
    Wait(Duration),
    /// It runs.
    Running(Job),
    /// It is not loaded.
    Gone,
    /// Neither; the text says what is left.
    Failed(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Begin,
    Looked,
    BootedOut,
    Leaving,
    Enabled,
    Bootstrapped,
    Refused,
    Verifying,
    Waiting(Then),
}

/// What is asked after a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    LookLeaving,
    Bootstrap,
    LookRunning,
}

/// The machine. Call [`Machine::next`] with what the last call came to, until it says how it ended.
#[derive(Debug)]
pub struct Machine {
    goal: Goal,
    domain: String,
    target: String,
    file: String,
    at: At,
    looks: u32,
    bootstraps: u32,
    /// What launchd said against the last step.
    said: String,
    /// Seen running once; one that dies at once is seen only by a second look.
    seen: Option<u32>,
}

impl Machine {
    /// For the agent of a user.
    #[must_use]
    pub fn new(goal: Goal, uid: u32, file: &Path) -> Self {
        let domain = format!("gui/{uid}");
        Self {
            goal,
            target: format!("{domain}/{LABEL}"),
            domain,
            file: file.display().to_string(),
            at: At::Begin,
            looks: 0,
            bootstraps: 0,
            said: String::new(),
            seen: None,
        }
    }

    /// One step on. `answer`: of the last call; none at the beginning and after a wait.
    pub fn next(&mut self, answer: Option<&Called>) -> Step {
        match (self.at, answer) {
            (At::Begin, _) => self.print(At::Looked),
            (At::Looked, Some(called)) if called.is_ok() => {
                self.call(At::BootedOut, &["bootout", &self.target.clone()])
            }
            (At::Looked, Some(_)) => self.when_gone(),
            (At::BootedOut, Some(called)) => {
                self.heard(called);
                self.looks = 0;
                self.print(At::Leaving)
            }
            (At::Leaving, Some(called)) if called.is_ok() => {
                if self.looks >= LEAVING_LOOKS_MAX {
                    let said = self.said();
                    return Step::Failed(format!("the job that runs did not go{said}; it is still loaded"));
                }
                self.wait(Then::LookLeaving)
            }
            (At::Leaving, Some(_)) => self.when_gone(),
            (At::Enabled, Some(called)) if !called.is_ok() => {
                self.heard(called);
                Step::Failed(format!("launchd does not enable {LABEL}{}; it is not loaded", self.said()))
            }
            (At::Enabled, Some(_)) => self.bootstrap(),
            (At::Bootstrapped, Some(called)) if called.is_ok() => {
                self.looks = 0;
                self.print(At::Verifying)
            }
            (At::Bootstrapped, Some(called)) => {
                self.heard(called);
                // 125: this domain has no such session.
                if called.code == 125 {
                    return Step::Failed(format!(
                        "there is no graphical session of this user{}: log in at the screen once; nothing is loaded",
                        self.said()
                    ));
                }
                self.print(At::Refused)
            }
            // Somebody else loaded it meanwhile, or the refusal was about a job that is there.
            (At::Refused, Some(called)) if called.is_ok() => self.verify(&Job::parse(&called.stdout)),
            (At::Refused, Some(_)) => {
                if self.bootstraps >= BOOTSTRAPS_MAX {
                    return Step::Failed(format!(
                        "launchd refused the job {BOOTSTRAPS_MAX} times{}; it is not loaded. Look at the file with \
                         `plutil -lint`, and at Login Items in the settings of the system",
                        self.said()
                    ));
                }
                self.wait(Then::Bootstrap)
            }
            (At::Verifying, Some(called)) if called.is_ok() => self.verify(&Job::parse(&called.stdout)),
            (At::Verifying, Some(called)) => {
                self.heard(called);
                Step::Failed(format!(
                    "launchd took the job and lost it again{}; it is not loaded",
                    self.said()
                ))
            }
            (At::Waiting(Then::LookLeaving), _) => self.print(At::Leaving),
            (At::Waiting(Then::Bootstrap), _) => self.bootstrap(),
            (At::Waiting(Then::LookRunning), _) => self.print(At::Verifying),
            (_, None) => Step::Failed("a call to launchd came to nothing".to_owned()),
        }
    }

    fn when_gone(&mut self) -> Step {
        match self.goal {
            Goal::Gone => Step::Gone,
            // Before the load: what is in the override database outlives the file.
            Goal::Running => self.call(At::Enabled, &["enable", &self.target.clone()]),
        }
    }

    fn bootstrap(&mut self) -> Step {
        self.bootstraps += 1;
        let (domain, file) = (self.domain.clone(), self.file.clone());
        self.call(At::Bootstrapped, &["bootstrap", &domain, &file])
    }

    fn verify(&mut self, job: &Job) -> Step {
        if job.is_running() && self.seen.is_some() && self.seen == job.pid {
            return Step::Running(job.clone());
        }
        self.seen = job.pid.filter(|_| job.is_running());
        let ended = job.last_exit.filter(|_| self.seen.is_none());
        if let Some(code) = ended
            && (code != 0 || job.state == "not running" || job.state == "waiting")
        {
            let meaning = exit_meaning(code).map(|text| format!(" ({text})")).unwrap_or_default();
            return Step::Failed(format!("it ended at once with exit code {code}{meaning}; it is loaded"));
        }
        if self.looks >= RUNNING_LOOKS_MAX {
            return Step::Failed(format!("it is loaded and does not run: its state is `{}`", job.state));
        }
        self.wait(Then::LookRunning)
    }

    fn print(&mut self, at: At) -> Step {
        self.looks += 1;
        self.call(at, &["print", &self.target.clone()])
    }

    fn wait(&mut self, then: Then) -> Step {
        self.at = At::Waiting(then);
        let longer = if then == Then::Bootstrap { 1 << self.bootstraps.min(5) } else { 1 };
        Step::Wait(LOOK_EVERY * longer)
    }

    fn call(&mut self, at: At, args: &[&str]) -> Step {
        self.at = at;
        Step::Call(args.iter().map(|arg| (*arg).to_owned()).collect())
    }

    fn heard(&mut self, called: &Called) {
        if !called.is_ok() {
            self.said = crate::model::text::one_line(called.complaint(), 200);
        }
    }

    fn said(&self) -> String {
        if self.said.is_empty() { String::new() } else { format!(" ({})", self.said) }
    }
}

/// Runs the machine to its end. The process of the job, or `None` where it is gone.
///
/// # Errors
/// It ended in neither; the text says what is left.
pub async fn drive(goal: Goal, site: &Site, caller: &dyn Caller) -> Result<Option<Job>, ServiceError> {
    let mut machine = Machine::new(goal, site.uid, &site.file());
    let mut answer = None;
    loop {
        match machine.next(answer.take().as_ref()) {
            Step::Call(args) => {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let time = if args.first() == Some(&"bootout") { PATIENT } else { QUICK };
                answer = Some(caller.call("launchctl", &args, time).await?);
            }
            Step::Wait(time) => caller.pause(time).await,
            Step::Running(job) => return Ok(Some(job)),
            Step::Gone => return Ok(None),
            Step::Failed(text) => {
                return Err(ServiceError::new(text).hint("workagent doctor looks at the rest"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
