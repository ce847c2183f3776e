//! Starts in a row, counted in the state folder: launchd starts a job that fails again and again, for ever.
//!
//! systemd has limits of its own. Under launchd the daemon counts itself: what only a person can mend, and too many
//! starts in too short a time, end with exit code 0, which `KeepAlive = {SuccessfulExit = false}` takes for the end.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::plist::SUPERVISOR_VARIABLE;
use crate::model::environment::Environment;
use crate::model::exit;
use crate::model::time::Timestamp;

/// Starts within [`WINDOW`]; launchd holds each back by 30 s. The same numbers as in the systemd unit.
const STARTS_MAX: usize = 5;

/// Starts longer ago are forgotten.
const WINDOW: Duration = Duration::from_secs(10 * 60);

/// Exit codes that no further start mends: as `RestartPreventExitStatus=` of the systemd unit.
const FOR_A_PERSON: [u8; 4] = [exit::USAGE, exit::DATABASE, exit::NOT_ALLOWED, exit::CONFIG];

/// The file in the state directory.
const FILE: &str = "starts.json";

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Starts that came to no orderly end yet, the oldest first.
    #[serde(default)]
    pub starts: Vec<Timestamp>,
    /// When it was given up, and why.
    #[serde(default)]
    pub given_up: Option<GivenUp>,
}

/// Why nothing runs although nothing failed, as launchd sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// When.
    pub at: Timestamp,
    /// For people.
    pub why: String,
}

impl Tally {
    /// What was kept; nothing where there is nothing, or nothing that can be read.
    #[must_use]
    pub fn read(state: &Path) -> Self {
        std::fs::read(state.join(FILE))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// One more start. `false`: there were too many of late, and this one is to end with 0. The next one, after that,
    /// is the first again.
    fn begin(&mut self, now: Timestamp) -> bool {
        self.starts.retain(|start| now.since(*start) < WINDOW && *start <= now);
        if self.starts.len() >= STARTS_MAX {
            let minutes = WINDOW.as_secs() / 60;
            self.give_up(
                now,
                format!("it was started {STARTS_MAX} times in {minutes} minutes and did not stay"),
            );
            return false;
        }
        self.starts.push(now);
        self.given_up = None;
        true
    }

    /// It ended with this code, which is told to launchd as the one returned.
    fn ended(&mut self, code: u8, why: &str, now: Timestamp) -> u8 {
        if code == exit::OK {
            self.starts.clear();
        } else if FOR_A_PERSON.contains(&code) {
            self.give_up(now, format!("exit code {code}: {why}"));
            return exit::OK;
        }
        code
    }

    fn give_up(&mut self, at: Timestamp, why: String) {
        self.starts.clear();
        self.given_up = Some(GivenUp { at, why });
    }
}

/// Counts the starts of this daemon, where launchd started it.
pub struct Starts {
    state: PathBuf,
    tally: Tally,
}

impl Starts {
    /// `None` where launchd is not the one who starts it.
    #[must_use]
    pub fn counted(environment: &Environment, state: &Path) -> Option<Self> {
        let is_launchd = environment.get(SUPERVISOR_VARIABLE) == Some("launchd");
        is_launchd.then(|| Self { state: state.to_path_buf(), tally: Tally::read(state) })
    }

    /// This start; why it is to end at once, with 0, if so.
    pub fn begin(&mut self, now: Timestamp) -> Result<(), String> {
        let goes_on = self.tally.begin(now);
        self.keep();
        match &self.tally.given_up {
            Some(given_up) if !goes_on => Err(given_up.why.clone()),
            _ => Ok(()),
        }
    }

    /// The exit code for launchd.
    pub fn ended(&mut self, code: u8, why: &str, now: Timestamp) -> u8 {
        let told = self.tally.ended(code, why, now);
        self.keep();
        told
    }

    /// A count that cannot be kept must not keep the daemon from running.
    fn keep(&self) {
        let write = || -> io::Result<()> {
            super::super::paths::make_private(&self.state).map_err(io::Error::other)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.state)?;
            file.write_all(&serde_json::to_vec(&self.tally)?)?;
            file.persist(self.state.join(FILE)).map_err(|error| error.error)?;
            Ok(())
        };
        if let Err(error) = write() {
            tracing::warn!("count the starts in {}: {error}", self.state.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(1_700_000_000_000 + seconds * 1000)
    }

    #[test]
    fn five_starts_in_ten_minutes_are_the_end_of_it() {
        let mut tally = Tally::default();
        for start in 0..5 {
            assert!(tally.begin(at(start * 30)), "{start}");
            assert_eq!(tally.ended(exit::FAILURE, "", at(start * 30 + 1)), exit::FAILURE);
        }
        assert!(!tally.begin(at(150)));
        assert!(tally.given_up.as_ref().unwrap().why.contains("5 times in 10 minutes"));
        // The next login starts it with a clean slate.
        assert!(tally.begin(at(160)));
        assert_eq!(tally.given_up, None);
    }

    #[test]
    fn starts_far_apart_and_orderly_ends_count_for_nothing() {
        let mut tally = Tally::default();
        for start in 0..50 {
            assert!(tally.begin(at(start * 150)), "{start}");
        }
        let mut tally = Tally::default();
        for start in 0..50 {
            assert!(tally.begin(at(start)), "{start}");
            assert_eq!(tally.ended(exit::OK, "", at(start)), exit::OK);
        }
    }

    #[test]
    fn what_only_a_person_can_mend_is_tried_once() {
        for code in FOR_A_PERSON {
            let mut tally = Tally::default();
            assert!(tally.begin(at(0)));
            assert_eq!(tally.ended(code, "no such key", at(1)), exit::OK);
            assert!(tally.given_up.unwrap().why.contains("no such key"));
        }
        assert_eq!(Tally::default().ended(exit::HELD, "", at(0)), exit::HELD);
    }

    #[test]
    fn the_count_outlives_the_process() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        let environment = Environment::of([(SUPERVISOR_VARIABLE, "launchd")]);
        assert!(Starts::counted(&Environment::default(), &state).is_none());
        for start in 0..5 {
            Starts::counted(&environment, &state).unwrap().begin(at(start)).unwrap();
        }
        assert!(Starts::counted(&environment, &state).unwrap().begin(at(9)).is_err());
        std::fs::write(state.join(FILE), "junk").unwrap();
        assert_eq!(Tally::read(&state), Tally::default());
    }
}
