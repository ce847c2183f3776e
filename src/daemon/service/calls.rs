//! Asking supervisors: for real, or by a script in tests.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::model::class::PortError;
use crate::model::environment::Environment;
use crate::process::call::{Called, call};

/// A question to a supervisor that answers at once.
pub const QUICK: Duration = Duration::from_secs(20);

/// Starts, stops and reloads are waited for: a stop may take the whole of `TimeoutStopSec`, and the start behind it some
/// minutes where a database is brought up to date.
pub const PATIENT: Duration = Duration::from_secs(600);

/// Runs programs of the system.
pub trait Caller: Send + Sync {
    /// Runs one to its end.
    ///
    /// # Errors
    /// It is not there, or did not end in time.
    fn call<'a>(
        &'a self,
        program: &'a str,
        args: &'a [&'a str],
        time: Duration,
    ) -> BoxFuture<'a, Result<Called, PortError>>;

    /// Waits.
    fn pause(&self, time: Duration) -> BoxFuture<'_, ()>;
}

/// The real one.
#[derive(Clone, Debug)]
pub struct System {
    environment: Environment,
    /// Where the environment names none: `su` and `ssh` without a session leave it out although it is there.
    runtime_dir: Option<OsString>,
}

impl System {
    /// Of a user's session.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        let usual = PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
        let wanted = environment.get("XDG_RUNTIME_DIR").is_none() && usual.is_dir();
        Self { environment, runtime_dir: wanted.then(|| usual.into_os_string()) }
    }

    /// The environment that it calls in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}

impl Caller for System {
    fn call<'a>(
        &'a self,
        program: &'a str,
        args: &'a [&'a str],
        time: Duration,
    ) -> BoxFuture<'a, Result<Called, PortError>> {
        Box::pin(async move {
            let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            let more: Vec<(&str, &OsStr)> =
                self.runtime_dir.iter().map(|dir| ("XDG_RUNTIME_DIR", dir.as_os_str())).collect();
            call(&self.environment, &more, program.as_ref(), &args, time).await
        })
    }

    fn pause(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

/// Answers by a script, and notes what was asked.
#[cfg(test)]
pub mod scripted {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use super::*;

    /// One answer: a word that the call must contain, and what it came to.
    pub type Line = (&'static str, i32, String);

    /// A caller by a script.
    #[derive(Default)]
    pub struct Scripted {
        lines: Mutex<VecDeque<Line>>,
        /// Calls so far.
        pub asked: Mutex<Vec<String>>,
    }

    impl Scripted {
        /// With these answers.
        pub fn new(lines: impl IntoIterator<Item = (&'static str, i32, &'static str)>) -> Self {
            let lines = lines.into_iter().map(|(word, code, text)| (word, code, text.to_owned())).collect();
            Self { lines: Mutex::new(lines), asked: Mutex::default() }
        }

        /// All calls; the script has to be at its end.
        pub fn asked(&self) -> Vec<String> {
            assert!(self.lines.lock().unwrap().is_empty(), "not asked: {:?}", self.lines);
            self.asked.lock().unwrap().clone()
        }
    }

    impl Caller for Scripted {
        fn call<'a>(
            &'a self,
            program: &'a str,
            args: &'a [&'a str],
            _time: Duration,
        ) -> BoxFuture<'a, Result<Called, PortError>> {
            let asked = format!("{program} {}", args.join(" "));
            let line = self.lines.lock().unwrap().pop_front();
            let (word, code, text) = line.unwrap_or_else(|| panic!("the script ended before: {asked}"));
            assert!(asked.contains(word), "{asked} instead of {word}");
            self.asked.lock().unwrap().push(asked);
            let (stdout, stderr) = if code == 0 { (text, String::new()) } else { (String::new(), text) };
            Box::pin(async move { Ok(Called { code, stdout, stderr }) })
        }

        fn pause(&self, time: Duration) -> BoxFuture<'_, ()> {
            self.asked.lock().unwrap().push(format!("wait {}ms", time.as_millis()));
            Box::pin(async {})
        }
    }
}
